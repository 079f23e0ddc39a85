#!/usr/bin/env python3
"""Compares the sum of measured kernels with whole models on an engine, and, for ONNX Runtime, the kernels that Isomer expects
with the nodes of the graph that ONNX Runtime makes.

    .venv/bin/python bench/kernel_costs.py --models all --out docs/measurements/kernel-costs-1-thread   # .json and .md

With --streams, the built-in runtime's latency on streams is compared with the latency that the costs of its kernels predict.

In each of several rounds all kernels are measured anew, and the whole model in a process before and in one behind that: on a
machine that is shared, how much of its cores and of its third level of cache is left changes by the second and the minute. The
whole is the faster of the two, since kernels are measured again where others disturbed them. A row is the median of its rounds'
ratios; rounds that disagree are followed by others. Finished rows are kept in the JSON file.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import statistics
import subprocess
import tempfile
import textwrap

import onnx
import onnxruntime
from cores import Cores, shared_text

AGREEMENT = 1.2  # between the highest and the lowest ratio
ROOT = pathlib.Path(__file__).resolve().parent.parent
ISOMER = ROOT / "build/isomer"


def isomer(*args: str) -> dict:
    """A command's JSON report. Raises with its message when it fails."""
    done = subprocess.run([ISOMER, *args, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    return json.loads(done.stdout)


def optimized_nodes(model: pathlib.Path, folder: pathlib.Path) -> collections.Counter:
    """Operators of the graph that ONNX Runtime makes at its highest level."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    options.add_session_config_entry("session.optimized_model_external_initializers_file_name", "optimized.bin")
    onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    optimized = onnx.load(folder / "optimized.onnx", load_external_data=False)
    return collections.Counter(node.op_type for node in optimized.graph.node)


def round_of(model: pathlib.Path, args: argparse.Namespace, profile: pathlib.Path) -> tuple[dict, list[dict]]:
    """The account of the kernels, each measured now, and what `isomer bench` said of the whole model before and after."""
    cores = ["--streams", str(args.streams)] if args.streams else ["--threads", str(args.threads)]
    common = [str(model), *cores, "--engine", args.engine, "--profile-db", str(profile)]
    bench = ["bench", *common, "--seconds", str(args.seconds)]
    before = isomer(*bench)
    costs = isomer("inspect", *common, "--costs")["costs"]
    return costs, [before, isomer(*bench)]


def ratio_of(measured: tuple[dict, list[dict]]) -> float:
    """What the kernels predict by the latency of the whole model."""
    costs, benches = measured
    return predicted_us(costs) / whole_us(benches)


def predicted_us(costs: dict) -> float:
    return costs["on_streams"]["predicted_us"] if costs["on_streams"] else costs["latency_us"]


def whole_us(benches: list[dict]) -> float:
    return min(bench["models"][0]["median_us"] for bench in benches)


def rounds_of(model: pathlib.Path, args: argparse.Namespace, folder: pathlib.Path) -> tuple[list[tuple[dict, list[dict]]], dict]:
    """As many rounds as were asked for; then up to `max_rounds`, two at a time, until they agree but for the extremes. And the
    counts of rounds on shared cores, on which kernels and the whole model would not be measured alike."""
    rounds = []
    cores = Cores() if max(args.threads, args.streams) > 1 else None

    def measured() -> tuple[dict, list[dict]]:
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".db") as profile:
            return round_of(model, args, pathlib.Path(profile.name))

    while len(rounds) < args.max_rounds:
        rounds.append(cores.undisturbed(measured) if cores else measured())
        done = len(rounds) - args.rounds
        kept = sorted(map(ratio_of, rounds))[max(done, 0) // 2 : len(rounds) - max(done, 0) // 2]
        if done >= 0 and done % 2 == 0 and kept[-1] <= AGREEMENT * kept[0]:
            break
    if cores:
        cores.close()
    return rounds, cores.counts() if cores else {}


def row_of(name: str, args: argparse.Namespace, folder: pathlib.Path) -> dict:
    model = folder / "model.onnx"
    subprocess.run([ISOMER, "models", name, "-o", model], check=True, capture_output=True)
    rounds, cores = rounds_of(model, args, folder)
    costs, (bench, _) = rounds[0]
    predicted = [predicted_us(costs) for costs, _ in rounds]
    row = {
        "name": name,
        "engine": f"{bench['engine']} {bench['engine_version']}",
        "device": bench["device"],
        "predicted_us": statistics.median(predicted),
        "whole_us": statistics.median(whole_us(benches) for _, benches in rounds),
        "ratios": sorted(map(ratio_of, rounds)),
        "kernels": costs["kernels"],
        "cores": cores,
        "reorders": sum(share["count"] for share in costs["by_kernel"] if share["kernel"].startswith("reorder")),
    }
    if args.streams:
        row["with_all_threads"] = costs["on_streams"]["with_all_threads"]
        row["sum_us"] = statistics.median(costs["latency_us"] for costs, _ in rounds)
        row["slowdowns"] = [costs["on_streams"]["slowdown"] for costs, _ in rounds]
    if args.engine == "ort":
        nodes = optimized_nodes(model, folder)
        row |= {"ort_nodes": sum(nodes.values()), "ort_reorders": nodes["ReorderInput"] + nodes["ReorderOutput"]}
    return row


def within(ratios: list[float], share: int) -> int:
    return sum(abs(ratio - 1) <= share / 100 for ratio in ratios)


def error_str(row: dict) -> str:
    middle, *ends = [100 * (ratio - 1) for ratio in (statistics.median(row["ratios"]), row["ratios"][0], row["ratios"][-1])]
    return f"{middle:+.1f}% [{ends[0]:+.0f}, {ends[1]:+.0f}]"


def streams_table(rows: list[dict], streams: int) -> str:
    ratios = [statistics.median(row["ratios"]) for row in rows]
    rounds = [len(row["ratios"]) for row in rows]
    lines = [
        f"{rows[0]['device']}, {streams} streams, {rows[0]['engine']}. The latency of the whole model, compared with what the",
        "costs of its kernels predict for the streams, medians of",
        f"{min(rounds)} to {max(rounds)} rounds (more where they disagree); the error is that of the median ratio, with those of the",
        "lowest and the highest. The sum is that of the kernels in one thread, one after the other. The last column counts the",
        "kernels that have the threads of all streams.",
        f"Of {len(rows)} predictions, {within(ratios, 15)} are within 15% of the whole and {within(ratios, 20)} within 20%; the "
        f"median error is {100 * statistics.median(abs(ratio - 1) for ratio in ratios):.1f}%.",
        *textwrap.wrap(shared_text(rows, "rounds"), 120),
        "",
        "| model | whole, ms | predicted, ms | error | sum, ms | kernels (in all threads) |",
        "|---|---:|---:|---|---:|---:|",
    ]
    for row in sorted(rows, key=lambda one: one["whole_us"]):
        lines.append(
            f"| {row['name']} | {row['whole_us'] / 1000:.2f} | {row['predicted_us'] / 1000:.2f} | {error_str(row)} "
            f"| {row['sum_us'] / 1000:.2f} | {row['kernels']:.0f} ({row['with_all_threads']}) |"
        )
    return "\n".join(lines) + "\n"


def table(rows: list[dict], threads: int) -> str:
    ratios = [statistics.median(row["ratios"]) for row in rows]
    rounds = [len(row["ratios"]) for row in rows]
    nodes = "ort_nodes" in rows[0]
    lines = [
        f"{rows[0]['device']}, {threads} thread(s), {rows[0]['engine']}. The sum of the measured kernels, compared with the latency of",
        f"the whole model, medians of {min(rounds)} to {max(rounds)} rounds (more where they disagree); the error is that of the",
        "median ratio, with those of the lowest and the highest; kernels that",
        "Isomer expects (reorders among them)" + (", and the nodes of the graph that ONNX Runtime makes." if nodes else "."),
        f"Of {len(rows)} sums, {within(ratios, 15)} are within 15% of the whole and {within(ratios, 20)} within 20%; the median "
        f"error is {100 * statistics.median(abs(ratio - 1) for ratio in ratios):.1f}%.",
        "",
        "| model | whole, ms | sum of kernels, ms | error | kernels (reorders) |" + nodes * " nodes in ORT (reorders) |",
        "|---|---:|---:|---|---:|" + nodes * "---:|",
    ]
    for row in sorted(rows, key=lambda one: one["whole_us"]):
        lines.append(
            f"| {row['name']} | {row['whole_us'] / 1000:.2f} | {row['predicted_us'] / 1000:.2f} "
            f"| {error_str(row)} | {row['kernels']:.0f} ({row['reorders']}) |"
            + (f" {row['ort_nodes']} ({row['ort_reorders']}) |" if nodes else "")
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="all", help="names separated by commas, or all")
    parser.add_argument("--engine", default="ort", help="ort or onednn")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="without .json and .md")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--streams", type=int, default=0, help="streams of the built-in runtime instead of threads")
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-rounds", type=int, default=9)
    args = parser.parse_args()
    listed = subprocess.run([ISOMER, "models"], check=True, capture_output=True, text=True).stdout.splitlines()[1:]
    names = [line.split()[0] for line in listed] if args.models == "all" else args.models.split(",")
    path = args.out.with_suffix(".json")
    rows = {row["name"]: row for row in json.loads(path.read_text())} if path.exists() else {}
    for name in names:
        if name in rows:
            continue
        with tempfile.TemporaryDirectory() as folder:
            rows[name] = row_of(name, args, pathlib.Path(folder))
        row = rows[name]
        print(f"{name}: {[round(ratio, 3) for ratio in row['ratios']]}", flush=True)
        path.write_text(json.dumps(list(rows.values()), indent=1) + "\n")
        done = list(rows.values())
        text = streams_table(done, args.streams) if args.streams else table(done, args.threads)
        args.out.with_suffix(".md").write_text(text)


if __name__ == "__main__":
    main()
