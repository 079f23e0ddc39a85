"""Differentiates graphs as exporters write them, and compares with the original and with finite differences in ONNX Runtime.

    python gradients_test.py ISOMER [--graph NAME]

The loss is the sum of the elements of the first output of f32 times random numbers. All parameters are moved at once, and some
one by one; masks are ones. Graphs that have no gradient, with the reason, are listed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import restore
from onnx import helper, numpy_helper

REFUSED = {
    "torch_greedy_loop": "the model has no parameters",
    "torchvision_fasterrcnn_mobilenet_v3_large_320_fpn": "(TopK): no gradient: its result is i64",
    "torchvision_mobilenet_v3_small_qdq": "(QuantizeLinear): no gradient: Isomer does not interpret this node",
    "torchvision_squeezenet1_1_qoperator": "the model has no parameters",
    "torchvision_ssdlite320_mobilenet_v3_large": "(TopK): no gradient: Isomer does not interpret this node",
    "transformers_bert_dynamic_quantized": "(DynamicQuantizeLinear): no gradient: Isomer does not interpret this node",
}
LOSS = "weighted sum"
STEPS = (1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
# A wrong gradient differs by far more. Steps over kinks, and sums of f32, make the best of the differences inexact.
TOLERANCE = 0.05
RESOLVED = 0.02  # the share of a difference of losses that may be rounding errors
SAMPLE = 24  # parameters of a graph that are moved one by one


def with_extents(model: onnx.ModelProto, sizes: dict[str, int]) -> str | None:
    """Fixes the extents; returns the first output of f32."""
    for value in [*model.graph.input, *model.graph.output, *model.graph.value_info]:
        for axis in value.type.tensor_type.shape.dim:
            if axis.dim_param in sizes:
                axis.dim_value = sizes[axis.dim_param]
    return next((entry.name for entry in model.graph.output if entry.type.tensor_type.elem_type == onnx.TensorProto.FLOAT), None)


def add_loss(graph: onnx.GraphProto, output: str, weights: np.ndarray) -> None:
    """Weights, and not squares, so that the loss also depends on what an output is normalized from."""
    graph.node.append(helper.make_node("Constant", [], ["loss weights"], value=numpy_helper.from_array(weights)))
    graph.node.append(helper.make_node("Mul", [output, "loss weights"], ["weighted"]))
    graph.node.append(helper.make_node("ReduceSum", ["weighted"], [LOSS], keepdims=0))
    graph.output.append(helper.make_tensor_value_info(LOSS, onnx.TensorProto.FLOAT, []))


def session(model: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options)


class Slopes:
    """Differences of the losses of moved parameters, in comparison with gradients."""

    def __init__(self, model: onnx.ModelProto, inputs: dict[str, np.ndarray], gradients: dict[str, np.ndarray], file: Path) -> None:
        # In the model without the nodes of gradients, which take most of the time.
        known = {value.name for value in model.graph.input}
        for tensor in model.graph.initializer:
            if tensor.name in gradients and tensor.name not in known:
                model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
        onnx.save(model, file)
        self.session, self.inputs, self.gradients = session(file), inputs, gradients
        self.values = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer if tensor.name in gradients}
        self.generator = np.random.default_rng(0)
        # How far losses differ if only rounding errors do.
        tiny = {key: 1e-7 * value * self.generator.choice([-1, 1], value.shape) for key, value in self.values.items()}
        losses = [self.loss(tiny, step) for step in (-1.5, -1, -0.5, 0, 0.5, 1, 1.5)]
        self.rounding = max(losses) - min(losses) + 1e-7 * abs(losses[3])
        self.ratios: list[float] = []
        self.unresolved = 0

    def loss(self, ways: dict[str, np.ndarray], step: float) -> float:
        moved = {key: (self.values[key] + step * way).astype(self.values[key].dtype) for key, way in ways.items()}
        return float(self.session.run([LOSS], {**self.inputs, **moved})[0])

    def wrong(self, keys: list[str]) -> str:
        """Moves these parameters. Returns what is wrong, if anything."""
        ways, slope = {}, 0.0
        for key in keys:
            # Half uphill, so that the difference is large in comparison with the rounding of the loss.
            value, gradient = self.values[key], self.gradients[key].astype(np.float64)
            uphill = gradient / max(np.sqrt(np.mean(gradient**2)), 1e-30)
            ways[key] = (np.abs(value).mean() + 1e-3) * (uphill + self.generator.standard_normal(gradient.shape))
            slope += float(np.sum(gradient * ways[key]))
        found = []
        for step in STEPS:
            difference = (self.loss(ways, step) - self.loss(ways, -step)) / (2 * step)
            error = self.rounding / step
            if error > RESOLVED * abs(slope):
                # Smaller steps say less. This one must not show a slope where none is expected.
                if not found and not abs(difference - slope) <= 3 * error + TOLERANCE * abs(slope):
                    return f"{', '.join(keys)}: finite difference {difference} of step {step}, {slope} +- {3 * error:.1e} expected"
                break
            found.append(difference)
            if abs(difference - slope) <= TOLERANCE * abs(slope):
                self.ratios.append(difference / slope)
                return ""
        self.unresolved += not found
        return f"{', '.join(keys)}: finite differences {found}, {slope} expected" if found else ""


def check(name: str, isomer: str, folder: Path) -> tuple[str, str]:
    """Returns what is wrong (empty: nothing) and what was done."""
    entry = restore.table()[name]
    model = restore.restore(restore.GRAPHS / f"{name}.onnx.xz")
    output = with_extents(model, entry["dynamic"])
    if output is None:
        return "", "no output of f32"
    before, after = folder / "model.onnx", folder / "gradients.onnx"
    onnx.save(model, before)
    # If a mask left nothing of a row, its scores would be lost in the rounding of -3e38, and finite differences would be 0.
    inputs = {key: np.ones_like(value) if "mask" in key else value for key, value in restore.random_inputs(name).items()}
    expected = session(before).run([output], inputs)[0]
    weights = np.random.default_rng(1).standard_normal(expected.shape).astype(np.float32)
    add_loss(model.graph, output, weights)
    onnx.save(model, before)
    run = subprocess.run([isomer, "grad", before, "--loss", LOSS, "-o", after, "--json"], capture_output=True, text=True)
    if name in REFUSED:
        refused = run.returncode == 2 and REFUSED[name] in run.stderr
        return ("" if refused else f"exit code {run.returncode}: {run.stderr.strip()}"), "refused"
    if run.returncode != 0:
        return f"exit code {run.returncode}: {run.stderr.strip()}", ""
    report = json.loads(run.stdout)
    written = onnx.load(after)
    onnx.checker.check_model(written, full_check=True)
    gradients = session(after)
    names = [value.name for value in gradients.get_outputs()]
    found = dict(zip(names, gradients.run(None, inputs)))
    done = f"opset {model.opset_import[0].version} -> {written.opset_import[0].version}"
    difference = np.abs(found[output] - expected).max() / max(np.abs(expected).max(), 1e-30)
    if not difference <= 1e-4:
        return f"output {output} differs by {difference:.1e}", done
    if not all(np.isfinite(value).all() for key, value in found.items() if key.startswith("grad/")):
        return "a gradient is not finite", done
    moved = {tensor.name: numpy_helper.to_array(tensor) for tensor in written.graph.initializer
             if f"grad/{tensor.name}" in found or tensor.name in report["independent"]}
    # Others are masks.
    keys = sorted(key for key, value in moved.items() if (np.abs(value) < 1e30).all())
    slopes = Slopes(model, inputs, {key: found.get(f"grad/{key}", np.zeros_like(moved[key])) for key in keys}, before)
    sample = list(np.random.default_rng(len(keys)).permutation(keys)[:SAMPLE])
    for group in [keys, *([key] for key in sample)]:
        if wrong := slopes.wrong(group):
            return wrong, done
    if not slopes.ratios:
        return "no finite difference shows more than rounding errors", done
    done += f", {len(keys)} parameters: {len(slopes.ratios)} finite differences are {min(slopes.ratios):.3f} to "
    return "", done + f"{max(slopes.ratios):.3f} times the gradient, {slopes.unresolved} are rounding errors"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("isomer")
    parser.add_argument("--graph", action="append")
    args = parser.parse_args()
    failed = 0
    for name in args.graph or sorted(restore.table()):
        with tempfile.TemporaryDirectory() as folder:
            wrong, done = check(name, args.isomer, Path(folder))
        failed += wrong != ""
        print(f"{'FAILED' if wrong else 'passed'} {name}: {done}{', ' if wrong else ''}{wrong}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
