# Tells workers when other load disturbs measurements. engine/worker/worker.py stands before this part in the same program.

import bisect
import concurrent.futures
import threading


class NoiseFilter:
    """Waits until other load ends, repeats what it disturbed, and tells how much slower the machine is if other load lasts, as
    engine/noise_filter.h does: from the time that a fixed amount of work takes."""

    def __init__(self, threads):
        self.pool = concurrent.futures.ThreadPoolExecutor(threads)
        self.barrier = threading.Barrier(threads)
        self.probes = []  # seconds, ascending; without those that were only waited for
        self.last_probe, self.last_probe_end = None, 0
        self.patience = 2.0  # seconds that may still be lost

    def probe(self):
        """Seconds of the work on as many threads at the same time."""
        if self.barrier.parties == 1:
            return arithmetic()  # on the core of this thread, which also measures
        return max(self.pool.map(lambda _: self.work(), range(self.barrier.parties)))

    def work(self):
        self.barrier.wait()
        return arithmetic()

    def next_probe(self):
        probe = self.probe()
        bisect.insort(self.probes, probe)
        self.last_probe, self.last_probe_end = probe, time.perf_counter()
        return probe

    def slowdown(self, probe):
        """How many times as long as usual kernels take when a probe takes so long; 1 if the machine is quiet."""
        # The fastest of all may be a moment at a higher clock rate, which few measurements meet.
        longer = probe / self.probes[len(self.probes) // 4]
        return 1 if longer <= 1.08 else longer**0.8  # not all kernels wait for arithmetic units

    def watch(self, measure, stop):
        """Calls `measure` when the machine is quiet, for which it waits until the time `stop` at the latest. Returns how many
        times as long as usual that took, and its seconds. The first is None if it must be repeated, since other load began
        meanwhile. Waits and repeats only for a share of all time."""
        clock = time.perf_counter
        # Other load comes and goes within some tenths of a second.
        fresh = self.last_probe is not None and clock() - self.last_probe_end < 0.01
        before = self.last_probe if fresh else self.next_probe()
        begin = clock()
        end = min(begin + min(self.patience, 0.3), stop)
        while self.slowdown(before) > 1 and clock() < end:
            before = self.probe()
        start = clock()
        self.patience -= start - begin
        measure()
        seconds = clock() - start
        behind = self.next_probe()
        slowdown = max(self.slowdown(before), self.slowdown(behind))
        if slowdown > 1 and self.patience > 0:
            self.patience -= seconds
            return None, seconds
        self.patience = min(self.patience + 0.15 * seconds, 2.0)
        return self.slowdown((before + behind) / 2), seconds


def arithmetic():
    """Seconds of the shortest of some equal computations. They keep a core's arithmetic units busy, so that they take longer
    while another program shares the core, and they need little memory and seldom Python's lock."""
    clock = time.perf_counter
    numbers = np.full(1 << 15, 0.3, dtype=np.float32)
    results = np.empty_like(numbers)
    shortest = float("inf")
    for _ in range(3):
        start = clock()
        for _ in range(6):
            np.exp(numbers, out=results)
        shortest = min(shortest, clock() - start)
    return shortest
