"""The program with closed or full standard streams.

    python streams_test.py ISOMER
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from models import write_branches


def run(command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a shell command in which "$@" stands for the arguments."""
    return subprocess.run(["sh", "-c", command, "sh", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def main() -> int:
    isomer = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.onnx"
        write_branches(model)
        # What is printed must not reach the pipe that signals go through: it decided by chance, hence the repetitions.
        for _ in range(20):
            for closed in ("<&-", ">&-", "<&- >&-", "<&- >&- 2>&-"):
                done = run(f'"$@" {closed}', isomer, "inspect", str(model))
                assert done.returncode == 0, f"{closed}: exit code {done.returncode}: {done.stderr}"
        # A report that fits into the buffer of standard output, and one that does not.
        for arguments in (["models"], ["rules", "list"], ["--help"]):
            done = run('"$@" >/dev/full', isomer, *arguments)
            assert done.returncode == 2, f"{arguments}: exit code {done.returncode}"
            assert "No space left on device" in done.stderr or "cannot be written" in done.stderr, done.stderr
    return 0


if __name__ == "__main__":
    sys.exit(main())
