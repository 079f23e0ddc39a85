"""What the hand-made models share: a graph in ONNX's text form, with weights added as arrays."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import numpy_helper


def text(opset: int | str, graph: str, *, ir: int = 8, functions: str = "", **values: np.ndarray) -> onnx.ModelProto:
    """Parses a graph; each of `values` becomes an initializer of that name. `opset` is a version or the text of the imports."""
    imports = opset if isinstance(opset, str) else f'"": {opset}'
    model = onnx.parser.parse_model(f"<ir_version: {ir}, opset_import: [{imports}]> {graph} {functions}")
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in values.items())
    return model


def random(seed: int, *shape: int, scale: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(seed).normal(size=shape) * scale).astype(np.float32)


def integers(seed: int, low: int, high: int, dtype: str, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def whole(*values: int) -> np.ndarray:
    return np.array(values, np.int64)
