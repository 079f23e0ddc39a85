"""Finds out whether a host runs two virtual cores on one core, as some do for a second or a minute. Two threads take turns then,
and comparisons of programs with several threads say nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time

SHARED = 1.25  # slowdown of arithmetic from which on a core counts as shared
_WORK = """
import sys, time
import numpy as np
a = np.full((192, 192), 0.5, np.float32)
for line in sys.stdin:
    times = []
    for _ in range(int(line)):
        begin = time.perf_counter()
        for _ in range(10):
            a @ a
        times.append(time.perf_counter() - begin)
    print(min(times), flush=True)
"""


class Cores:
    """Two programs that compute on two cores when they are told to. One core is never shared."""

    def __init__(self) -> None:
        self.discarded = 0  # measurements, because the cores were shared after them
        self.disturbed = 0  # those that count although the cores were shared
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        cores = sorted(os.sched_getaffinity(0))[:2]
        self._programs = [] if len(cores) < 2 else [
            subprocess.Popen([sys.executable, "-c", _WORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                             env=environment)
            for _ in cores]
        for program, core in zip(self._programs, cores):
            os.sched_setaffinity(program.pid, {core})
        self.slowdown()  # the first one counts starting them

    def slowdown(self) -> float:
        """How many times as long arithmetic on one core takes while the other one computes."""
        if not self._programs:
            return 1.0
        first, second = self._programs
        alone = self._ask(first, 5)()
        neighbor = self._ask(second, 25)
        together = self._ask(first, 5)()
        neighbor()
        return together / alone

    def shared(self) -> bool:
        return self.slowdown() > SHARED

    def undisturbed(self, measure, patience: float = 120):
        """Returns the result of `measure`, between two moments at which the cores are not shared. Otherwise it waits and measures
        again; after `patience` seconds, it takes what it gets. Counts both."""
        end = time.monotonic() + patience
        while True:
            while (shared := self.shared()) and time.monotonic() < end:
                time.sleep(0.2)
            found = measure()
            shared = self.shared() or shared
            if not shared or time.monotonic() >= end:
                self.disturbed += shared
                return found
            self.discarded += 1

    def counts(self) -> dict[str, int]:
        return {"discarded": self.discarded, "disturbed": self.disturbed}

    def close(self) -> None:
        for program in self._programs:
            program.stdin.close()
            program.wait()

    @staticmethod
    def _ask(program: subprocess.Popen, times: int):
        program.stdin.write(f"{times}\n")
        program.stdin.flush()
        return lambda: float(program.stdout.readline())


def shared_text(rows: list[dict], measurements: str) -> str:
    """A sentence about measurements that were repeated, from `counts` in rows; empty if there were none."""
    discarded, disturbed = (sum(row.get("cores", {}).get(key, 0) for row in rows) for key in ("discarded", "disturbed"))
    if not discarded and not disturbed:
        return ""
    text = (f"{discarded} {measurements} were repeated, since the host ran both cores on one after them (arithmetic on one takes "
            f"at least {SHARED} times as long while the other computes)")
    return text + (f"; {disturbed} others count although it did." if disturbed else ".")
