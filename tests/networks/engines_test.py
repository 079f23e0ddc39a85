#!/usr/bin/env python3
"""Runs benchmark networks on the runtime on oneDNN and on ONNX Runtime, and compares the outputs.

    engines_test.py ISOMER [NETWORK ...]        all networks unless some are named

Fails where an output differs by more than 1e-4 of its largest element.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

TOLERANCE = 1e-4


def isomer(program: str, *args: str) -> dict:
    done = subprocess.run([program, *args, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"isomer {' '.join(args)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def outputs(program: str, model: pathlib.Path, engine: str) -> list[numpy.ndarray]:
    folder = model.parent / engine
    report = isomer(program, "run", str(model), "--engine", engine, "--output-dir", str(folder))
    return [numpy.load(output["file"]) for output in report["outputs"]]


def difference(program: str, network: str) -> float:
    """The largest of all outputs, relative to the largest element of the same; infinite where one is not finite."""
    with tempfile.TemporaryDirectory() as temporary:
        model = pathlib.Path(temporary) / "model.onnx"
        isomer(program, "models", network, "-o", str(model))
        pairs = list(zip(outputs(program, model, "onednn"), outputs(program, model, "ort"), strict=True))
    if not all(numpy.isfinite(array).all() for pair in pairs for array in pair):
        return float("inf")
    return max(float(abs(got - expected).max() / abs(expected).max()) for got, expected in pairs)


def main() -> int:
    program, *networks = sys.argv[1:]
    networks = networks or [entry["name"] for entry in isomer(program, "models")["models"]]
    wrong = 0
    for network in networks:
        largest = difference(program, network)
        wrong += largest > TOLERANCE
        print(f"{network}: {largest:.0e}{' FAILED' if largest > TOLERANCE else ''}", flush=True)
    print(f"{len(networks) - wrong} passed, {wrong} failed")
    return 1 if wrong or not networks else 0


if __name__ == "__main__":
    sys.exit(main())
