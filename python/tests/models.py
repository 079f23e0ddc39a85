"""Small models for the tests."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def gates(count: int) -> onnx.ModelProto:
    """Several gates, as an SRU writes them, each with the one before it as its state: f c + (1 - f) z."""
    nodes = []
    state = "c"
    for i in range(count):
        result = "y" if i == count - 1 else f"y{i}"
        nodes += [
            helper.make_node("Mul", ["f", state], [f"fc{i}"]),
            helper.make_node("Sub", ["one", "f"], [f"g{i}"]),
            helper.make_node("Mul", [f"g{i}", "z"], [f"gz{i}"]),
            helper.make_node("Add", [f"fc{i}", f"gz{i}"], [result]),
        ]
        state = result
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 16]) for name in "fcz"]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 16])]
    one = numpy_helper.from_array(np.array(1, np.float32), "one")
    graph = helper.make_graph(nodes, "gates", inputs, outputs, [one])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def gate() -> onnx.ModelProto:
    return gates(1)


def gate_inputs(rows: int = 4, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal((rows, 16)).astype(np.float32) for name in "fcz"}


def gate_output(x: dict[str, np.ndarray]) -> np.ndarray:
    return x["f"] * x["c"] + (1 - x["f"]) * x["z"]


def identity(dtype: int) -> onnx.ModelProto:
    """y = x."""
    x, y = (helper.make_tensor_value_info(name, dtype, ["N", "M"]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "identity", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def scaled(default: np.ndarray) -> onnx.ModelProto:
    """y = x w, where w is an input with a default."""
    x, y, w = (helper.make_tensor_value_info(name, TensorProto.FLOAT, default.shape) for name in "xyw")
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "w"], ["y"])], "scaled", [x, w], [y], [numpy_helper.from_array(default, "w")]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
