#!/usr/bin/env python3
"""Compares training steps of benchmark networks in the built-in runtime with PyTorch's.

    bench/training.py --torch VENV/bin/python --threads 1 --out docs/measurements/training-1-thread

The Python of --torch needs torch and onnx. The programs run one step at a time, from the same weights, on the same data, in parts
of 50 ms that take turns: a process whose turn it is not is stopped. Only the first steps, which are not measured, are whole. Steps
are those of `isomer models NAME --training` (SGD with momentum); a step passes its new parameters and state to the next one.
"""

from __future__ import annotations

import argparse
import atexit
import json
import math
import os
import pathlib
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from table import processor

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "build/python"))

import isomer  # noqa: E402

ISOMER = ROOT / "build/isomer"
NETWORKS = {"resnet50": 8, "inception-v3": 8, "bert-base": 8, "alexnet": 8, "lstm": 8, "rnntc": 8, "nmt": 8,
            "squeezenet-bypass": 8}
RATES = {"squeezenet-bypass": 1e-6}  # its weights are drawn, and with the default rate its loss overflows in three steps
PART_SECONDS = 0.05
LOSSES = 3  # steps whose losses are compared with those in double precision


class Program:
    """A process that runs a step for each line that it gets, and answers with the loss. From its first turn on, it is stopped
    unless it has its turn."""

    def __init__(self, *command: object) -> None:
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        process_group=0)
        atexit.register(self.kill)  # a stopped process would stay

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def begin(self) -> None:
        self.seconds, self.loss = 0.0, None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def go_on(self, seconds: float) -> None:
        """Lets the process run for so long, or until the step ends."""
        start = time.perf_counter()
        os.killpg(self.process.pid, signal.SIGCONT)
        ended, _, _ = select.select([self.process.stdout], [], [], None if math.isinf(seconds) else seconds)
        os.killpg(self.process.pid, signal.SIGSTOP)
        self.seconds += time.perf_counter() - start
        if ended:
            line = self.process.stdout.readline()
            if not line:
                sys.exit(f"steps failed: {self.process.args}")
            self.loss = float(line)

    def close(self) -> None:
        os.killpg(self.process.pid, signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def steps_in_turn(programs: dict[str, Program], first: int, seconds: float) -> dict[str, tuple[float, float]]:
    """The milliseconds and the loss of one step of each program. Parts of the steps, of so many seconds, take turns, since the
    machine may be slow for seconds, and then is so for all of them. `first`: whose turn is the first."""
    order = list(programs.values())
    order = order[first % len(order):] + order[:first % len(order)]
    for program in order:
        program.begin()
    while left := [program for program in order if program.loss is None]:
        for program in left:
            program.go_on(seconds)
    return {key: (1e3 * program.seconds, program.loss) for key, program in programs.items()}


def random_data(step: pathlib.Path) -> dict[str, np.ndarray]:
    """Values for the inputs without default."""
    report = json.loads(subprocess.run([ISOMER, "inspect", step, "--json"], check=True, capture_output=True).stdout)
    generator = np.random.default_rng(0)
    data = {}
    for entry in report["inputs"]:
        if entry["has_default"]:
            continue
        kind, _, extents = entry["type"].rstrip("]").partition("[")
        shape = [int(extent) for extent in extents.split(",")] if extents else []
        data[entry["name"]] = (generator.integers(0, 2, shape) if kind == "i64"
                               else generator.standard_normal(shape).astype(np.float32))
    return data


def engine_version(folder: pathlib.Path) -> str:
    model = folder / "sru.onnx"
    subprocess.run([ISOMER, "models", "sru", "-o", model], check=True, stdout=subprocess.DEVNULL)
    command = [ISOMER, "bench", model, "--engine", "onednn", "--runs", "1", "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return f"{report['engine']} {report['engine_version']}"


def interval(ratios: list[list[float]]) -> list[float]:
    """The median of the ratios of all processes, and an interval: order statistics that include it with at least 95% (for 9
    ratios or more), extended to the medians of all processes, since two processes of one program differ, too."""
    ordered = sorted(sum(ratios, []))
    skipped = 1 if len(ordered) < 12 else 2 if len(ordered) < 15 else round(len(ordered) / 2 - 0.98 * math.sqrt(len(ordered))) - 1
    medians = [statistics.median(of_process) for of_process in ratios]
    return [statistics.median(ordered), min(ordered[skipped], *medians), max(ordered[-1 - skipped], *medians)]


def row_of(name: str, batch: int, args: argparse.Namespace, folder: pathlib.Path) -> dict:
    network, step, data_file = folder / "network.onnx", folder / "step.onnx", folder / "data.npz"
    rate = str(RATES.get(name, 0.01))
    for more, path in (([], network), (["--training", "--rate", rate], step)):
        subprocess.run([ISOMER, "models", name, "-o", path, "--batch", str(batch), *more], check=True, stdout=subprocess.DEVNULL)
    data = random_data(step)
    np.savez(data_file, **data)
    images = any(value.ndim == 4 for value in data.values())

    def torch(*options: str) -> Program:
        return Program(args.torch, ROOT / "bench/torch_step.py", network, args.threads, data_file, "--rate", rate, *options)

    def ours(model: pathlib.Path) -> Program:
        return Program(sys.executable, ROOT / "bench/isomer_step.py", model, args.threads, data_file)

    exact = {"PyTorch, f64": torch("--double")}
    losses = [steps_in_turn(exact, 0, math.inf)["PyTorch, f64"][1] for _ in range(LOSSES)]
    exact["PyTorch, f64"].close()
    if args.optimize > 0:
        better = folder / "optimized.onnx"
        command = [ISOMER, "optimize", step, "-o", better, "--force", "--engine", "onednn", "--threads", str(args.threads),
                   "--time-budget", str(args.optimize), "--profile-db", folder / "profile.db", "--json"]
        report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        search = {"outcome": report["outcome"], "budget": args.optimize, "seconds": report["search"]["seconds"],
                  "stop_reason": report["search"]["stop_reason"]}
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
        found.append([steps_in_turn(programs, i, math.inf if i < args.warmup else PART_SECONDS)
                      for i in range(args.warmup + args.rounds)])
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
    steps = f"{data['rounds']} steps in each of {data['processes']} processes"
    lines = [f"# Training steps, {threads}", "",
             f"{data['processor']}, {engines}, PyTorch {data['torch']} (eager; gelu, linear layers, attention",
             f"and LSTM layers are single functions there). Medians of {steps},",
             "in milliseconds; parts of 50 ms took turns. A step computes the loss and all gradients, and updates all parameters",
             "by SGD with momentum. The ratio is the time of the faster PyTorch to Isomer's, with a 95% interval that includes the",
             "medians of all processes; above 1, Isomer is faster. Its graphs are not optimized; those of the column `optimized`",
             "are, the ratio after it is the speedup by that (1 where the search returned the input), and the next column says",
             "what ended the search. The last columns are the largest relative differences of the first three losses from",
             "PyTorch's in double precision.", "",
             "| network | batch | PyTorch | channels last | Isomer | ratio | optimized | ratio | search | PyTorch's error | ours |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in data["rows"]:
        times = row["milliseconds"]
        last = f"{times['PyTorch, channels last']:.0f}" if "PyTorch, channels last" in times else ""
        ratio, faster = ("{:.2f} [{:.2f}, {:.2f}]".format(*row[key]) if key in row else "" for key in ("ratio", "ratio_optimized"))
        optimized = f"{times['optimized']:.0f}" if "optimized" in times else ""
        search = f"{row['search']['seconds']:.0f} s, {row['search']['stop_reason']}" if "search" in row else ""
        if "search" in row and "the output is the input" in row["search"]["outcome"]:
            # What two processes with the same step differ by is no speedup.
            optimized, faster = "the input", "1"
        errors = row["differences_of_losses"]
        lines.append(f"| {row['network']} | {row['batch']} | {times['PyTorch']:.0f} | {last} | {times['Isomer']:.0f} | {ratio} | "
                     f"{optimized} | {faster} | {search} | "
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
    if args.warmup < 1:
        parser.error("--warmup: programs get ready in their first step")
    if args.processes < 1 or args.processes * args.rounds < 9:
        parser.error("--processes, --rounds: an interval needs 9 steps in all")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    version = [args.torch, "-c", "import torch; print(torch.__version__)"]
    data = {"processor": processor(), "threads": args.threads, "warmup": args.warmup, "rounds": args.rounds,
            "processes": args.processes,
            "torch": subprocess.run(version, check=True, capture_output=True, text=True).stdout.strip(), "rows": []}
    kept = args.out.with_suffix(".json") if args.out else None
    if kept and kept.exists():
        before = json.loads(kept.read_text())
        if any(before.get(key) != data[key] for key in data if key != "rows"):
            parser.error(f"{kept} is of another machine, PyTorch or number of steps; remove it, or give another --out")
        data["rows"] = before["rows"]
    with tempfile.TemporaryDirectory(prefix="isomer-training-") as folder:
        args.engine = engine_version(pathlib.Path(folder))
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
