"""What workers do about other load, on a machine whose probes and clock are made up.

    python noise_filter_test.py ISOMER_SOURCE
"""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Callable
from pathlib import Path


class Machine:
    """A clock, and the seconds that the next probes take: of a list, and after it always the same."""

    def __init__(self, module: types.ModuleType, probes: list[float]) -> None:
        self.now = 0.0
        self.probed = 0
        self.probes = probes
        module.time = types.SimpleNamespace(perf_counter=lambda: self.now)
        self.filter = module.NoiseFilter(1)
        self.filter.probe = self.probe

    def probe(self) -> float:
        self.now += 0.001
        self.probed += 1
        return self.probes[min(self.probed, len(self.probes)) - 1]

    def watch(self, seconds: float = 0.01, stop: float = float("inf"), pause: float = 0.02) -> float | None:
        def measure() -> None:
            self.now += seconds

        self.now += pause  # by default so long that the last probe says nothing any more
        slowdown, passed = self.filter.watch(measure, stop)
        assert abs(passed - seconds) < 1e-9
        return slowdown


QUIET = [1.0] * 8  # four measurements


def waits_for_a_quiet_machine(machine_of: Callable[[list[float]], Machine]) -> None:
    machine = machine_of([*QUIET, 1.5, 1.5, 1.5, 1.0, 1.0])
    assert [machine.watch() for _ in range(5)] == [1] * 5
    assert machine.probed == 13


def repeats_what_was_disturbed(machine_of: Callable[[list[float]], Machine]) -> None:
    machine = machine_of([*QUIET, 1.0, 1.5, 1.5, 1.0, 1.0])
    assert [machine.watch() for _ in range(6)] == [1, 1, 1, 1, None, 1]


def corrects_when_other_load_lasts(machine_of: Callable[[list[float]], Machine]) -> None:
    machine = machine_of([*[1.0] * 2000, 1.5])
    for _ in range(1000):
        assert machine.watch() == 1
    before = machine.now
    slowdown = None
    while slowdown is None:
        slowdown = machine.watch()
        assert machine.now - before < 10
    assert abs(slowdown - 1.5**0.8) < 1e-9
    assert abs(machine.now - before - 2) < 0.6
    before = machine.now
    machine.watch()
    assert machine.now - before < 0.1, "nothing is left to wait for"


def probes_once_between_measurements(machine_of: Callable[[list[float]], Machine]) -> None:
    machine = machine_of(QUIET)
    for _ in range(4):
        machine.watch()
    assert [machine.watch(pause=0) for _ in range(2)] == [1, 1]
    assert machine.probed == 10


def stops_waiting_in_time(machine_of: Callable[[list[float]], Machine]) -> None:
    machine = machine_of([*QUIET, 1.5])
    for _ in range(4):
        machine.watch()
    begin = machine.now
    machine.watch(stop=begin + 0.05)
    assert machine.now - begin < 0.09


def gets_used_to_a_slower_machine(machine_of: Callable[[list[float]], Machine]) -> None:
    machine = machine_of([1.0, 1.2])
    assert [machine.watch() for _ in range(8)][-3:] == [1] * 3, "the machine was faster only once"


def computes_on_any_number_of_threads(module: types.ModuleType) -> None:
    for threads in (1, 2):
        assert 0 < module.NoiseFilter(threads).probe() < 10


def main() -> int:
    path = Path(sys.argv[1]) / "src/isomer/engine/worker/noise_filter.py"
    spec = importlib.util.spec_from_file_location("noise_filter", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    import time

    import numpy as np

    module.np, module.time = np, time
    computes_on_any_number_of_threads(module)
    for test in (
        waits_for_a_quiet_machine,
        repeats_what_was_disturbed,
        corrects_when_other_load_lasts,
        probes_once_between_measurements,
        stops_waiting_in_time,
        gets_used_to_a_slower_machine,
    ):
        test(lambda probes: Machine(module, probes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
