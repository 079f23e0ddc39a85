#!/usr/bin/env python3
"""Training curves equal those that PyTorch recorded (curves_torch.py): 100 steps from the same weights on the same data, in the
built-in runtime and in ONNX Runtime, and after optimization. So do running statistics after the last step. Parameters and state are
compared after 10 steps.

    curves_test.py ISOMER
"""

from __future__ import annotations

import functools
import json
import pathlib
import subprocess
import sys
import tempfile

import isomer
import numpy as np
import onnx
import onnxruntime
from curves import CURVES, MOMENTUM, STATISTICS, STEPS, WITH_OPERATOR, batches, model, weights

program = sys.argv[1]
recorded = json.loads((pathlib.Path(__file__).parent / "curves.json").read_text())
# Rounding errors of f32 grow from step to step.
TOLERANCE = 1e-4
# After this many steps, the parameters and the optimizer's state are compared, too.
COMPARED_STEPS = 10


def named(session: isomer.Session, outputs: list[str]):
    """What runs the session and returns these outputs, in order."""
    def run(inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        found = session.run(inputs)
        return [found[output] for output in outputs]

    return run


def merged(session: isomer.Session, report: dict, outputs: list[str]):
    """What runs a step with merged parameters as `report` lists them, for the values of the model itself."""
    def run(inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        values = dict(inputs)
        for one in report["merged"]:
            values[one["input"]] = np.concatenate([values.pop(part) for part in one["parts"]], one["axis"])
        found = session.run(values)
        for one in report["merged"]:
            sizes = [inputs[part].shape[one["axis"]] for part in one["parts"]]
            pieces = np.split(found["new/" + one["input"]], np.cumsum(sizes)[:-1], one["axis"])
            found.update({"new/" + part: piece for part, piece in zip(one["parts"], pieces)})
        return [found[output] for output in outputs]

    return run


def train(run, name: str, initial: dict[str, np.ndarray], outputs: list[str]) -> tuple[np.ndarray, dict[str, np.ndarray],
                                                                                       dict[str, np.ndarray]]:
    """The loss of each step, and parameters and state after COMPARED_STEPS and after all; `run` maps inputs to outputs."""
    values = dict(initial)
    curve, compared = [], {}
    for x, labels in batches(name):
        found = dict(zip(outputs, run({**values, "x": x, "labels": labels})))
        curve.append(float(found["loss"]))
        values = {key: found["new/" + key] for key in values}
        if len(curve) == COMPARED_STEPS:
            compared = values
    return np.array(curve), compared, values


def in_pytorch(key: str, found: np.ndarray) -> np.ndarray:
    """A running statistic of ONNX as PyTorch has it, whose variances of batches are estimates from samples."""
    if not key.startswith("var"):
        return found
    first = MOMENTUM**STEPS  # what is left of the initial variance, 1
    return first + (found - first) * STATISTICS[key] / (STATISTICS[key] - 1)


def distance(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> float:
    """The maximum distance of two states: of each tensor, relative to its largest element. Gradients of biases in front of
    normalizations are 0 but for rounding errors, and so is their momentum: these are compared with 1e-3."""
    return max(float(abs(a[key] - b[key]).max() / max(abs(a[key]).max(), 1e-3)) for key in a)


def optimize(step: pathlib.Path, output: pathlib.Path, *options: str) -> dict:
    """Optimizes a step, checks the certificate, and returns the report."""
    certificate = output.with_suffix(".certificate")
    done = subprocess.run([program, "optimize", step, "-o", output, "--certificate", certificate, "--json", *options],
                          check=True, capture_output=True)
    subprocess.run([program, "verify", certificate, step, output], check=True, stdout=subprocess.DEVNULL)
    onnx.checker.check_model(output, full_check=True)
    return json.loads(done.stdout)


for name, (optimizer, rate) in CURVES.items():
    with tempfile.TemporaryDirectory(prefix="isomer-curves-") as folder:
        given, step, optimized, measured, joined = (
            pathlib.Path(folder) / f"{file}.onnx" for file in ("model", "step", "optimized", "measured", "joined"))
        onnx.save(model(name), given)
        subprocess.run([program, "grad", given, "--loss", "loss", "--optimizer", optimizer, "--rate", str(rate), "-o", step,
                        *[option for key in weights(name) for option in ("--wrt", key)]], check=True, stdout=subprocess.DEVNULL)
        optimize(step, optimized, "--engine", "roofline")
        assert optimized.read_bytes() != step.read_bytes(), f"{name}: nothing was optimized"
        report = optimize(step, measured, "--engine", "onednn", "--max-candidates", "8", "--time-budget", "60",
                          "--min-speedup", "0", "--profile-db", str(measured.with_suffix(".db")))
        assert report["search"]["candidates"] > 0 and not report["search"]["rejected"], (name, report["search"])
        assert "dropped" not in report["outcome"], (name, report["outcome"])
        # The transformer's queries, keys and values read the same data.
        report = {"merged": []}
        if name == "transformer":
            report = optimize(step, joined, "--engine", "roofline", "--merge-parameters")
            assert report["merged"][0]["parts"] == ["q", "k", "v"], report["merged"]
        onnx.checker.check_model(step, full_check=True)
        written = onnx.load(step)
        outputs = [output.name for output in written.graph.output]
        initial = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in written.graph.initializer
                   if "new/" + tensor.name in outputs}
        quiet = onnxruntime.SessionOptions()
        quiet.log_severity_level = 3
        ort = onnxruntime.InferenceSession(step, quiet, providers=["CPUExecutionProvider"])
        runs = {"built-in runtime": named(isomer.Session(str(step), engine="onednn"), outputs),
                "optimized": named(isomer.Session(str(optimized), engine="onednn"), outputs),
                "optimized by measurements": named(isomer.Session(str(measured), engine="onednn"), outputs),
                "ONNX Runtime": functools.partial(ort.run, outputs)}
        if report["merged"]:
            runs["merged"] = merged(isomer.Session(str(joined), engine="onednn"), report, outputs)
        states = {}
        for engine, run in runs.items():
            curve, states[engine], last = train(run, name, initial, outputs)
            expected = np.array(recorded["losses"][WITH_OPERATOR.get(name, name)])
            difference = float((abs(curve - expected) / abs(expected)).max())
            far = distance(states["built-in runtime"], states[engine])
            assert expected[-20:].mean() < 0.8 * expected[:5].mean(), f"{name} does not learn"
            assert difference < TOLERANCE, (name, engine, difference)
            assert far < TOLERANCE, (name, engine, far)
            for key, running in recorded["statistics"].get(name, {}).items():
                assert np.allclose(in_pytorch(key, last[key]), running, rtol=TOLERANCE, atol=TOLERANCE), (name, engine, key)
            print(f"{name}, {optimizer}, {engine}: loss {curve[0]:.4f} to {curve[-1]:.4f}, relative difference {difference:.1e}; "
                  f"state after {COMPARED_STEPS} steps: {far:.1e}")
