#!/usr/bin/env python3
"""Training curves equal those that PyTorch recorded (curves_torch.py): 100 steps from the same weights on the same data, in the
built-in runtime and in ONNX Runtime, and after optimization.

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
from curves import CURVES, batches, model, weights

program = sys.argv[1]
recorded = json.loads((pathlib.Path(__file__).parent / "curves.json").read_text())["losses"]
# Rounding errors of f32 grow from step to step.
TOLERANCE = 1e-4


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


def losses(run, name: str, initial: dict[str, np.ndarray], outputs: list[str]) -> np.ndarray:
    """The loss of each step; `run` maps inputs to outputs."""
    values = dict(initial)
    curve = []
    for x, labels in batches(name):
        found = dict(zip(outputs, run({**values, "x": x, "labels": labels})))
        curve.append(float(found["loss"]))
        values = {key: found["new/" + key] for key in values}
    return np.array(curve)


for name, (optimizer, rate) in CURVES.items():
    with tempfile.TemporaryDirectory(prefix="isomer-curves-") as folder:
        given, step, optimized, certificate = (pathlib.Path(folder) / file
                                               for file in ("model.onnx", "step.onnx", "optimized.onnx", "certificate"))
        onnx.save(model(name), given)
        subprocess.run([program, "grad", given, "--loss", "loss", "--optimizer", optimizer, "--rate", str(rate), "-o", step,
                        *[option for key in weights(name) for option in ("--wrt", key)]], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([program, "optimize", step, "--engine", "roofline", "-o", optimized, "--certificate", certificate],
                       check=True, stdout=subprocess.DEVNULL)
        subprocess.run([program, "verify", certificate, step, optimized], check=True, stdout=subprocess.DEVNULL)
        assert optimized.read_bytes() != step.read_bytes(), f"{name}: nothing was optimized"
        # The transformer's queries, keys and values read the same data.
        joined, report = optimized.with_name("joined.onnx"), {"merged": []}
        if name == "transformer":
            done = subprocess.run([program, "optimize", step, "--engine", "roofline", "--merge-parameters", "-o", joined,
                                   "--certificate", certificate, "--json"], check=True, capture_output=True)
            report = json.loads(done.stdout)
            subprocess.run([program, "verify", certificate, step, joined], check=True, stdout=subprocess.DEVNULL)
            assert report["merged"][0]["parts"] == ["q", "k", "v"], report["merged"]
            onnx.checker.check_model(joined, full_check=True)
        onnx.checker.check_model(step, full_check=True)
        onnx.checker.check_model(optimized, full_check=True)
        written = onnx.load(step)
        outputs = [output.name for output in written.graph.output]
        initial = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in written.graph.initializer
                   if "new/" + tensor.name in outputs}
        quiet = onnxruntime.SessionOptions()
        quiet.log_severity_level = 3
        ort = onnxruntime.InferenceSession(step, quiet, providers=["CPUExecutionProvider"])
        runs = {"built-in runtime": named(isomer.Session(str(step), engine="onednn"), outputs),
                "optimized": named(isomer.Session(str(optimized), engine="onednn"), outputs),
                "ONNX Runtime": functools.partial(ort.run, outputs)}
        if report["merged"]:
            runs["merged"] = merged(isomer.Session(str(joined), engine="onednn"), report, outputs)
        for engine, run in runs.items():
            curve = losses(run, name, initial, outputs)
            expected = np.array(recorded[name])
            difference = float((abs(curve - expected) / abs(expected)).max())
            assert expected[-20:].mean() < 0.8 * expected[:5].mean(), f"{name} does not learn"
            assert difference < TOLERANCE, (name, engine, difference)
            print(f"{name}, {optimizer}, {engine}: loss {curve[0]:.4f} to {curve[-1]:.4f}, "
                  f"relative difference {difference:.1e}")
