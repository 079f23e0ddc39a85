"""Opens pages of `isomer optimize --report x.html` in a browser, and looks at them as people do.

    python page_test.py ISOMER [--screenshot FILE.png --page FILE.html]
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

# What could end the script element, start another, or be markup.
EVIL = "</script><script>window.broken=1</script><img src=x onerror=window.broken=2><!--<script>"


def browser(width: int = 1400, height: int = 1000) -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
                 f"--window-size={width},{height}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    # What is not in the file must not be needed.
    driver.set_network_conditions(offline=True, latency=0, download_throughput=0, upload_throughput=0)
    return driver


def ladder(path: Path, rungs: int, more: str = "") -> None:
    """Sums of two products of one operand, one after the other; each becomes one product. `more` ends every name."""
    weights = [numpy_helper.from_array(np.full((8, 8), k + 0.5, np.float32), f"w{k}{more}") for k in range(2)]
    nodes, read = [], f"x{more}"
    for rung in range(rungs):
        products = [f"product {rung}.{k}{more}" for k in range(2)]
        for weight, product in zip(weights, products):
            nodes.append(helper.make_node("MatMul", [read, weight.name], [product], name=f"node {product}"))
        read = f"y{rung}{more}"
        nodes.append(helper.make_node("Add", products, [f"sum {rung}{more}"]))
        nodes.append(helper.make_node("Relu", [f"sum {rung}{more}"], [read]))
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 8])
    graph = helper.make_graph(nodes, f"ladder{more}", [value(f"x{more}")], [value(read)], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


class PageTest(unittest.TestCase):
    isomer = ""

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.driver = browser()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.driver.quit()
        cls.folder.cleanup()

    def open(self, name: str, model: Path | None = None, *options: str) -> dict:
        """Optimizes a benchmark network, or a file, under the roofline model, opens the page, and returns the report."""
        folder = Path(self.folder.name)
        if model is None:
            model = folder / f"{name}.onnx"
            subprocess.run([self.isomer, "models", name, "-o", model], check=True, capture_output=True)
        page = folder / f"{name}.html"
        command = [self.isomer, "optimize", model, "--dry-run", "--engine", "roofline", "--report", page, "--json", *options]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        self.driver.get(page.as_uri())
        self.assertEqual([line["message"] for line in self.driver.get_log("browser")], [])
        return json.loads(run.stdout)

    def text(self, selector: str) -> str:
        return self.driver.find_element(By.CSS_SELECTOR, selector).text

    def all(self, selector: str) -> list:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def view(self, side: str) -> list[float]:
        return [float(x) for x in self.all(f".side.{side} svg.graph")[0].get_dom_attribute("viewBox").split()]

    def test_shows_the_report(self) -> None:
        report = self.open("sru-11")
        self.assertTrue(report["improved"])
        self.assertEqual(self.text("#outcome"), report["outcome"])
        before, after = report["cost"]["before"], report["cost"]["after"]
        self.assertIn(f"{before['latency_us']:.1f} µs → {after['latency_us']:.1f} µs", self.text("#predicted"))
        self.assertIn("not measured", self.text("#latency"))
        self.assertIn(f"{before['kernels']:.0f} → {after['kernels']:.0f}", self.text("#kernels"))
        self.assertIn("KiB", self.text("#memory"))
        self.assertIn(f"{report['search']['seconds']:.1f} s", self.text("#search"))
        rows = self.all("table.steps tbody tr")
        self.assertEqual(len(rows), len(report["steps"]))
        for row, step in zip(rows, report["steps"]):
            self.assertIn(step["rule"], row.text)
            self.assertIn(step["verdict"], row.text)
            self.assertIn(step["nodes"][0], row.text)
        # The operators that run, the input and the output of each side.
        for side in ("before", "after"):
            self.assertEqual(len(self.all(f".side.{side} .node.op")), sum(report["ops"][side].values()))
        totals = [cell.text for cell in self.all("table.costs tfoot th")]
        self.assertIn(f"{before['latency_us']:.1f} µs", totals)
        self.assertIn(f"{after['latency_us']:.1f} µs", totals)
        self.assertEqual(len(self.all("#timeline rect")), before["kernels"] + after["kernels"])
        self.assertEqual(len(self.all("#progress circle")), len(report["search"]["progress"]))
        self.assertGreaterEqual(len(report["search"]["progress"]), 2)

    def test_links_changed_regions(self) -> None:
        self.open("sru-11")
        changed = self.all(".side.before .node.changed")[0]
        region = changed.get_attribute("data-region")
        partners = self.all(f'.side.after .node[data-region="{region}"]')
        self.assertTrue(partners)
        self.assertNotIn("lit", partners[0].get_attribute("class"))
        ActionChains(self.driver).move_to_element(changed).perform()
        for partner in partners:
            self.assertIn("lit", partner.get_attribute("class"))
        was = self.view("after")
        changed.click()
        for partner in partners:
            self.assertIn("selected", partner.get_attribute("class"))
        self.assertNotEqual(self.view("after"), was)
        self.assertEqual(self.all(f'#regions button[data-region="{region}"]')[0].get_attribute("aria-pressed"), "true")
        # An unchanged node highlights only its partner.
        relaxed = self.all(".side.before .node.input")[0]
        ActionChains(self.driver).move_to_element(relaxed).perform()
        self.assertEqual(len(self.all(".side.after .node.lit")), 1)

    def test_zooms_and_moves(self) -> None:
        self.open("sru-11")
        self.all('.side.before button[data-act="fit"]')[0].click()
        start = self.view("before")
        picture = self.all(".side.before svg.graph")[0]
        ActionChains(self.driver).scroll_from_origin(
            webdriver.common.actions.wheel_input.ScrollOrigin.from_element(picture), 0, -400).perform()
        near = self.view("before")
        self.assertLess(near[2], start[2] / 2)
        ActionChains(self.driver).drag_and_drop_by_offset(picture, 50, 30).perform()
        moved = self.view("before")
        self.assertLess(moved[0], near[0])
        self.assertLess(moved[1], near[1])
        self.assertAlmostEqual(moved[2], near[2])
        self.all('.side.before button[data-act="zoom out"]')[0].click()
        self.assertGreater(self.view("before")[2], near[2])
        self.all('.side.before button[data-act="fit"]')[0].click()
        self.assertEqual(self.view("before"), start)

    def test_names_are_text(self) -> None:
        model = Path(self.folder.name) / "<b>evil & model.onnx"
        ladder(model, 1, EVIL)
        report = self.open("evil", model)
        self.assertTrue(report["improved"])
        self.assertIsNone(self.driver.execute_script("return window.broken ?? null"))
        self.assertEqual(len(self.all("img")), 0)
        self.assertEqual(len(self.all("script")), 2)
        self.assertEqual(self.text("#title"), str(model))
        self.assertIn(EVIL, self.text("table.steps"))

    def test_says_where_nothing_was_found(self) -> None:
        report = self.open("sru-11", None, "--time-budget", "0")
        if not report["improved"]:
            self.assertIn("no better graph", self.text("#regions"))
            self.assertEqual(len(self.all(".side")), 1)
            self.assertIn("none", self.text("#steps"))

    def test_draws_no_node_over_another(self) -> None:
        report = self.open("nasnet-mobile", None, "--time-budget", "2")
        self.assertEqual(len(self.all(".side.before .node.op")), sum(report["ops"]["before"].values()))
        boxes = self.driver.execute_script(
            """return [...document.querySelectorAll(".side.before .node rect")].map(
                 (box) => [box.x.baseVal.value, box.y.baseVal.value, box.width.baseVal.value]);""")
        rows: dict[float, list] = {}
        for x, y, width in boxes:
            rows.setdefault(y, []).append((x, width))
        self.assertGreater(max(len(row) for row in rows.values()), 3)
        for row in rows.values():
            row.sort()
            for (x, width), (right, _) in zip(row, row[1:]):
                self.assertLessEqual(x + width, right)

    def test_finds_a_region_among_a_thousand_nodes(self) -> None:
        model = Path(self.folder.name) / "ladder.onnx"
        ladder(model, 260)
        report = self.open("ladder", model, "--search", "greedy")
        self.assertTrue(report["improved"])
        self.assertEqual(len(self.all(".side.before .node.op")), 1040)
        last = self.all("#regions button")[-1]
        self.driver.execute_script("arguments[0].click()", last)
        for side in ("before", "after"):
            picture = self.all(f".side.{side} svg.graph")[0].rect
            nodes = self.all(f".side.{side} .node.selected")
            self.assertTrue(nodes)
            for node in nodes:
                self.assertGreaterEqual(node.rect["y"], picture["y"])
                self.assertLessEqual(node.rect["y"] + node.rect["height"], picture["y"] + picture["height"])
                self.assertGreater(node.rect["width"], 50, "large enough to read")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("isomer")
    parser.add_argument("--page", type=Path, help="a page to take a picture of, with its first region chosen, instead of the tests")
    parser.add_argument("--screenshot", type=Path)
    parser.add_argument("--height", type=int, default=1300)
    arguments = parser.parse_args()
    if arguments.screenshot:
        driver = browser(1400, arguments.height)
        driver.get(arguments.page.resolve().as_uri())
        for button in driver.find_elements(By.CSS_SELECTOR, "#regions button")[:1]:
            button.click()
        driver.save_screenshot(str(arguments.screenshot))
        driver.quit()
        return
    PageTest.isomer = arguments.isomer
    unittest.main(argv=[sys.argv[0], "-v"])


if __name__ == "__main__":
    main()
