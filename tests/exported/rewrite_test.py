"""Applies each rule by itself to each exported graph, gain or no gain, and compares the results in ONNX Runtime.

    python rewrite_test.py REWRITE_EACH [--graph NAME] [--keep DIRECTORY]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import likeness
import onnx
import restore
from optimize_test import HALF_TOLERANCE, TOLERANCE


def check_rewritten(original: onnx.ModelProto, path: Path, inputs: dict, expected: list) -> str:
    """Returns what is wrong with a rewritten model (empty: nothing)."""
    result = onnx.load(path)
    try:
        onnx.checker.check_model(result)
    except onnx.checker.ValidationError as error:
        return f"the checker refuses it: {error}"
    if wrong := likeness.differing_presentation(original, result):
        return wrong
    try:
        actual = likeness.outputs_of(str(path), inputs, likeness.DISABLED)
    except Exception as error:  # ONNX Runtime has no common type of errors
        return f"ONNX Runtime refuses it: {error}"
    return likeness.differing_outputs(expected, actual, HALF_TOLERANCE if likeness.is_half(original) else TOLERANCE)


def check(name: str, program: str, folder: Path) -> dict[str, str]:
    """What is wrong, by rule; empty for the good ones."""
    before, after = folder / f"{name}.onnx", folder / name
    after.mkdir()
    original = restore.restore(restore.GRAPHS / f"{name}.onnx.xz")
    onnx.save(original, before)
    run = subprocess.run([program, str(before), str(after)], capture_output=True, text=True)
    if run.returncode != 0:
        return {"all": f"exit code {run.returncode}: {run.stderr.strip()[-600:]}"}
    inputs = restore.random_inputs(name)
    expected = likeness.outputs_of(str(before), inputs, likeness.DISABLED)
    return {path.stem: check_rewritten(original, path, inputs, expected) for path in sorted(after.glob("*.onnx"))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the program made of rewrite_each.cc")
    parser.add_argument("--graph", action="append", help="only this graph; may be repeated")
    parser.add_argument("--keep", type=Path, help="leave the models in this directory")
    options = parser.parse_args()
    used, failed = Counter(), 0
    for name in options.graph or restore.table():
        with tempfile.TemporaryDirectory() as temporary:
            folder = options.keep or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            for rule, wrong in check(name, options.program, folder).items():
                used[rule] += 1
                failed += bool(wrong)
                if wrong:
                    print(f"FAILED {name}, {rule}: {wrong}", flush=True)
    print("graphs by rule:", ", ".join(f"{rule} {count}" for rule, count in used.most_common()))
    print(f"{used.total() - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
