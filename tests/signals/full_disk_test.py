"""Isomer where there is no space left.

    python full_disk_test.py ISOMER

Needs a small file system of its own in memory: mounts one, where that is allowed, or does so in a user namespace. Where
neither is possible, the test says so and is skipped (exit code 77).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from models import write_branches

SKIPPED = 77
SIZE = 256 << 10
IN_NAMESPACE = "ISOMER_TEST_IN_NAMESPACE"


def mount(folder: Path) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def fill(folder: Path) -> None:
    with open(folder / "filler", "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass


def run(isomer: str, *arguments: str, temporary: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.run([isomer, *arguments], env=environment, capture_output=True, text=True, check=False)


def expect(result: subprocess.CompletedProcess[str], *words: str) -> None:
    said = result.stdout + result.stderr
    if result.returncode != 2 or not all(word in said for word in words):
        sys.exit(f"{result.args[1:]}: exit code {result.returncode}, expected 2 and {words}:\n{said}")


def test(isomer: str, folder: Path, full: Path) -> None:
    model = folder / "model.onnx"
    write_branches(model)
    database = str(folder / "profile.db")
    fill(full)
    common = ["optimize", str(model), "--profile-db", database]
    # In a short time, a slow machine might attempt nothing, which is not a failure.
    limits = ["--time-budget", "1000000", "--max-candidates", "20"]
    for search in ("auto", "greedy", "backtrack", "enumerate"):
        output = folder / f"{search}.onnx"
        result = run(isomer, *common, *limits, "--search", search, "-o", str(output), temporary=full)
        expect(result, "nothing could be measured", "No space left on device")
        if output.exists():
            sys.exit(f"{output.name} was written")
    before = sorted(full.iterdir())
    written = [*limits, "--search", "backtrack", "-o", str(full / "out.onnx")]
    expect(run(isomer, *common, *written, temporary=folder), "No space left on device")
    expect(run(isomer, "run", str(model), "--output-dir", str(full), temporary=folder), "No space left on device")
    if sorted(full.iterdir()) != before:
        sys.exit(f"left on the full disk: {sorted(full.iterdir())}, before: {before}")


def main(isomer: str) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        full = folder / "full"
        full.mkdir()
        if not mount(full):
            namespace = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, __file__, isomer]
            possible = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "true"], check=False)
            if IN_NAMESPACE in os.environ or possible.returncode != 0:
                print("skipped: no file system can be mounted here")
                return SKIPPED
            return subprocess.run(namespace, env={**os.environ, IN_NAMESPACE: "1"}, check=False).returncode
        try:
            test(isomer, folder, full)
        finally:
            subprocess.run(["umount", str(full)], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
