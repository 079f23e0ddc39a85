"""Runs of Isomer that are killed at random times.

    python kill_test.py ISOMER [--kills N] [--seed S]

Signals go to the process group of a run, as a terminal sends them. Whatever the signal and the moment: an output is
complete or absent, a first SIGINT, SIGTERM or SIGHUP to `optimize` still writes one, a second one quits, no worker
stays, and the next run removes the temporary folders that SIGKILL left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from models import write_branches

QUIT = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ENDINGS = ("once", "twice", "kill")


class Failure(Exception):
    pass


def check(holds: bool, text: str) -> None:
    if not holds:
        raise Failure(text)


def heed_signals() -> None:
    """Where this test runs under nohup, its children would ignore SIGHUP."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def send(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """Signals the process group of a run, as a terminal does. SIGKILL goes to the program alone."""
    if process.poll() is None:
        (os.kill if number == signal.SIGKILL else os.killpg)(process.pid, number)


class Runs:
    def __init__(self, isomer: str, folder: Path, seed: int) -> None:
        self.isomer = isomer
        self.folder = folder
        self.random = random.Random(seed)
        self.model = folder / "model.onnx"
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        write_branches(self.model)
        self.feeds = {"x": np.random.default_rng(2).standard_normal((8, 64)).astype(np.float32)}
        self.expected = self.outputs(self.model)
        # Workers are found by this, too.
        self.environment = {**os.environ, "TMPDIR": str(self.temporary)}
        self.run_to_the_end()  # measures the kernels
        self.seconds, self.search_seconds = self.run_to_the_end()  # within which a run is killed
        self.began = 0  # runs that were killed when the command had begun

    def outputs(self, path: Path) -> list[np.ndarray]:
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        return session.run(None, self.feeds)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.isomer, *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_signals,
            start_new_session=True,
        )

    def optimize(self, output: Path) -> subprocess.Popen[str]:
        # fmt: off
        return self.start("optimize", str(self.model), "-o", str(output), "--time-budget", "4", "--json",
                          "--profile-db", str(self.folder / "profile.db"))
        # fmt: on

    def run_to_the_end(self) -> tuple[float, float]:
        """Seconds of the whole run, and of its search."""
        begin = time.monotonic()
        process = self.optimize(self.folder / "whole.onnx")
        await_search(process)
        begun = ended = time.monotonic()
        while searches(process.pid):
            ended = time.monotonic()
        process.communicate()
        check(process.returncode == 0, "a run that nobody kills fails")
        return time.monotonic() - begin, ended - begun

    def check_output(self, path: Path) -> None:
        onnx.checker.check_model(onnx.load(path), full_check=True)
        for got, wanted in zip(self.outputs(path), self.expected, strict=True):
            check(np.allclose(got, wanted, rtol=1e-3, atol=1e-5), f"{path.name} computes something else")

    def left_behind(self) -> set[str]:
        """The temporary folders, and the files that have not got their names yet."""
        return {path.name for path in (*self.temporary.iterdir(), *self.folder.glob("*.part"))}

    def workers(self) -> list[int]:
        """Processes of this test that run; found by their environment."""
        mark = f"TMPDIR={self.temporary}".encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes() and int(process.name) != os.getpid():
                    found.append(int(process.name))
            except OSError:
                continue
        return found

    def await_no_workers(self) -> None:
        for _ in range(600):
            if not self.workers():
                return
            time.sleep(0.05)
        raise Failure(f"workers stay: {self.workers()}")

    def start_and_wait(self, output: Path) -> subprocess.Popen[str]:
        """A run that still goes on after a random time: for three of four runs, a time since its search began."""
        while True:
            process = self.optimize(output)
            whole = self.random.random() < 0.25
            if not whole:
                await_search(process)
            try:
                process.wait(timeout=self.random.uniform(0, self.seconds if whole else self.search_seconds))
            except subprocess.TimeoutExpired:
                return process
            process.communicate()
            output.unlink(missing_ok=True)

    def kill_once(self, number: int) -> str:
        """One run that is killed; says how it ended."""
        output = self.folder / f"out{number}.onnx"
        ending = ENDINGS[number % len(ENDINGS)]
        first = self.random.choice(SIGNALS)
        before = self.left_behind()
        process = self.start_and_wait(output)
        began = process.poll() is None and searches(process.pid)
        send(process, signal.SIGKILL if ending == "kill" else first)
        if ending == "twice":
            time.sleep(self.random.uniform(0, 0.3))
            send(process, first)
        stdout, stderr = process.communicate()
        code = process.returncode
        if output.exists():
            self.check_output(output)
        if code == 0:
            report = json.loads(stdout)
            check(output.exists(), "exit code 0 without an output")
            check(report["interrupted"] == report["outcome"].startswith("interrupted"), report["outcome"])
        allowed = {0} | ({-signal.SIGKILL} if ending == "kill" else {QUIT} if ending == "twice" else set())
        if not began:  # a signal does what it does in every command, or even in every program
            allowed |= {-first, 128 + first}
        check(code in allowed, f"{ending}, {first.name}: exit code {code}: {stderr}")
        if ending != "kill":
            check(self.left_behind() <= before, f"{ending}: left {self.left_behind() - before}")
        for unnamed in self.folder.glob("*.part"):  # of a run that could not clean up
            unnamed.unlink()
        self.await_no_workers()
        output.unlink(missing_ok=True)
        self.began += began
        return f"{ending} {first.name}: {code}"


def caught(pid: int, wanted: signal.Signals) -> bool:
    """Whether a process has a handler for a signal already."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    mask = int(next(line for line in status.splitlines() if line.startswith("SigCgt")).split()[1], 16)
    return bool(mask >> (wanted - 1) & 1)


def searches(pid: int) -> bool:
    """Whether `optimize` has begun: its database of profiles is open."""
    try:
        return any(Path(file).name == "profile.db" for file in map(os.readlink, Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:
        return False


def await_search(process: subprocess.Popen[str]) -> None:
    """Returns when `optimize` has begun or is over."""
    while process.poll() is None and not searches(process.pid):
        time.sleep(0.001)


def check_other_commands(runs: Runs) -> None:
    for number in SIGNALS:
        process = runs.start("bench", str(runs.model), "--runs", "1000000")
        while not (caught(process.pid, number) and runs.left_behind()):
            if process.poll() is not None:
                raise Failure(f"bench ended by itself: {process.communicate()}")
            time.sleep(0.02)
        process.send_signal(number)
        process.communicate()
        check(process.returncode == 128 + number, f"bench, {number.name}: exit code {process.returncode}")
        check(not runs.left_behind(), f"bench left {runs.left_behind()}")
        runs.await_no_workers()


def check_results_so_far(runs: Runs) -> None:
    """An interrupted `repro` keeps the results of the experiments that are finished."""
    rows = runs.folder / "rows.csv"
    process = runs.start("repro", "metaflow", "--network", "inception-v3", "--csv", str(rows))
    while not rows.exists():
        check(process.poll() is None, "repro ended without results")
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate()
    check(process.returncode == 128 + signal.SIGINT, f"repro: exit code {process.returncode}: {stderr}")
    check(stdout.startswith("MetaFlow, Table 2"), f"repro printed {stdout}")
    check("\nmetaflow-t2,inception-v3," in rows.read_text(), "repro lost rows")
    check(not runs.left_behind(), f"repro left {runs.left_behind()}")
    rows.unlink()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("isomer")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        runs = Runs(arguments.isomer, Path(name), arguments.seed)
        check_other_commands(runs)
        check_results_so_far(runs)
        left = 0
        for number in range(arguments.kills):
            print(f"{number + 1}: {runs.kill_once(number)}", flush=True)
            left += bool(runs.left_behind())
        check(2 * runs.began > arguments.kills, f"only {runs.began} runs had begun when they were killed")
        check(runs.optimize(runs.folder / "last.onnx").wait() == 0, "the last run failed")
        check(not runs.left_behind(), f"left in the end: {runs.left_behind()}")
        names = sorted(path.name for path in runs.folder.iterdir() if path.suffix not in (".db", ".db-journal"))
        print(f"temporary folders after {left} of {arguments.kills} kills, none after the next run; files: {names}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"kill_test: {failure}")
