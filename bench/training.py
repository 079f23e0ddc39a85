#!/usr/bin/env python3
"""Compares training steps of benchmark networks in the built-in runtime with PyTorch's.

    bench/training.py --torch VENV/bin/python --threads 1 --out docs/measurements/training-1-thread

The Python of --torch needs torch and onnx. Both programs run one step in turn, from the same weights, on the same data. Steps are
those of `isomer models NAME --training` (SGD with momentum); a step passes its new parameters and state to the next one.
"""

from __future__ import annotations

import argparse
import json
import pathlib
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
NETWORKS = {"resnet50": 8, "inception-v3": 8, "bert-base": 8, "alexnet": 8, "rnntc": 8}
LOSSES = 3  # steps whose losses are compared with those in double precision


class Torch:
    """Steps in PyTorch."""

    def __init__(self, python: str, model: pathlib.Path, threads: int, data: pathlib.Path, *options: str) -> None:
        command = [python, str(ROOT / "bench/torch_step.py"), str(model), str(threads), str(data), *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def step(self) -> tuple[float, float]:
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("the steps in PyTorch failed")
        milliseconds, loss = map(float, line.split())
        return milliseconds, loss

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


class Isomer:
    """Steps in the built-in runtime."""

    def __init__(self, step: pathlib.Path, threads: int, data: dict[str, np.ndarray]) -> None:
        self.session = isomer.Session(str(step), engine="onednn", threads=threads)
        self.values = dict(data)

    def step(self) -> tuple[float, float]:
        begin = time.perf_counter()
        outputs = self.session.run(self.values)
        milliseconds = 1e3 * (time.perf_counter() - begin)
        for name, value in outputs.items():
            if name.startswith("new/"):
                self.values[name.removeprefix("new/")] = value
        return milliseconds, float(outputs["loss"])


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


def interval(ratios: list[float]) -> list[float]:
    """The median, and order statistics that include it with at least 95% (for 9 ratios or more)."""
    ordered = sorted(ratios)
    skipped = 1 if len(ordered) < 12 else 2
    return [statistics.median(ordered), ordered[skipped], ordered[-1 - skipped]]


def row_of(name: str, batch: int, args: argparse.Namespace, folder: pathlib.Path) -> dict:
    network, step, data_file = folder / "network.onnx", folder / "step.onnx", folder / "data.npz"
    for more, path in (([], network), (["--training"], step)):
        subprocess.run([ISOMER, "models", name, "-o", path, "--batch", str(batch), *more], check=True, stdout=subprocess.DEVNULL)
    data = random_data(step)
    np.savez(data_file, **data)
    images = any(value.ndim == 4 for value in data.values())
    peers = {"PyTorch": Torch(args.torch, network, args.threads, data_file)}
    if images:
        peers["PyTorch, channels last"] = Torch(args.torch, network, args.threads, data_file, "--channels-last")
    exact = Torch(args.torch, network, args.threads, data_file, "--double")
    losses = [exact.step()[1] for _ in range(LOSSES)]
    exact.close()
    programs = {**peers, "Isomer": Isomer(step, args.threads, data)}
    if args.optimize > 0:
        better = folder / "optimized.onnx"
        command = [ISOMER, "optimize", step, "-o", better, "--force", "--engine", "onednn", "--threads", str(args.threads),
                   "--time-budget", str(args.optimize), "--profile-db", folder / "profile.db", "--json"]
        report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        search = {"outcome": report["outcome"], "budget": args.optimize, "seconds": report["search"]["seconds"],
                  "stop_reason": report["search"]["stop_reason"]}
        programs["optimized"] = Isomer(better, args.threads, data)
    rounds = [{key: program.step() for key, program in programs.items()} for _ in range(args.warmup + args.rounds)]
    for program in peers.values():
        program.close()
    differences = {key: max(abs(found[key][1] / loss - 1) for found, loss in zip(rounds, losses)) for key in programs}
    times = {key: [found[key][0] for found in rounds[args.warmup:]] for key in programs}
    best = min(peers, key=lambda key: statistics.median(times[key]))
    row = {"network": name, "batch": batch, "milliseconds": {key: statistics.median(values) for key, values in times.items()},
           "best": best, "ratio": interval([a / b for a, b in zip(times[best], times["Isomer"])]),
           "differences_of_losses": differences}
    if "optimized" in times:
        row["ratio_optimized"] = interval([a / b for a, b in zip(times["Isomer"], times["optimized"])])
        row["search"] = search
    print(json.dumps(row), flush=True)
    return row


def markdown(data: dict) -> str:
    threads = f"{data['threads']} thread{'s' if data['threads'] > 1 else ''}"
    lines = [f"# Training steps, {threads}", "",
             f"{data['processor']}, {data['engine']}, PyTorch {data['torch']} (eager). Medians of {data['rounds']} steps each, in",
             "turn, in milliseconds. A step computes the loss and all gradients, and updates all parameters by SGD with momentum.",
             "The ratio is the time of the faster PyTorch to Isomer's, with a 95% interval; above 1, Isomer is faster. Its graphs",
             "are not optimized; those of the column `optimized` are, the ratio after it is the speedup by that, and the next one",
             "says what ended the search. The last columns are the largest relative differences of the first three losses",
             "from PyTorch's in double precision.", "",
             "| network | batch | PyTorch | channels last | Isomer | ratio | optimized | ratio | search | PyTorch's error | ours |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in data["rows"]:
        times = row["milliseconds"]
        last = f"{times['PyTorch, channels last']:.0f}" if "PyTorch, channels last" in times else ""
        ratio, faster = ("{:.2f} [{:.2f}, {:.2f}]".format(*row[key]) if key in row else "" for key in ("ratio", "ratio_optimized"))
        optimized = f"{times['optimized']:.0f}" if "optimized" in times else ""
        search = f"{row['search']['seconds']:.0f} s, {row['search']['stop_reason']}" if "search" in row else ""
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
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--optimize", type=float, default=0, metavar="SECONDS",
                        help="also run the steps after `isomer optimize` with this time budget")
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path, help="writes OUT.json and OUT.md")
    args = parser.parse_args()
    version = [args.torch, "-c", "import torch; print(torch.__version__)"]
    data = {"processor": processor(), "threads": args.threads, "rounds": args.rounds,
            "torch": subprocess.run(version, check=True, capture_output=True, text=True).stdout.strip(),
            "rows": []}
    with tempfile.TemporaryDirectory(prefix="isomer-training-") as folder:
        data["engine"] = engine_version(pathlib.Path(folder))
        for name in args.networks:
            data["rows"].append(row_of(name, args.batch or NETWORKS.get(name, 8), args, pathlib.Path(folder)))
    if args.out:
        args.out.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
        args.out.with_suffix(".md").write_text(markdown(data))
    print(markdown(data))


if __name__ == "__main__":
    main()
