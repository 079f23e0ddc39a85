"""Environments of packages that the fast check does without, and the program run in them."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import venv


def with_packages(folder: pathlib.Path, *packages: str) -> pathlib.Path:
    """The Python of an environment that has these packages, made where it is not there yet."""
    python = folder / "bin/python"
    stamp = folder / "packages.txt"
    if not stamp.exists() or stamp.read_text() != " ".join(packages):
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages], check=True)
        stamp.write_text(" ".join(packages))
    return python


class Isomer:
    """The program, with a Python for its workers."""

    def __init__(self, program: str, python: pathlib.Path | str):
        self.program = program
        self.environment = {**os.environ, "ISOMER_PYTHON": str(python)}

    def run(self, *args: object) -> subprocess.CompletedProcess:
        command = [self.program, *map(str, args)]
        return subprocess.run(command, capture_output=True, text=True, env=self.environment)

    def report(self, *args: object, code: int = 0) -> dict:
        done = self.run(*args, "--json")
        if done.returncode != code:
            raise SystemExit(f"isomer {' '.join(map(str, args))}: exit code {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def error(self, *args: object) -> str:
        """What it says on bad input."""
        done = self.run(*args)
        if done.returncode != 2:
            raise SystemExit(f"isomer {' '.join(map(str, args))}: exit code {done.returncode}, not 2")
        return done.stderr


def run_all(tests: dict) -> int:
    """Runs functions named test_*, and says which failed."""
    failed = 0
    for name, test in tests.items():
        if not name.startswith("test_"):
            continue
        try:
            test()
            print(f"{name}: passed", flush=True)
        except (AssertionError, SystemExit) as error:
            failed += 1
            print(f"{name}: FAILED: {error}", file=sys.stderr, flush=True)
    return 1 if failed else 0
