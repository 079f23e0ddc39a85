#!/usr/bin/env python3
"""Trades memory of training steps for time: `isomer optimize --memory-limit`, and checkpoints at equal distances.

    bench/recomputation.py --networks resnet50 bert-base --out docs/measurements/recomputation

No rule is applied: all variants compute the same graph and differ only in which values they compute twice. Checkpoints are cuts
of the forward pass, values through which all that comes later depends on what came before. Every k-th one is kept, for k = 1, 2, 4,
8 and the square root of their number; all other values of the forward pass up to the last one are computed twice (Chen et al.
2016). Memory is that of the plan for activations: without parameters, their state, and outputs. The variants run in turn.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from table import ISOMER, ROOT, processor
from turns import engine_version, interval, random_data

sys.path.insert(0, str(ROOT / "build/python"))

import isomer  # noqa: E402

SHARES = (0.8, 0.5, 0.4, 0.3, 0.25, 0.2, 0.17, 0.15)  # of the activations of the whole step, as limits


def forward_nodes(graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """The nodes that the loss depends on, in the order of the file."""
    needed = {"loss"}
    found = []
    for node in reversed(graph.node):
        if needed.intersection(node.output):
            found.append(node)
            needed.update(node.input)
    return found[::-1]


def cuts(graph: onnx.GraphProto) -> tuple[list[str], list[str]]:
    """The values of the forward pass in order, and those of them that are cuts."""
    weights = {tensor.name for tensor in graph.initializer}
    weights.update(name for node in graph.node if node.op_type == "Constant" for name in node.output)
    nodes = [node for node in forward_nodes(graph) if node.op_type != "Constant"]
    last = {name: i for i, node in enumerate(nodes) for name in node.input}
    values: list[str] = []
    alone: list[str] = []
    live: set[str] = set()
    for i, node in enumerate(nodes):
        if all(name in weights for name in node.input if name):  # what depends only on parameters is no activation
            weights.update(node.output)
            continue
        values += node.output
        live.update(name for name in node.output if last.get(name, -1) > i)
        live = {name for name in live if last[name] > i}
        if len(live) == 1:
            alone += [name for name in live if name not in alone]
    return values, alone


def with_decisions(step: pathlib.Path, out: pathlib.Path, twice: list[str]) -> None:
    model = onnx.load(step)
    entry = model.metadata_props.add()
    entry.key = "isomer.decisions"
    entry.value = json.dumps({"computations": {name: "twice" for name in twice}})
    onnx.save(model, out)


def activations(model: pathlib.Path) -> tuple[int, int]:
    """Bytes of the plan without inputs and outputs, and of these."""
    report = json.loads(subprocess.run([ISOMER, "inspect", model, "--engine", "onednn", "--json"], check=True,
                                       capture_output=True).stdout)
    plan = report["plan"]
    return plan["arena_bytes"] + plan["reference_bytes"], plan["input_bytes"] + plan["output_bytes"]


def optimized(step: pathlib.Path, out: pathlib.Path, limit: float, folder: pathlib.Path) -> bool:
    """Writes the step within a limit of all memory; false if that is not possible."""
    rules = folder / "none.rules"
    rules.write_text("rule nothing\n  (Neg (Neg (Neg (Neg ?x))))\n  => ?x\n")
    command = [ISOMER, "optimize", step, "-o", out, "--force", "--engine", "onednn", "--costs-only", "--rules", rules,
               "--memory-limit", str(int(limit)), "--time-budget", "240", "--profile-db", folder / "profile.db"]
    found = subprocess.run(command, stdout=subprocess.DEVNULL)
    if found.returncode not in (0, 1):
        sys.exit(f"{step}: the optimizer failed")
    return found.returncode == 0


def timed(models: dict[str, pathlib.Path], data: dict[str, np.ndarray], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of runs in turn, after one warmup each."""
    times: dict[str, list[float]] = {key: [] for key in models}
    sessions = {key: isomer.Session(str(model), engine="onednn", threads=1) for key, model in models.items()}
    for _ in range(rounds + 1):
        for key, session in sessions.items():
            begin = time.perf_counter()
            session.run(data)
            times[key].append(1e3 * (time.perf_counter() - begin))
    return {key: values[1:] for key, values in times.items()}


def rows_of(name: str, args: argparse.Namespace, folder: pathlib.Path) -> list[dict]:
    step = folder / "step.onnx"
    subprocess.run([ISOMER, "models", name, "--training", "--batch", str(args.batch), "-o", step], check=True,
                   stdout=subprocess.DEVNULL)
    whole, others = activations(step)
    models = {"everything kept": step}
    for share in args.shares:
        key = f"at most {share:.0%}"
        models[key] = folder / f"{share}.onnx"
        if not optimized(step, models[key], others + share * whole, folder):
            print(f"{name}: {key} is not possible", flush=True)
            del models[key]
    graph = onnx.load(step, load_external_data=False).graph
    values, alone = cuts(graph)
    for distance in sorted({1, 2, 4, 8, max(1, round(math.sqrt(len(alone))))}):
        kept = alone[::distance]
        key = f"checkpoints, 1 of {distance}"
        models[key] = folder / f"every{distance}.onnx"
        # Later values are still in memory when the backward pass begins.
        with_decisions(step, models[key], [value for value in values[:values.index(kept[-1])] if value not in kept])
    times = timed(models, random_data(step), args.rounds)
    rows = []
    for key, model in models.items():
        ratios = [a / b for a, b in zip(times[key], times["everything kept"])]
        rows.append({"network": name, "variant": key, "bytes": activations(model)[0], "ratio": interval([ratios]),
                     "milliseconds": statistics.median(times[key]), "cuts": len(alone)})
        print(json.dumps(rows[-1]), flush=True)
    return rows


def markdown(data: dict) -> str:
    setting = f"{data['processor']}, {data['engine']}, 1 thread, batch {data['batch']}"
    lines = ["# Memory of training steps", "", f"{setting}. Medians of {data['rounds']} steps, in turn, and",
             "the median ratio to the step that keeps everything, with a 95% interval. Activations are the arena of the plan;",
             "parameters, their state and outputs are not counted. `at most` is `isomer optimize --memory-limit` without rules,",
             "for that share of the activations. Checkpoints keep each k-th cut of the forward pass and compute all its other",
             "values up to the last one twice (`bench/recomputation.py`).", "",
             "| network | variant | activations, MiB | ms | time |", "|---|---|---|---|---|"]
    for row in data["rows"]:
        ratio, low, high = row["ratio"]
        lines.append(f"| {row['network']} | {row['variant']} | {row['bytes'] / 2**20:.0f} | {row['milliseconds']:.0f} | "
                     f"{ratio:.2f} [{low:.2f}, {high:.2f}] |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="*", default=["resnet50", "bert-base"])
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--shares", type=float, nargs="*", default=SHARES, help="limits, as shares of the activations of the step")
    parser.add_argument("--out", type=pathlib.Path, help="writes OUT.json and OUT.md")
    args = parser.parse_args()
    if args.rounds < 9:
        parser.error("--rounds: an interval needs 9 steps")
    data = {"processor": processor(), "batch": args.batch, "rounds": args.rounds, "rows": []}
    with tempfile.TemporaryDirectory(prefix="isomer-recomputation-") as folder:
        data["engine"] = f"onednn {engine_version('onednn')}"
        for name in args.networks:
            data["rows"] += rows_of(name, args, pathlib.Path(folder))
    if args.out:
        args.out.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
        args.out.with_suffix(".md").write_text(markdown(data))
    print(markdown(data))


if __name__ == "__main__":
    sys.exit(main())
