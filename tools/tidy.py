#!/usr/bin/env python3
"""Lints the named sources with clang-tidy, those that changed since they were last found clean.

    tools/tidy.py build-lint [--checks='-clang-analyzer-*'] src/isomer/ir/graph.cc ...

The folder is a configured build that compiles each source by itself (-DCMAKE_UNITY_BUILD=OFF); nothing needs to be built in
it but the generated headers. A source is the same when its text, that of every header of ours that it sees, its compile
command, .clang-tidy and the checks are. What was clean is remembered in BUILD/tidy, so that a long run that was interrupted
goes on where it stopped. Exits with 1 when a source has findings, and prints them.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import subprocess
import sys

from check_rooms import includes, seen_by

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Debian 12's version takes three times as long: it also looks for faults in the system's headers.
CLANG_TIDY = ROOT / ".venv/bin/clang-tidy"


@functools.cache
def text_hash(path: str) -> bytes:
    return hashlib.sha256(pathlib.Path(path).read_bytes()).digest()


def signatures(build: pathlib.Path, sources: list[str], checks: str) -> dict[str, str]:
    """What the verdict on each source depends on, as a hash. Raises KeyError for a source that the build does not compile."""
    commands = {entry["file"]: entry for entry in json.loads((build / "compile_commands.json").read_text())}
    version = subprocess.run([CLANG_TIDY, "--version"], check=True, capture_output=True).stdout
    common = hashlib.sha256(version + (ROOT / ".clang-tidy").read_bytes() + checks.encode())
    result = {}
    for source in sources:
        entry = commands[str(ROOT / source)]
        signature = common.copy()
        signature.update(entry["command"].encode())
        seen: dict[str, str] = {}
        for _, header in includes(ROOT / source):
            seen_by(header, seen, header)
        for file in [source, *(f"src/{header}" for header in sorted(seen))]:
            signature.update(file.encode() + text_hash(str(ROOT / file)))
        result[source] = signature.hexdigest()
    return result


def lint(build: pathlib.Path, source: str, checks: str) -> str:
    """clang-tidy's findings; empty when the source is clean."""
    command = [CLANG_TIDY, "-p", build, "--quiet", *([f"--checks={checks}"] if checks else []), source]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return f"{source}: exit code {done.returncode}\n{done.stdout}{done.stderr}" if done.returncode else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("sources", nargs="+", help="relative to the repository's root")
    parser.add_argument("--checks", default="", help="added to those of .clang-tidy")
    args = parser.parse_args()
    if not CLANG_TIDY.exists():
        parser.error(f"{CLANG_TIDY} is missing; tools/setup installs it")
    build = args.build.resolve()
    clean = build / "tidy"
    clean.mkdir(exist_ok=True)
    todo = {s: h for s, h in signatures(build, args.sources, args.checks).items() if not (clean / h).exists()}
    failed = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = {pool.submit(lint, build, source, args.checks): source for source in todo}
        for future in concurrent.futures.as_completed(futures):
            if findings := future.result():
                failed = True
                print(findings, flush=True)
            else:
                (clean / todo[futures[future]]).touch()
    print(f"clang-tidy: {len(args.sources)} sources, {len(args.sources) - len(todo)} unchanged since they were clean")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
