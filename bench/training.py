#!/usr/bin/env python3
"""Compares training steps of benchmark networks in the built-in runtime with PyTorch's.

    bench/training.py --torch VENV/bin/python --threads 1 --out docs/measurements/training-1-thread

The Python of --torch needs torch and onnx. The programs train from the same weights, on the same data, and take turns: a process
whose turn it is not is stopped. A turn is a part of a step, or several short ones; the first steps, which are not measured, are
whole. Steps are those of `isomer models NAME --training` (SGD with momentum); a step passes its new parameters and state to the
next one.
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

import numpy as np
from table import ROOT, isomer, processor
from turns import Program, engine_version, interval, optimized, random_data, returned_input

NETWORKS = {"resnet50": 8, "inception-v3": 8, "bert-base": 8, "alexnet": 8, "lstm": 8, "rnntc": 8, "nmt": 8,
            "squeezenet-bypass": 8}
RATES = {"squeezenet-bypass": 1e-6}  # its weights are drawn, and with the default rate its loss overflows in three steps
LOSSES = 3  # first steps, whose losses are compared with those in double precision


def part_seconds(threads: int) -> float:
    """How long a turn is. If there are several threads, they lose milliseconds when they go on, until each has a core."""
    return 0.05 if threads == 1 else 1


def steps_in_turn(programs: dict[str, Program], first: int, seconds: float,
                  counts: dict[str, int] | None = None) -> dict[str, tuple[float, float]]:
    """The milliseconds of a step of each program, of which `counts` says how many it runs, and the loss of the last one. Parts of
    the steps, of so many seconds, take turns, since the machine may be slow for seconds, and then is so for all of them. `first`:
    whose turn is the first."""
    counts = counts or dict.fromkeys(programs, 1)
    order = list(programs)
    order = order[first % len(order):] + order[:first % len(order)]
    for key in order:
        programs[key].begin(str(counts[key]))
    while left := [programs[key] for key in order if programs[key].answer is None]:
        for program in left:
            program.go_on(seconds)
    return {key: (1e3 * program.seconds / counts[key], program.answer) for key, program in programs.items()}


def row_of(name: str, batch: int, args: argparse.Namespace, folder: pathlib.Path) -> dict:
    network, step, data = folder / "network.onnx", folder / "step.onnx", folder / name
    rate = str(RATES.get(name, 0.01))
    for more, path in (([], network), (["--training", "--rate", rate], step)):
        isomer("models", name, "-o", str(path), "--batch", str(batch), *more)
    values = random_data(step)
    data.mkdir(exist_ok=True)
    for key, value in values.items():
        np.save(data / f"{key}.npy", value)
    images = any(value.ndim == 4 for value in values.values())

    def torch(*options: str) -> Program:
        return Program(args.torch, ROOT / "bench/torch_step.py", network, args.threads, data, "--rate", rate, *options)

    def ours(model: pathlib.Path) -> Program:
        return Program(sys.executable, ROOT / "bench/isomer_step.py", model, args.threads, data)

    exact = {"PyTorch, f64": torch("--double")}
    losses = [steps_in_turn(exact, 0, math.inf)["PyTorch, f64"][1] for _ in range(LOSSES)]
    exact["PyTorch, f64"].close()
    if args.optimize > 0:
        better = folder / "optimized.onnx"
        search = optimized(step, better, args.optimize, "--engine", "onednn", "--threads", str(args.threads))
    part = part_seconds(args.threads)
    found: list[list[dict[str, tuple[float, float]]]] = []  # by process and round
    for _ in range(args.processes):
        programs = {"PyTorch": torch()}
        if images:
            programs["PyTorch, channels last"] = torch("--channels-last")
        peers = list(programs)
        programs["Isomer"] = ours(step)
        if args.optimize > 0:
            programs["optimized"] = ours(better)
        # The built-in runtime times kernels in its first step.
        before = [steps_in_turn(programs, i, math.inf) for i in range(args.warmup)]
        counts = {key: max(1, int(0.8 * 1e3 * part / before[-1][key][0])) for key in programs}  # most end in a turn
        found.append(before + [steps_in_turn(programs, i, part, counts) for i in range(args.rounds)])
        for program in programs.values():
            program.close()
    times = {key: [[one[key][0] for one in rounds[args.warmup:]] for rounds in found] for key in programs}
    medians = {key: statistics.median(sum(values, [])) for key, values in times.items()}

    def ratio(of: str, to: str) -> list[float]:
        return interval([[a / b for a, b in zip(*pair)] for pair in zip(times[of], times[to])])

    best = min(peers, key=medians.get)
    row = {"network": name, "batch": batch, "engine": args.engine, "milliseconds": medians, "best": best,
           "ratio": ratio(best, "Isomer"),
           "differences_of_losses": {key: max(abs(one[key][1] / loss - 1) for one, loss in zip(found[0], losses))
                                     for key in programs}}
    if args.optimize > 0:
        row["ratio_optimized"] = ratio("Isomer", "optimized")
        row["search"] = search
    print(json.dumps(row), flush=True)
    return row


def markdown(data: dict) -> str:
    threads = f"{data['threads']} thread{'s' if data['threads'] > 1 else ''}"
    versions = list(dict.fromkeys(row["engine"] for row in data["rows"]))
    engines = versions[0] if len(versions) == 1 else ", ".join(
        f"{version} ({', '.join(row['network'] for row in data['rows'] if row['engine'] == version)})" for version in versions)
    turns = f"{data['rounds']} turns in each of {data['processes']} processes"
    lines = [f"# Training steps, {threads}", "",
             f"{data['processor']}, {engines}, PyTorch {data['torch']} (eager; gelu, linear layers, attention",
             f"and LSTM layers are single functions there). Medians of {turns}, in milliseconds;",
             f"a turn of {data['turn_seconds']} s is a part of a step, or several short ones. A step computes the loss",
             "and all gradients, and updates all parameters by SGD with momentum. The ratio is the time of the faster PyTorch",
             "to Isomer's, with a 95% interval that includes the medians of all processes; above 1, Isomer is faster. Its graphs",
             "are not optimized; those of the column `optimized` are, the ratio after it is the speedup by that (1 where the",
             "search returned the input), and the next column says what ended the search. The last columns are the largest",
             "relative differences of the first three losses from PyTorch's in double precision.", "",
             "| network | batch | PyTorch | channels last | Isomer | ratio | optimized | ratio | search | PyTorch's error | ours |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in data["rows"]:
        times = row["milliseconds"]
        last = f"{times['PyTorch, channels last']:.0f}" if "PyTorch, channels last" in times else ""
        ratio, faster = ("{:.2f} [{:.2f}, {:.2f}]".format(*row[key]) if key in row else "" for key in ("ratio", "ratio_optimized"))
        better = f"{times['optimized']:.0f}" if "optimized" in times else ""
        search = f"{row['search']['seconds']:.0f} s, {row['search']['stop_reason']}" if "search" in row else ""
        if "search" in row and returned_input(row["search"]):
            # A difference of two processes with the same step is no speedup.
            better, faster = "the input", "1"
        errors = row["differences_of_losses"]
        lines.append(f"| {row['network']} | {row['batch']} | {times['PyTorch']:.0f} | {last} | {times['Isomer']:.0f} | {ratio} | "
                     f"{better} | {faster} | {search} | "
                     f"{errors[row['best']]:.0e} | {errors['Isomer']:.0e} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", required=True, help="a Python that has torch and onnx")
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--batch", type=int, help="for all networks")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5, help="of each process")
    parser.add_argument("--processes", type=int, default=3, help="that run each program, one after the other")
    parser.add_argument("--optimize", type=float, default=0, metavar="SECONDS",
                        help="also run the steps after `isomer optimize` with this time budget")
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path,
                        help="writes OUT.json and OUT.md after each network; rows of other networks in OUT.json are kept")
    args = parser.parse_args()
    if args.warmup < LOSSES:
        parser.error(f"--warmup: the losses of the first {LOSSES} steps are compared")
    if args.processes < 1 or args.processes * args.rounds < 9:
        parser.error("--processes, --rounds: an interval needs 9 turns in all")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    version = [args.torch, "-c", "import torch; print(torch.__version__)"]
    data = {"processor": processor(), "threads": args.threads, "warmup": args.warmup, "rounds": args.rounds,
            "processes": args.processes, "turn_seconds": part_seconds(args.threads),
            "torch": subprocess.run(version, check=True, capture_output=True, text=True).stdout.strip(), "rows": []}
    kept = args.out.with_suffix(".json") if args.out else None
    if kept and kept.exists():
        before = json.loads(kept.read_text())
        if any(before.get(key) != data[key] for key in data if key != "rows"):
            parser.error(f"{kept} is of another machine, PyTorch, or number or length of turns; remove it, or give another --out")
        data["rows"] = before["rows"]
    with tempfile.TemporaryDirectory(prefix="isomer-training-") as folder:
        args.engine = f"onednn {engine_version('onednn')}"
        for name in args.networks:
            row = row_of(name, args.batch or NETWORKS.get(name, 8), args, pathlib.Path(folder))
            data["rows"] = [other for other in data["rows"] if other["network"] != name] + [row]
            data["rows"].sort(key=lambda one: list(NETWORKS).index(one["network"]) if one["network"] in NETWORKS else len(NETWORKS))
            if args.out:
                kept.write_text(json.dumps(data, indent=1) + "\n")
                args.out.with_suffix(".md").write_text(markdown(data))
    print(markdown(data))


if __name__ == "__main__":
    main()
