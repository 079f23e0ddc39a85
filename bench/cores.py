"""Finds out whether a host runs two virtual cores on one core at the moment, as some do for a second or a minute: then two
threads take turns, and comparisons of programs with several threads say nothing."""

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
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        cores = sorted(os.sched_getaffinity(0))[:2]
        self._programs = [] if len(cores) < 2 else [
            subprocess.Popen([sys.executable, "-c", _WORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
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
        beside = self._ask(first, 5)()
        neighbor()
        return beside / alone

    def shared(self) -> bool:
        return self.slowdown() > SHARED

    def undisturbed(self, measure, patience: float = 120):
        """What `measure` returns if the cores are not shared before and after it, which is tried again for so many seconds;
        and how often it was."""
        again, begin = 0, time.monotonic()
        while True:
            before = self.shared()
            found = None if before and time.monotonic() - begin < patience else measure()
            if found is not None and (time.monotonic() - begin >= patience or not self.shared()):
                return found, again
            again += 1
            time.sleep(0.2)

    def close(self) -> None:
        for program in self._programs:
            program.stdin.close()
            program.wait()

    @staticmethod
    def _ask(program: subprocess.Popen, times: int):
        program.stdin.write(f"{times}\n")
        program.stdin.flush()
        return lambda: float(program.stdout.readline())
