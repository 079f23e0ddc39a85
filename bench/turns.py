"""Shared by inference.py and training.py: programs that take turns, so that other load on the machine slows all of them alike;
random data; the search for a better model; and intervals of ratios."""

from __future__ import annotations

import atexit
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
from table import isomer


class Program:
    """A process that answers each line with a number. From its first turn on, it is stopped unless it has its turn."""

    def __init__(self, *command: object) -> None:
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        process_group=0)
        atexit.register(self.kill)  # a stopped process would stay

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def begin(self, line: str = "") -> None:
        self.seconds, self.answer = 0.0, None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def go_on(self, seconds: float = math.inf) -> None:
        """Lets the process run for so long, or until it answers. Ends this program if that process has ended."""
        start = time.perf_counter()
        os.killpg(self.process.pid, signal.SIGCONT)
        ended, _, _ = select.select([self.process.stdout], [], [], None if math.isinf(seconds) else seconds)
        os.killpg(self.process.pid, signal.SIGSTOP)
        self.seconds += time.perf_counter() - start
        if ended:
            line = self.process.stdout.readline()
            if not line:
                sys.exit(f"failed: {self.process.args}")
            self.answer = float(line)

    def close(self) -> None:
        os.killpg(self.process.pid, signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def random_data(model: pathlib.Path) -> dict[str, np.ndarray]:
    """Values for the inputs without default."""
    generator = np.random.default_rng(0)
    data = {}
    for entry in isomer("inspect", str(model))["inputs"]:
        if entry["has_default"]:
            continue
        kind, _, extents = entry["type"].rstrip("]").partition("[")
        shape = [int(extent) for extent in extents.split(",")] if extents else []
        data[entry["name"]] = (generator.integers(0, 2, shape) if kind == "i64"
                               else generator.standard_normal(shape).astype(np.float32))
    return data


def engine_version(engine: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        model = f"{folder}/sru.onnx"
        isomer("models", "sru", "-o", model)
        return isomer("bench", model, "--engine", engine, "--runs", "1")["engine_version"]


def optimized(model: pathlib.Path, better: pathlib.Path, seconds: float, *options: str) -> dict:
    """Optimizes a model in so many seconds, with an empty profile database, and writes the result. Returns how the search ended."""
    with tempfile.TemporaryDirectory() as folder:
        report = isomer("optimize", str(model), "-o", str(better), "--force", "--time-budget", str(seconds),
                        "--profile-db", f"{folder}/profile.db", *options, timeout=seconds + 1800)
    return {"outcome": report["outcome"], "budget": seconds, "seconds": report["search"]["seconds"],
            "stop_reason": report["search"]["stop_reason"]}


def returned_input(search: dict) -> bool:
    return "the output is the input" in search["outcome"]


def interval(ratios: list[list[float]]) -> list[float]:
    """The median of the ratios of all processes, and an interval: order statistics that include it with at least 95% (for 9
    ratios or more), extended to the medians of all processes, since two processes of one program differ, too."""
    ordered = sorted(sum(ratios, []))
    skipped = 1 if len(ordered) < 12 else 2 if len(ordered) < 15 else round(len(ordered) / 2 - 0.98 * math.sqrt(len(ordered))) - 1
    medians = [statistics.median(of_process) for of_process in ratios]
    return [statistics.median(ordered), min(ordered[skipped], *medians), max(ordered[-1 - skipped], *medians)]
