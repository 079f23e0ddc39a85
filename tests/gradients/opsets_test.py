#!/usr/bin/env python3
"""Gradients in written models, at several opsets: ONNX's checker accepts the model, ONNX Runtime runs it, and the gradient is
that of finite differences.

    opsets_test.py ISOMER
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

program = sys.argv[1]
folder = tempfile.TemporaryDirectory(prefix="isomer-gradients-")
work = pathlib.Path(folder.name)
generator = np.random.default_rng(0)
MATRIX = generator.uniform(0.5, 2, (2, 3)).astype(np.float32)
# No two elements are so near that a step would make another one the maximum.
IMAGE = generator.permutation(np.linspace(0.5, 2, 42, dtype=np.float32)).reshape(1, 1, 6, 7)
# Points in and around the image, not near the middles between pixels, where the nearest one changes.
GRID = (np.array([[-1.4, 0.1], [-0.6, 0.55], [0.2, -0.9], [0.7, 1.3]], np.float32)).reshape(1, 2, 2, 2)
STEP = 1e-2


def clip(opset: int) -> tuple[dict, dict]:
    """The attributes and the operands of a Clip."""
    if opset < 11:
        return {"min": 0.7, "max": 1.5}, {}
    return {}, {"low": np.float32(0.7), "high": np.float32(1.5)}


# (operator, attributes, further operands, x, opsets)
CASES = [
    *[("Clip", *clip(opset), MATRIX, [opset]) for opset in (9, 10, 11, 13, 17)],
    ("Relu", {}, {}, MATRIX - 1.2, [8, 9, 13, 17]),
    ("Max", {}, {"b": np.full(3, 1.1, np.float32)}, MATRIX, [9, 10, 11, 17]),
    ("ReduceMax", {"axes": [1]}, {}, MATRIX, [9, 10, 11, 17]),
    ("Pow", {}, {"k": np.array(3, np.int64)}, MATRIX, [12, 13, 17]),
    ("Pow", {}, {"k": np.array(3, np.int32)}, MATRIX, [12, 13, 17]),
    ("Gather", {"axis": 1}, {"k": np.array([0, 2, 2], np.int32)}, MATRIX, [9, 13, 16, 17]),
    ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2]}, {}, IMAGE, [8, 11, 16, 17]),
    *[("GridSample", {"mode": mode, "align_corners": 1}, {"grid": GRID}, IMAGE, opsets)
      for mode, opsets in (("bilinear", [16]), ("linear", [20, 22]), ("nearest", [16, 22]))],
    ("GridSample", {"padding_mode": "border"}, {"grid": GRID}, IMAGE, [16, 22]),
    ("Col2Im", {"strides": [2, 1], "pads": [1, 0, 0, 1]}, {"image": np.array([3, 3]), "block": np.array([2, 1])},
     np.resize(MATRIX, (1, 4, 8)), [18, 21]),
    # The last window would begin in the pads.
    ("AveragePool", {"kernel_shape": [2, 3], "strides": [3, 2], "ceil_mode": 1}, {}, IMAGE, [16, 19, 22]),
]
# Gradients that are written at a later opset than that of the model.
RAISED = {("Relu", 8): 9, ("Gather", 9): 16, ("Gather", 13): 16, ("MaxPool", 8): 16, ("MaxPool", 11): 16}


def written(op: str, attrs: dict, more: dict, x: np.ndarray, opset: int, others: tuple = (), functions: tuple = ()) -> pathlib.Path:
    """The sum of the squares of the operator's result. The model has other nodes, too, whose results are outputs."""
    nodes = [helper.make_node(op, ["x", *more], ["y"], **attrs),
             helper.make_node("ReduceSumSquare", ["y"], ["loss"], keepdims=0), *others]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                              [helper.make_tensor_value_info("loss", TensorProto.FLOAT, []),
                               *[helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, None) for node in others]],
                              [numpy_helper.from_array(value, name) for name, value in more.items()])
    path = work / "model.onnx"
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("my", 1)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8, functions=list(functions)), path)
    return path


def differentiate(path: pathlib.Path) -> subprocess.CompletedProcess:
    return subprocess.run([program, "grad", path, "--loss", "loss", "--wrt", "x", "-o", work / "gradient.onnx"],
                          capture_output=True, text=True)


def finite_differences(session: onnxruntime.InferenceSession | ReferenceEvaluator, x: np.ndarray) -> np.ndarray:
    out = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        move = np.zeros_like(x)
        move[at] = STEP
        after, before = (float(session.run(["loss"], {"x": x + sign * move})[0]) for sign in (1, -1))
        out[at] = (after - before) / (2 * STEP)
    return out


for op, attrs, more, x, opsets in CASES:
    for opset in opsets:
        done = differentiate(written(op, attrs, more, x, opset))
        assert done.returncode == 0, (op, opset, done.stderr)
        onnx.checker.check_model(work / "gradient.onnx", full_check=True)
        version = onnx.load(work / "gradient.onnx").opset_import[0].version
        assert version == RAISED.get((op, opset), opset), (op, opset, version)
        session = onnxruntime.InferenceSession(work / "gradient.onnx", providers=["CPUExecutionProvider"])
        expected = finite_differences(session, x)
        gradient = session.run(["grad/x"], {"x": x})[0]
        difference = float(abs(gradient - expected).max() / abs(expected).max())
        assert difference < 1e-3, (op, opset, difference)
        print(f"{op} at opset {opset}: {difference:.1e}")
# Batch normalizations in training form, which ONNX Runtime lacks; at opset 13, in inference form, but told to train.
STATISTICS = {"scale": np.float32([1.2, 0.7]), "bias": np.float32([0.1, -0.3]), "mean": np.float32([0.2, 0.4]),
              "variance": np.float32([1.5, 0.9])}
for opset, options in ((13, ["--batch-statistics"]), (15, []), (17, [])):
    x = generator.standard_normal((3, 2, 4)).astype(np.float32)
    training = {"training_mode": 1} if not options else {}
    # ONNX's reference: the loss is sum(y * y), of the training form.
    reference = written("BatchNormalization", {"epsilon": 0.25, "momentum": 0.6, "training_mode": 1}, STATISTICS, x, 15)
    model = onnx.load(reference)
    model.graph.node[0].output.extend(["mean_now", "variance_now"])
    model.graph.output.extend(helper.make_tensor_value_info(statistic, TensorProto.FLOAT, [2])
                              for statistic in model.graph.node[0].output[1:])
    runs = ReferenceEvaluator(model)
    path = written("BatchNormalization", {"epsilon": 0.25, "momentum": 0.6, **training}, STATISTICS, x, opset)
    subprocess.run([program, "grad", path, "--loss", "loss", "-o", work / "gradient.onnx", "--inputs", *options], check=True,
                   stdout=subprocess.DEVNULL)
    onnx.checker.check_model(work / "gradient.onnx", full_check=True)
    session = onnxruntime.InferenceSession(work / "gradient.onnx", providers=["CPUExecutionProvider"])
    names = ["grad/x", "new/mean", "new/variance"]
    found = dict(zip(names, session.run(names, {"x": x})))
    expected = finite_differences(runs, x)
    difference = float(abs(found["grad/x"] - expected).max() / abs(expected).max())
    assert difference < 2e-3, (opset, difference)
    for name, value in zip(names[1:], runs.run(["mean_now", "variance_now"], {"x": x})):
        np.testing.assert_allclose(found[name], value, rtol=1e-5)
    assert "grad/mean" not in [output.name for output in session.get_outputs()]
    print(f"BatchNormalization in training form, from opset {opset}: {difference:.1e}")
# What Isomer does not interpret may mean something else at a later opset.
STRANGE = helper.make_node("Strange", ["x"], ["z"], name="strange")
TWICE = helper.make_function("my", "Twice", ["x"], ["y"], [helper.make_node("Add", ["x", "x"], ["y"])],
                             [helper.make_opsetid("", 13)])
for others, functions, reason in (((STRANGE,), (), "(Strange): Isomer does not interpret this node"),
                                  ((), (TWICE,), "the model has a function 'Twice'")):
    done = differentiate(written("Gather", {}, {"k": np.array([0])}, MATRIX, 13, others, functions))
    assert done.returncode == 2 and reason in done.stderr and "opset 16" in done.stderr, done.stderr
    print(done.stderr.strip())
