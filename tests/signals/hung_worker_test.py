"""Runs of Isomer whose worker stops answering.

    python hung_worker_test.py ISOMER

Where only one worker hangs, a new one takes over and the run ends as others do. Where none answers any more, nothing can be
measured: exit code 2, and no output.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from models import write_branches

# Seconds that a run has until its worker measures a first kernel; a busy machine needs more than a few. A hung worker is waited
# for until these are over, and 30 more.
TIME_BUDGET = 60


def workers(temporary: Path, run: int) -> set[int]:
    """Processes of this test that run, without Isomer itself; found by their environment. One that still is a copy of Isomer
    is left out: Isomer waits for it to become a worker, and cannot be interrupted meanwhile."""
    mark = f"TMPDIR={temporary}".encode()
    found = set()
    try:
        isomer = os.readlink(f"/proc/{run}/exe")
    except OSError:  # it has ended
        return found
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes() and os.readlink(process / "exe") != isomer:
                found.add(int(process.name))
        except OSError:
            continue
    return found - {run, os.getpid()}


def has_measured(database: Path) -> bool:
    """Whether a kernel is in the profile database."""
    if not database.exists():
        return False
    try:
        with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM kernel").fetchone()[0] > 0
    except sqlite3.OperationalError:  # it is being made
        return False


def hang(process: subprocess.Popen[str], temporary: Path, database: Path, all_workers: bool) -> None:
    """Stops the workers of a run: the first one as soon as it has measured a kernel, the others at once or never."""
    while process.poll() is None and not has_measured(database):
        time.sleep(0.01)
    stopped: set[int] = set()
    while process.poll() is None:
        for pid in workers(temporary, process.pid) - stopped:
            try:
                os.kill(pid, signal.SIGSTOP)
            except ProcessLookupError:
                continue
            stopped.add(pid)
        if stopped and not all_workers:
            return
        time.sleep(0.01)


def run(isomer: str, folder: Path, search: str, all_workers: bool) -> tuple[int, str, Path]:
    name = f"{search}-{all_workers}"
    temporary, output, database = folder / f"{name}-tmp", folder / f"{name}.onnx", folder / f"{name}.db"
    temporary.mkdir()
    # fmt: off
    process = subprocess.Popen(
        [isomer, "optimize", str(folder / "model.onnx"), "-o", str(output), "--search", search,
         "--time-budget", str(TIME_BUDGET), "--profile-db", str(database)],
        env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # fmt: on
    hanging = threading.Thread(target=hang, args=(process, temporary, database, all_workers))
    hanging.start()
    said, _ = process.communicate()
    hanging.join()
    return process.returncode, said, output


def main(isomer: str) -> int | str:
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor() as pool:
        folder = Path(name)
        write_branches(folder / "model.onnx")
        # All at the same time: they mostly wait.
        one_hangs = {search: pool.submit(run, isomer, folder, search, all_workers=False) for search in ("auto", "backtrack")}
        all_hang = pool.submit(run, isomer, folder, "auto", all_workers=True)
        for search, ended in one_hangs.items():
            code, said, output = ended.result()
            if code != 0 or "did not answer within" not in said or not output.exists():
                return f"{search}, one worker hangs: exit code {code}\n{said}"
        code, said, output = all_hang.result()
        if code != 2 or "nothing could be measured" not in said or "did not answer within" not in said or output.exists():
            return f"all workers hang: exit code {code}\n{said}"
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
