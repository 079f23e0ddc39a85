"""Differentiates graphs as exporters write them, and compares with the original and with finite differences in ONNX Runtime. Graphs
with batch normalizations are differentiated a second time, with these in training form (`twin`). The loss then depends so
sensitively on channels that hardly vary that doubles are needed, and Isomer's reference executor.

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

import isomer
import numpy as np
import onnx
import onnxruntime
import restore
from onnx import AttributeProto, TensorProto, helper, numpy_helper

REFUSED = {
    "torch_greedy_loop": "the model has no parameters",
    "torchvision_fasterrcnn_mobilenet_v3_large_320_fpn": "(TopK): no gradient: its result '/model/rpn/TopK_output_1' is i64",
    "torchvision_mobilenet_v3_small_qdq": "(QuantizeLinear): no gradient: Isomer does not interpret this node",
    "torchvision_squeezenet1_1_qoperator": "the model has no parameters",
    "torchvision_ssdlite320_mobilenet_v3_large": "(TopK): no gradient: Isomer does not interpret this node",
    "transformers_bert_dynamic_quantized": "(DynamicQuantizeLinear): no gradient: Isomer does not interpret this node",
}
LOSS = "weighted sum"
STEPS = (1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
STEPS_OF_DOUBLES = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)
# A wrong gradient differs by far more. Steps over kinks, and sums of f32, make the best of the differences inexact.
TOLERANCE = 0.05
RESOLVED = 0.02  # the share of a difference of losses that may be rounding errors
SAMPLE = 24  # parameters of a graph that are moved one by one
SAMPLE_OF_TWIN = 3


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
    """Differences of the losses of moved parameters, in comparison with gradients. `model` has no nodes of gradients, which take
    most of the time. In ONNX Runtime, or in doubles."""

    def __init__(self, model: onnx.ModelProto, inputs: dict[str, np.ndarray], gradients: dict[str, np.ndarray], file: Path,
                 doubles: bool) -> None:
        known = {value.name for value in model.graph.input}
        for tensor in model.graph.initializer:
            if tensor.name in gradients and tensor.name not in known:
                model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
        self.gradients = gradients
        self.inputs = {key: widened(value) if doubles else value for key, value in inputs.items()}
        model = in_doubles(model) if doubles else model
        onnx.save(model, file)
        self.steps, self.precision = (STEPS_OF_DOUBLES, 1e-14) if doubles else (STEPS, 1e-7)
        if doubles:
            reference = isomer.Session(str(file), engine="reference")
            self.run = lambda values: reference.run(values)[LOSS]
        else:
            runtime = session(file)
            self.run = lambda values: runtime.run([LOSS], values)[0]
        self.values = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer if tensor.name in gradients}
        self.generator = np.random.default_rng(0)
        # How far losses differ if only rounding errors do.
        tiny = {key: self.precision * value * self.generator.choice([-1, 1], value.shape) for key, value in self.values.items()}
        losses = [self.loss(tiny, step) for step in (-1.5, -1, -0.5, 0, 0.5, 1, 1.5)]
        self.rounding = max(losses) - min(losses) + self.precision * abs(losses[3])
        self.ratios: list[float] = []
        self.unresolved = 0

    def loss(self, ways: dict[str, np.ndarray], step: float) -> float:
        moved = {key: (self.values[key] + step * way).astype(self.values[key].dtype) for key, way in ways.items()}
        return float(self.run({**self.inputs, **moved}))

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
        for step in self.steps:
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


def widened(value: np.ndarray) -> np.ndarray:
    return value.astype(np.float64) if value.dtype == np.float32 else value


def in_doubles(model: onnx.ModelProto) -> onnx.ModelProto:
    """Changes f32 to f64 in the model, and returns it."""
    graph = model.graph
    attributes = [attribute for node in graph.node for attribute in node.attribute]
    for tensor in [*graph.initializer, *(attribute.t for attribute in attributes if attribute.HasField("t"))]:
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(widened(numpy_helper.to_array(tensor)), tensor.name))
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    for node in graph.node:
        if node.op_type == "ConstantOfShape" and not node.attribute:
            node.attribute.append(helper.make_attribute("value", numpy_helper.from_array(np.zeros(1))))
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.type == AttributeProto.INT and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE
    return model


def without_gradients(written: onnx.ModelProto) -> onnx.ModelProto:
    """The part of a model that computes the loss."""
    out = onnx.ModelProto()
    out.CopyFrom(written)
    needed, kept = {LOSS}, []
    for node in reversed(written.graph.node):
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(node.input)
    for field, entries in (("node", kept[::-1]), ("output", [entry for entry in written.graph.output if entry.name == LOSS])):
        out.graph.ClearField(field)
        getattr(out.graph, field).extend(entries)
    return out


def check(name: str, program: str, folder: Path, twin: bool) -> tuple[str, str]:
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
    run = subprocess.run([program, "grad", before, "--loss", LOSS, "-o", after, "--json", *["--batch-statistics"] * twin],
                         capture_output=True, text=True)
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
    if twin:
        done += f", {report['batch_normalizations']['batch']} batch normalizations"
        # The original normalizes by running statistics, so it is no reference.
        if np.allclose(found[output], expected, rtol=1e-3):
            return "the statistics of the batch have no effect", done
        expected = found[output]
    difference = np.abs(found[output] - expected).max() / max(np.abs(expected).max(), 1e-30)
    if not difference <= 1e-4:
        return f"output {output} differs by {difference:.1e}", done
    if not all(np.isfinite(value).all() for key, value in found.items() if key.startswith("grad/")):
        return "a gradient is not finite", done
    moved = {tensor.name: numpy_helper.to_array(tensor) for tensor in written.graph.initializer
             if f"grad/{tensor.name}" in found or tensor.name in report["independent"]}
    # Others are masks.
    keys = sorted(key for key, value in moved.items() if (np.abs(value) < 1e30).all())
    if twin:
        widened_inputs = {key: widened(value) for key, value in inputs.items()}
        onnx.save(in_doubles(onnx.load(after)), after)
        found = isomer.Session(str(after), engine="reference").run(widened_inputs)
    expected_slopes = {key: found.get(f"grad/{key}", np.zeros_like(moved[key])) for key in keys}
    slopes = Slopes(without_gradients(written) if twin else model, inputs, expected_slopes, before, doubles=twin)
    sample = list(np.random.default_rng(len(keys)).permutation(keys)[:SAMPLE_OF_TWIN if twin else SAMPLE])
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
    twins = 0
    for name in args.graph or sorted(restore.table()):
        graph = restore.restore(restore.GRAPHS / f"{name}.onnx.xz").graph
        has_twin = name not in REFUSED and any(node.op_type == "BatchNormalization" for node in graph.node)
        twins += has_twin
        for twin in (False, True)[:1 + has_twin]:
            with tempfile.TemporaryDirectory() as folder:
                wrong, done = check(name, args.isomer, Path(folder), twin)
            failed += wrong != ""
            print(f"{'FAILED' if wrong else 'passed'} {name}{' (twin)' * twin}: {done}{', ' if wrong else ''}{wrong}", flush=True)
    assert args.graph or twins >= 5, "hardly any graph has batch normalizations"
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
