#!/usr/bin/env python3
"""Each measuring program must at least start: most of them run too long for a test, and share functions with others."""

import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parent.parent / "bench"
OTHER_PYTHON = "import torch\n"  # of programs that run in an environment of their own


def main() -> None:
    started = 0
    for program in sorted(BENCH.glob("*.py")):
        source = program.read_text()
        if "ArgumentParser" not in source or OTHER_PYTHON in source:
            continue
        done = subprocess.run([sys.executable, program, "--help"], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and done.stdout.startswith("usage: "), f"{program.name}: {done.stderr}"
        started += 1
    assert started >= 8, started


if __name__ == "__main__":
    main()
