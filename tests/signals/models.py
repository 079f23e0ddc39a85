"""Small models on which a search finds something to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def write_branches(path: Path, cells: int = 8, width: int = 64) -> None:
    """Cells of products that share an operand, with activations that can be merged."""
    random = np.random.default_rng(1)
    nodes, weights = [], []
    x = "x"
    for cell in range(cells):
        parts = []
        for branch in range(3):
            weight = f"w{cell}_{branch}"
            values = random.standard_normal((width, width)).astype(np.float32) / width
            weights.append(numpy_helper.from_array(values, weight))
            nodes.append(helper.make_node("MatMul", [x, weight], [f"p{cell}_{branch}"]))
            nodes.append(helper.make_node("Relu", [f"p{cell}_{branch}"], [f"r{cell}_{branch}"]))
            parts.append(f"r{cell}_{branch}")
        nodes.append(helper.make_node("Sum", parts, [f"s{cell}"]))
        x = f"s{cell}"
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, width]) for name in ("x", x)]
    graph = helper.make_graph(nodes, "branches", value[:1], value[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)
