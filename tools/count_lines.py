#!/usr/bin/env python3
"""Prints the files and lines of C++ in each room of src/isomer, without and with tests: `tools/count_lines.py [COMMIT]`. Lines of
the working tree are counted unless a commit is named."""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST = re.compile(r"_test\.cc$|_fuzz\.cc$|testing\.h$")


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main() -> int:
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        return 2
    commit = sys.argv[1] if len(sys.argv) == 2 else None
    names = git("ls-tree", "-r", "--name-only", commit, "src/isomer") if commit else git("ls-files", "src/isomer")
    files, lines, tests = (collections.Counter[str]() for _ in range(3))
    for name in names.splitlines():
        if not name.endswith((".cc", ".h")):
            continue
        text = git("show", f"{commit}:{name}") if commit else (ROOT / name).read_text()
        room = name.split("/")[2]
        if TEST.search(name):
            tests[room] += text.count("\n")
        else:
            files[room] += 1
            lines[room] += text.count("\n")
    print(f"{'room':12} {'files':>5} {'lines':>6} {'lines of tests':>14}")
    for room in sorted(files):
        print(f"{room:12} {files[room]:5} {lines[room]:6} {tests[room]:14}")
    print(f"{'all':12} {files.total():5} {lines.total():6} {tests.total():14}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
