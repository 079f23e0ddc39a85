"""Differentiates graphs as exporters write them, and compares with the original and with finite differences in ONNX Runtime.

    python gradients_test.py ISOMER [--graph NAME]

The loss is the sum of the elements of the first output of f32 times random numbers. Graphs that have no gradient, with the
reason, are listed.
"""

from __future__ import annotations

import argparse
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
    "timm_volo_d1_224_dynamo": "(Col2Im): no gradient",
    "torch_greedy_loop": "the model has no parameters",
    "torchvision_fasterrcnn_mobilenet_v3_large_320_fpn": "(TopK): no gradient: its result is i64",
    "torchvision_mobilenet_v3_small_qdq": "(QuantizeLinear): no gradient: Isomer does not interpret this node",
    "torchvision_raft_small": "(GridSample): no gradient",
    "torchvision_squeezenet1_1_qoperator": "the model has no parameters",
    "torchvision_ssdlite320_mobilenet_v3_large": "(TopK): no gradient: Isomer does not interpret this node",
    "transformers_bert_dynamic_quantized": "(DynamicQuantizeLinear): no gradient: Isomer does not interpret this node",
}
LOSS = "weighted sum"
STEPS = (1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
# A wrong gradient differs by far more. Steps over kinks, and sums of f32, make the best of the differences inexact.
TOLERANCE = 0.05


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


def check(name: str, isomer: str, folder: Path) -> tuple[str, str]:
    """Returns what is wrong (empty: nothing) and what was done."""
    entry = restore.table()[name]
    model = restore.restore(restore.GRAPHS / f"{name}.onnx.xz")
    output = with_extents(model, entry["dynamic"])
    if output is None:
        return "", "no output of f32"
    before, after = folder / "model.onnx", folder / "gradients.onnx"
    onnx.save(model, before)
    inputs = restore.random_inputs(name)
    expected = session(before).run([output], inputs)[0]
    weights = np.random.default_rng(1).standard_normal(expected.shape).astype(np.float32)
    add_loss(model.graph, output, weights)
    onnx.save(model, before)
    run = subprocess.run([isomer, "grad", before, "--loss", LOSS, "-o", after], capture_output=True, text=True)
    if name in REFUSED:
        refused = run.returncode == 2 and REFUSED[name] in run.stderr
        return ("" if refused else f"exit code {run.returncode}: {run.stderr.strip()}"), "refused"
    if run.returncode != 0:
        return f"exit code {run.returncode}: {run.stderr.strip()}", ""
    written = onnx.load(after)
    onnx.checker.check_model(written, full_check=True)
    gradients = session(after)
    names = [value.name for value in gradients.get_outputs()]
    found = dict(zip(names, gradients.run(None, inputs)))
    done = f"opset {model.opset_import[0].version} -> {written.opset_import[0].version}"
    difference = np.abs(found[output] - expected).max() / max(np.abs(expected).max(), 1e-30)
    if not difference <= 1e-4:
        return f"output {output} differs by {difference:.1e}", done
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in written.graph.initializer}
    generator = np.random.default_rng(0)
    direction = {}
    slope = 0.0
    for key in sorted(values):
        if f"grad/{key}" not in found or not (np.abs(values[key]) < 1e30).all():
            continue  # a mask
        # Half uphill, so that the difference is large in comparison with the rounding of the loss.
        gradient = found[f"grad/{key}"].astype(np.float64)
        uphill = gradient / max(np.sqrt(np.mean(gradient**2)), 1e-30)
        size = np.abs(values[key]).mean() + 1e-3
        way = size * (uphill + generator.standard_normal(gradient.shape))
        direction[key] = way.astype(values[key].dtype)
        slope += float(np.sum(gradient * direction[key]))

    def loss(step: float) -> float:
        moved = {key: (values[key] + step * way).astype(way.dtype) for key, way in direction.items()}
        return float(gradients.run([LOSS], {**inputs, **moved})[0])

    differences = [(loss(step) - loss(-step)) / (2 * step) for step in STEPS]
    best = min(differences, key=lambda difference: abs(difference - slope))
    done += f", {len(direction)} parameters, finite difference {best / slope:.3f} times the gradient"
    right = abs(best - slope) <= TOLERANCE * abs(slope)
    return ("" if right else f"finite differences {differences}, {slope} expected"), done


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
