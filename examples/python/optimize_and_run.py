#!/usr/bin/env python3
"""Optimizes an ONNX model, then runs the model and the result on the same NumPy arrays.

    optimize_and_run.py MODEL.onnx FASTER.onnx [ENGINE]

ENGINE is what the model is optimized for: onednn (preset), ort, or roofline, which measures nothing. The model's inputs are
of floats; extents that may differ from run to run are 1.
"""

import re
import sys

import numpy as np

import isomer


def random_input(rng: np.random.Generator, text: str) -> np.ndarray:
    """An array of a type such as "f32[N,16]"."""
    dtype, extents = re.fullmatch(r"(\w+)\[(.*)\]", text).groups()
    if dtype != "f32":
        sys.exit(f"an input is {text}, not of f32")
    shape = [int(extent) if extent.isdigit() else 1 for extent in extents.split(",") if extent]
    return rng.standard_normal(shape).astype(np.float32)


def main() -> None:
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    model = isomer.load(sys.argv[1])
    result = isomer.optimize(model, engine=sys.argv[3] if len(sys.argv) > 3 else "onednn")
    result.save(sys.argv[2])
    print(result.report["outcome"])

    rng = np.random.default_rng(1)
    inputs = {name: random_input(rng, text) for name, text in model.inputs}
    before = model.run(inputs, engine="onednn")
    after = isomer.run(sys.argv[2], inputs, engine="onednn")
    largest = max(float(np.abs(before[name] - after[name]).max()) for name in before)
    print(f"largest difference {largest:.9g}")


if __name__ == "__main__":
    main()
