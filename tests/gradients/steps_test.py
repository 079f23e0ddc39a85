#!/usr/bin/env python3
"""Optimized training steps of benchmark networks do what the steps themselves do: the optimizer's state, which sums gradients, and
running statistics are compared after 10 steps, the update of each parameter is checked in one step with a large momentum, and the
certificates are verified. (curves_test.py does so for small networks that learn.) Where batch normalizations amplify rounding
errors, up to a quarter of the sums of gradients are too uncertain to be compared.

    steps_test.py ISOMER [--network NAME]
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import tempfile

import isomer
import numpy as np
import onnx

# Batches and rates. Batch normalizations amplify rounding errors, with small batches and from step to step; with a small rate, the
# steps stay near each other. Weights are random, so nothing is learned.
NETWORKS = {"resnet50": (8, 1e-6), "inception-v3": (8, 1e-6), "mobilenet-v2": (8, 1e-6), "squeezenet-bypass": (2, 1e-6),
            "alexnet": (2, 1e-4), "bert-base": (1, 1e-4), "lstm": (4, 1e-4), "rnntc": (4, 1e-4), "nmt": (2, 1e-4),
            "nasrnn": (4, 1e-4)}
STEPS = 10
STATE = "momentum/"
LARGE = 1e3
# How far steps from slightly other parameters lead away shows how far rounding errors may.
PERTURBATION = 1e-6
ALLOWED = 3
# Wrong gradients would lead further away. Rounding errors lead as far where a gradient is 0 but for them, as that of a bias in
# front of a normalization: there, the distance is the ratio of two rounding errors, and says nothing.
SMALL = 0.3


def train(session: isomer.Session, initial: dict[str, np.ndarray], data: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Parameters and the optimizer's state after the steps."""
    values = dict(initial)
    for _ in range(STEPS):
        found = session.run({**values, **data})
        values = {key: found["new/" + key] for key in values}
    return values


def check_updates(session: isomer.Session, initial: dict[str, np.ndarray], data: dict[str, np.ndarray], rate: float) -> None:
    """Checks that each parameter moves by its momentum, within the rounding of f32. Small rates hardly move parameters, so their
    distances after some steps would not detect an error; here the momentum is large."""
    generator = np.random.default_rng(1)
    before = {key: (LARGE * generator.standard_normal(value.shape)).astype(value.dtype) if key.startswith(STATE) else value
              for key, value in initial.items()}
    found = session.run({**before, **data})
    for key in filter(lambda key: key.startswith(STATE), before):
        parameter = key.removeprefix(STATE)
        old, new = (value.astype(np.float64) for value in (before[parameter], found["new/" + parameter]))
        update = rate * found["new/" + key].astype(np.float64)
        rounding = 2 * np.finfo(np.float32).eps * (abs(old) + abs(update))
        assert (abs(old - update - new) <= rounding).all(), f"{parameter} has not moved by its momentum"
        assert (abs(update) > rounding).any(), f"{parameter}: this comparison would not detect an error"


def compared_keys(values: dict[str, np.ndarray]) -> list[str]:
    """All but the parameters, which check_updates checks."""
    return [key for key in values if STATE + key not in values]


def distances(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> np.ndarray:
    """The distance of each sum of gradients and of each running statistic (compared_keys), relative to its size."""
    return np.array([np.linalg.norm(a[key] - b[key]) / max(np.linalg.norm(a[key]), 1e-30) for key in compared_keys(a)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("isomer")
    parser.add_argument("--network", action="append", choices=list(NETWORKS))
    args = parser.parse_args()
    compared = 0
    for name in args.network or NETWORKS:
        with tempfile.TemporaryDirectory(prefix="isomer-steps-") as folder:
            step, optimized, certificate = (pathlib.Path(folder) / file for file in ("step.onnx", "optimized.onnx", "certificate"))

            def run(*command: object) -> None:
                subprocess.run([args.isomer, *map(str, command)], check=True, stdout=subprocess.DEVNULL)

            batch, rate = NETWORKS[name]
            run("models", name, "--training", "--batch", batch, "--rate", rate, "-o", step)
            run("optimize", step, "-o", optimized, "--engine", "roofline", "--time-budget", 20, "--certificate", certificate)
            run("verify", certificate, step, optimized, "--inputs", 0)  # it is trained below
            if optimized.read_bytes() == step.read_bytes():
                print(f"{name}: the output is the input", flush=True)
                continue
            compared += 1
            written = onnx.load(step)
            outputs = [output.name for output in written.graph.output]
            initial = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in written.graph.initializer
                       if "new/" + tensor.name in outputs}
            generator = np.random.default_rng(0)
            data = {}
            for value in written.graph.input:
                if value.name in initial:
                    continue
                kind = value.type.tensor_type
                shape = [axis.dim_value for axis in kind.shape.dim]
                data[value.name] = (generator.standard_normal(shape).astype(np.float32) if kind.elem_type == onnx.TensorProto.FLOAT
                                    else generator.integers(0, 2, shape))
            moved = {key: (value * (1 + PERTURBATION * generator.standard_normal(value.shape))).astype(value.dtype)
                     for key, value in initial.items()}
            given, faster = (isomer.Session(str(model), engine="onednn", threads=2) for model in (step, optimized))
            expected = train(given, initial, data)
            allowed = distances(expected, train(given, moved, data))
            sums = np.array([key.startswith(STATE) for key in compared_keys(expected)])
            usual = float(np.median(allowed[sums]))
            far = distances(expected, train(faster, initial, data))
            check_updates(faster, initial, data, rate)
            limits = ALLOWED * np.maximum(allowed, usual)
            excess = (far / limits)[limits < SMALL]
            shown = float(np.mean(limits[sums] < SMALL))
            print(f"{name}: {len(far)} sums of gradients and statistics after {STEPS} steps; median distance of sums "
                  f"{np.median(far[sums]):.1e}, {usual:.1e} if parameters change by {PERTURBATION}; at most {excess.max():.2f} of "
                  f"the allowed distance, where that is small, which holds for {shown:.0%} of the sums", flush=True)
            assert shown > 0.75, f"{name}: this comparison shows little"
            assert excess.max() <= 1, name
    assert args.network or compared >= 6, "most steps were not optimized"


if __name__ == "__main__":
    main()
