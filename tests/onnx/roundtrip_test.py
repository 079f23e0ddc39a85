"""Imports and exports every exported graph unchanged; ONNX Runtime must compute the same bits, unoptimized.

    python roundtrip_test.py ROUNDTRIP [--graph NAME] [--keep DIRECTORY]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "exported"))
import likeness
import onnx
import restore


def check(name: str, roundtrip: str, folder: Path) -> str:
    """Returns what is wrong (empty: nothing)."""
    before, after = folder / f"{name}.onnx", folder / f"{name}.written.onnx"
    original = restore.restore(restore.GRAPHS / f"{name}.onnx.xz")
    onnx.save(original, before)
    run = subprocess.run([roundtrip, str(before), str(after)], capture_output=True, text=True)
    if run.returncode != 0:
        return f"exit code {run.returncode}: {run.stderr.strip()[-600:]}"
    result = onnx.load(after)
    try:
        onnx.checker.check_model(result)
    except onnx.checker.ValidationError as error:
        return f"the checker refuses the result: {error}"
    if wrong := likeness.differing_presentation(original, result):
        return wrong
    inputs = restore.random_inputs(name)
    expected = likeness.outputs_of(str(before), inputs, likeness.DISABLED)
    try:
        actual = likeness.outputs_of(str(after), inputs, likeness.DISABLED)
    except Exception as error:  # ONNX Runtime has no common type of errors
        return f"ONNX Runtime refuses the result: {error}"
    return likeness.differing_outputs(expected, actual, tolerance=0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("roundtrip", help="the program made of roundtrip.cc")
    parser.add_argument("--graph", action="append", help="only this graph; may be repeated")
    parser.add_argument("--keep", type=Path, help="leave the models in this directory")
    options = parser.parse_args()
    names = options.graph or list(restore.table())
    failed = 0
    for name in names:
        with tempfile.TemporaryDirectory() as temporary:
            folder = options.keep or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            wrong = check(name, options.roundtrip, folder)
        if wrong:
            print(f"FAILED {name}: {wrong}", flush=True)
        failed += bool(wrong)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
