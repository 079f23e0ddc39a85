#!/usr/bin/env python3
"""Runs the commands of the documentation, and checks their exit codes and what pages show as their output.

    docs_test.py BUILD_FOLDER [--long] [PAGE ...]

A page is a file, or HELP: the examples of `isomer COMMAND --help`. Commands that are said to take long are left out; with
--long, they run too, but for those that take longer than LONGEST. The commands of a page run one after the other in a
scratch copy of the checkout, which also has the files that examples read. commands.py says how commands are found, and
which comments they have. Options of `isomer` that pages name in running text must exist, and so must the files and headings
that they link to and the source files that they name.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from commands import Command, commands, printed_as_said
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HELP = "isomer --help"
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/**/*.md")), HELP]
COPIED = ["bench", "docs", "rulesets"]  # what commands read and write
LONGEST = 1200  # seconds
FOLDERS = ["bench", "cmake", "docs", "examples", "python", "rulesets", "src", "tests", "tools"]  # whose files pages name


def small_model() -> onnx.ModelProto:
    """Two convolutions of an image, side by side."""
    rng = np.random.default_rng(1)
    nodes, weights = [], []
    for name in "ab":
        weights.append(numpy_helper.from_array(rng.standard_normal((8, 3, 3, 3)).astype(np.float32), f"w{name}"))
        nodes.append(helper.make_node("Conv", ["image", f"w{name}"], [f"c{name}"], kernel_shape=[3, 3]))
        nodes.append(helper.make_node("Relu", [f"c{name}"], [name]))
    nodes.append(helper.make_node("Concat", ["a", "b"], ["y"], axis=1))
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 16, 16])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16, 14, 14])
    graph = helper.make_graph(nodes, "small", [image], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def model_with_loss() -> onnx.ModelProto:
    """The small model, and the mean of its output."""
    model = small_model()
    model.graph.node.append(helper.make_node("ReduceMean", ["y"], ["loss"], keepdims=0))
    model.graph.output.append(helper.make_tensor_value_info("loss", TensorProto.FLOAT, []))
    return model


class Scratch:
    """A folder for the commands of one page. All pages share the profile database in the folder `home`. Pages of the guide
    make the models that they use; other pages find some."""

    def __init__(self, page: str, folder: pathlib.Path, build: pathlib.Path, home: pathlib.Path):
        self.folder = folder
        for name in COPIED:
            shutil.copytree(ROOT / name, folder / name)
        (folder / "build").symlink_to(build)
        (folder / "bin").mkdir()
        (folder / "bin/isomer").symlink_to(build / "isomer")
        path = f"{folder / 'bin'}:{ROOT / '.venv/bin'}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
        if not page.startswith("docs/guide/"):
            self.add_models()

    def add_models(self) -> None:
        """model.onnx, an input for it, the same model optimized and with a loss, and measurements of its kernels."""
        onnx.save(small_model(), self.folder / "model.onnx")
        onnx.save(model_with_loss(), self.folder / "training.onnx")
        np.save(self.folder / "cat.npy", np.ones((1, 3, 16, 16), np.float32))
        (self.folder / "my.rules").write_text("rule negate-twice (Neg (Neg ?x)) => ?x\n")
        for command in (
            "isomer optimize model.onnx -o faster.onnx --certificate model.cert --engine roofline",
            "isomer inspect model.onnx --costs --engine onednn --profile-db build-machine.db",
        ):
            done = self.run(command, 60)
            if done.returncode != 0:
                sys.exit(f"{command}: {done.stderr}")

    def run(self, text: str, seconds: float) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", text],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )


def fault(scratch: Scratch, command: Command) -> str:
    """What is wrong with a command; nothing where it does what its page says."""
    hanging = 60 + 20 * max(command.seconds, 30)
    try:
        done = scratch.run(command.text, hanging)
    except subprocess.TimeoutExpired:
        return f"still runs after {hanging} s"
    if done.returncode != command.status:
        return f"exit code {done.returncode}, not {command.status}:\n{(done.stdout + done.stderr)[-2000:]}"
    if command.output is not None and not printed_as_said(done.stdout.splitlines(), command.output):
        return f"prints something else than its page says:\n{done.stdout[-2000:]}"
    return ""


def help_examples(isomer: pathlib.Path) -> list[Command]:
    """The examples of all commands' help, each once."""
    found: dict[str, Command] = {}
    waiting: list[list[str]] = [[]]
    while waiting:
        words = waiting.pop(0)
        text = subprocess.run([isomer, *words, "--help"], capture_output=True, text=True, check=True).stdout
        for name in re.findall(r"^  ([a-z]+) ", text.partition("Subcommands:")[2], re.M):
            waiting.append([*words, name])
        for example in re.findall(r"^Example: (.*(?:\n .*)*)", text, re.M):
            for command in commands("    " + example.replace("\n", "\n    ")):
                found.setdefault(command.text, command)
    return list(found.values())


def check_page(page: str, build: pathlib.Path, home: pathlib.Path, long: bool) -> tuple[int, int]:
    """How many commands of a page were run, and how many of them failed."""
    said = help_examples(build / "isomer") if page == HELP else commands((ROOT / page).read_text())
    wanted = [each for each in said if not each.installs and each.seconds <= (LONGEST if long else 0)]
    # Those that take no time may make what the others read.
    if long and not any(command.seconds for command in wanted):
        return 0, 0
    failed = 0
    with tempfile.TemporaryDirectory(prefix="isomer-docs-") as folder:
        scratch = Scratch(page, pathlib.Path(folder), build, home)
        for command in wanted:
            if page == HELP:  # the examples do not build on each other
                scratch.add_models()
            start = time.monotonic()
            wrong = fault(scratch, command)
            failed += bool(wrong)
            first = command.text.splitlines()[0]
            print(f"{page}:{command.line}: {time.monotonic() - start:.1f} s: {first[:100]}", flush=True)
            if wrong:
                print(f"FAILED: {wrong}")
    return len(wanted), failed


def unknown_words(page: str, isomer: pathlib.Path) -> int:
    """How many commands and options in running text do not exist."""
    unknown = 0
    for span in re.findall(r"(?<!`)`isomer ([^`]+)`", (ROOT / page).read_text()):
        words = span.split()
        if words[-1].isdigit():  # a line of a file, not a command
            continue
        names = [word for word in words if re.fullmatch("[a-z]+", word)]
        options = [word for word in words if re.fullmatch("--?[a-z][a-z-]*", word)]
        shown = subprocess.run([isomer, *names[:2], "--help"], capture_output=True, text=True)
        missing = [option for option in options if not re.search(rf"(^|[\s,]){option}\b", shown.stdout, re.M)]
        if shown.returncode != 0 or missing:
            unknown += 1
            print(f"{page}: FAILED: `isomer {span}`: {' '.join(missing) or 'no such command'}")
    return unknown


def anchors(page: pathlib.Path) -> set[str]:
    """The headings of a page as links name them."""
    headings = re.findall(r"^#+ (.*)", page.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def missing_files(page: str) -> int:
    """How many files and headings a page links to, and source files that it names, do not exist."""
    path = ROOT / page
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.S)
    missing = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            missing.append(link)
    files = {f"/{file.relative_to(ROOT)}" for folder in FOLDERS for file in (ROOT / folder).rglob("*.*")}
    for name in re.findall(r"`([a-z_0-9./-]+\.(?:cc|cmake|h|js|md|py|test|universe))`", text):
        if not any(file.endswith(f"/{name}") for file in files):
            missing.append(name)
    for name in missing:
        print(f"{page}: FAILED: {name}: no such file or heading")
    return len(missing)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("pages", nargs="*", default=PAGES)
    parser.add_argument("--long", action="store_true")
    args = parser.parse_intermixed_args()
    build = args.build.resolve()
    ran = failed = 0
    with tempfile.TemporaryDirectory(prefix="isomer-docs-") as home:
        for page in args.pages:
            if page != HELP:
                failed += unknown_words(page, build / "isomer") + missing_files(page)
            counts = check_page(page, build, pathlib.Path(home), args.long)
            ran, failed = ran + counts[0], failed + counts[1]
    print(f"{ran} commands, {failed} failed")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
