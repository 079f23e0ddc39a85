#!/usr/bin/env python3
"""Compares the latency of benchmark networks in the built-in runtime with that in other runtimes.

    bench/inference.py --torch VENV/bin/python --networks all --optimize 45 --out docs/measurements/inference-1-thread
    bench/inference.py --runtimes "onednn --streams 2" "onednn --threads 2" --out docs/measurements/streams

The first runtime is compared with the fastest of the others. Each is an engine of Isomer, `openvino` or `pytorch`, with --threads
and --streams where they differ from this program's. Each has a process of its own, which runs for --seconds when it has its turn
and is stopped otherwise. A ratio is of neighbouring turns; the table gives the median of all rounds of all processes with an
interval. Finished rows are kept in the JSON file, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import textwrap

import numpy as np
from table import ROOT, isomer, processor
from turns import Program, engine_version, interval, optimized, random_data, returned_input

TITLES = {"onednn": "built-in runtime", "ort": "ONNX Runtime", "openvino": "OpenVINO", "pytorch": "PyTorch"}
OPTIMIZED = "optimized"


def title(runtime: str) -> str:
    name, _, options = runtime.partition(" ")
    return TITLES.get(name, name) + options.replace("--", ", ")


def python_of(name: str, args: argparse.Namespace) -> str:
    return args.torch if name == "pytorch" else sys.executable


def program(runtime: str, model: pathlib.Path, folder: pathlib.Path, args: argparse.Namespace) -> Program:
    name, *options = runtime.split()
    return Program(python_of(name, args), ROOT / "bench/inference_run.py", name, model, folder / "data.npz", folder / "outputs.npz",
                   "--threads", args.threads, *options)


def turn(program: Program, seconds: float) -> float:
    program.begin(str(seconds))
    program.go_on()
    return program.answer


def version(runtime: str, args: argparse.Namespace) -> str:
    name = runtime.split()[0]
    if name not in ("openvino", "pytorch"):
        return engine_version(name)
    module = {"pytorch": "torch"}.get(name, name)
    command = [python_of(name, args), "-c", f"import {module}; print({module}.__version__)"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip().split("-")[0]


def outputs(file: pathlib.Path) -> tuple[list[np.ndarray], str]:
    """The outputs that a program wrote, and in which form it runs the network."""
    with np.load(file) as arrays:
        return [arrays[name] for name in arrays if name != "form"], str(arrays["form"])


def difference(values: list[np.ndarray], others: list[np.ndarray]) -> float:
    """The largest of any element, relative to the largest element of its output."""
    return max(float(abs(a - b).max() / max(abs(b).max(), 1e-30)) for a, b in zip(values, others, strict=True))


def row_of(name: str, args: argparse.Namespace, folder: pathlib.Path) -> dict:
    network, better = folder / "network.onnx", folder / "optimized.onnx"
    isomer("models", name, "-o", str(network), "--batch", str(args.batch))
    np.savez(folder / "data.npz", **random_data(network))
    own, *others = args.runtimes
    row: dict = {"network": name, "versions": args.versions, "forms": {}}
    if args.optimize > 0:
        engine, *options = own.split()
        row["search"] = optimized(network, better, args.optimize, "--engine", engine, "--threads", str(args.threads), *options)
    models = {runtime: (runtime, network) for runtime in args.runtimes}
    if args.optimize > 0 and not returned_input(row["search"]):
        models[OPTIMIZED] = (own, better)
    rounds: list[list[dict[str, float]]] = []  # by process
    for process in range(args.processes):
        programs, values = {}, {}
        for key, (runtime, model) in models.items():
            programs[key] = program(runtime, model, folder, args)
            turn(programs[key], 0)  # loads the network while no other program runs
            values[key], row["forms"][key] = outputs(folder / "outputs.npz")
        row["differences"] = {key: difference(values[key], values[others[0]]) for key in models if key != others[0]}
        found = []
        for i in range(args.rounds):
            keys = list(programs)
            first = i % len(keys)
            found.append({key: turn(programs[key], args.seconds) for key in keys[first:] + keys[:first]})
        rounds.append(found)
        for one in programs.values():
            one.close()
    row["rounds"] = rounds
    row["microseconds"] = {key: statistics.median(one[key] for found in rounds for one in found) for key in models}
    row["best"] = min(others, key=row["microseconds"].get)
    for key in (own, OPTIMIZED):
        if key in models:
            row["ratio" if key == own else "ratio_optimized"] = interval(
                [[one[row["best"]] / one[key] for one in found] for found in rounds])
    return row


def geometric(ratios: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))


def heading(data: dict) -> list[str]:
    own, *others = data["runtimes"]
    threads = f"{data['threads']} thread{'s' if data['threads'] > 1 else ''}"
    versions = []
    for runtime in data["runtimes"]:
        found = sorted({row["versions"][runtime] for row in data["rows"]})
        versions.append(f"{title(runtime)} {' and '.join(found)}")
    text = (f"{data['processor']}, f32. {', '.join(versions)}. Medians of {data['rounds']} turns of {data['seconds']:g} s in each of "
            f"{data['processes']} processes, in milliseconds. A ratio is the latency of the fastest other runtime (bold) over that "
            f"of the {title(own)}, with a 95% interval that includes the medians of all processes; above 1, the {title(own)} is "
            "faster.")
    if any("search" in row for row in data["rows"]):
        text += (f" The column `{OPTIMIZED}` is what `isomer optimize` makes of the network for the {title(own)}; the ratio after "
                 "it compares that with the fastest other runtime on the original network. Where the search returned the input, "
                 "that ratio is the first one.")
    text += f" The last column is the largest difference from outputs of {title(others[0])}, relative to the largest element."
    return [f"# Inference, {threads}, batch {data['batch']}", "", *textwrap.wrap(text, 120), ""]


def markdown(data: dict) -> str:
    own, *others = data["runtimes"]
    rows = data["rows"]
    searched = any("search" in row for row in rows)
    lines = heading(data)
    columns = ["network", *map(title, others), title(own), "ratio", *([OPTIMIZED, "ratio", "search"] if searched else []),
               "difference"]
    lines += ["| " + " | ".join(columns) + " |", "|---|" + "---:|" * (len(others) + 1) + "---|" +
              ("---:|---|---|" if searched else "") + "---:|"]
    for row in rows:
        ms = {key: f"{value / 1000:.2f}" for key, value in row["microseconds"].items()}
        ms[row["best"]] = f"**{ms[row['best']]}**"
        cells = [row["network"], *(ms[key] for key in others), ms[own], "{:.2f} [{:.2f}, {:.2f}]".format(*row["ratio"])]
        if searched:
            search = row.get("search")
            better = OPTIMIZED in ms
            cells += [ms[OPTIMIZED] if better else "the input" if search else "",
                      "{:.2f} [{:.2f}, {:.2f}]".format(*row["ratio_optimized" if better else "ratio"]) if search else "",
                      f"{search['seconds']:.0f} s, {search['stop_reason']}" if search else ""]
        cells.append(f"{max(row['differences'].values()):.0e}")
        lines.append("| " + " | ".join(cells) + " |")
    ratios = [row["ratio"][0] for row in rows]
    lines += ["", f"Geometric mean of the ratios: {geometric(ratios):.2f}; smallest: {min(ratios):.2f}."]
    if searched:
        final = [row.get("ratio_optimized", row["ratio"])[0] for row in rows]
        lines[-1] += f" With the optimized networks: {geometric(final):.2f}; smallest: {min(final):.2f}."
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtimes", nargs="+", default=["onednn", "ort", "openvino", "pytorch"])
    parser.add_argument("--torch", help="a Python that has torch and onnx, for pytorch")
    parser.add_argument("--networks", nargs="+", default=["all"])
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.3, help="of each turn")
    parser.add_argument("--rounds", type=int, default=6, help="of turns of each process")
    parser.add_argument("--processes", type=int, default=3, help="that run each program, one after the other")
    parser.add_argument("--optimize", type=float, default=0, metavar="SECONDS",
                        help="also run what `isomer optimize` makes of the network for the first runtime in so many seconds")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="path of the files without .json and .md")
    args = parser.parse_args()
    if len(args.runtimes) < 2:
        parser.error("--runtimes: a comparison needs two")
    if "pytorch" in args.runtimes and not args.torch:
        parser.error("pytorch needs --torch")
    if args.processes < 1 or args.processes * args.rounds < 9:
        parser.error("--processes, --rounds: an interval needs 9 turns in all")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    data = {"processor": processor(), "runtimes": args.runtimes,
            **{key: getattr(args, key) for key in ("threads", "batch", "seconds", "rounds", "processes")}, "rows": []}
    kept = args.out.with_suffix(".json")
    if kept.exists():
        before = json.loads(kept.read_text())
        if any(before.get(key) != data[key] for key in data if key != "rows"):
            parser.error(f"{kept} is of another machine or setting; remove it, or give another --out")
        data["rows"] = before["rows"]
    names = [entry["name"] for entry in isomer("models")["models"]] if args.networks == ["all"] else args.networks
    args.versions = {runtime: version(runtime, args) for runtime in args.runtimes}
    done = {row["network"] for row in data["rows"]}
    for name in names:
        if name in done:
            continue
        with tempfile.TemporaryDirectory(prefix="isomer-inference-") as folder:
            row = row_of(name, args, pathlib.Path(folder))
        data["rows"].append(row)
        print(name, *("{:.2f} [{:.2f}, {:.2f}]".format(*row[key]) for key in ("ratio", "ratio_optimized") if key in row), flush=True)
        kept.write_text(json.dumps(data, indent=1) + "\n")
        args.out.with_suffix(".md").write_text(markdown(data))


if __name__ == "__main__":
    main()
