"""Takes the weights out of an ONNX model, leaving seeds for restore.py."""

from __future__ import annotations

import zlib

import numpy as np
import onnx
from onnx import numpy_helper

from restore import FILL_KEY, graphs_of, tensors_of

SMALL = 64  # tensors of at most this many elements keep their data
FEW_VALUES = 16  # so do tensors with at most this many distinct values, such as masks
FLOATS = {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16}
QUANTIZED = {onnx.TensorProto.INT8, onnx.TensorProto.UINT8, onnx.TensorProto.INT32}
STACK_TRACES = "pkg.torch.onnx.stack_trace"


def fill_of(values: np.ndarray) -> str | None:
    """Describes a tensor by seed and statistics, or returns None to keep its data."""
    wide = values.astype(np.float64)
    if values.size <= SMALL or not np.isfinite(wide).all() or np.abs(wide).max() > 1e6:
        return None
    if np.unique(wide.reshape(-1)[:4096]).size <= FEW_VALUES and np.unique(wide).size <= FEW_VALUES:
        return None
    # Equal tensors get equal seeds, so weights that were shared stay equal.
    seed = zlib.crc32(values.tobytes())
    statistics = {"mean": wide.mean(), "std": wide.std(), "min": wide.min(), "max": wide.max()}
    return ";".join([f"seed={seed}", *(f"{key}={value:.6g}" for key, value in statistics.items())])


def strip_weights(model: onnx.ModelProto) -> int:
    """Replaces the data of large tensors by fills; returns the element count replaced."""
    replaced = 0
    for tensor in tensors_of(model):
        if tensor.data_type not in FLOATS | QUANTIZED:
            continue
        values = numpy_helper.to_array(tensor)
        if tensor.data_type in QUANTIZED and values.size < 512:
            continue
        text = fill_of(values)
        if text is None:
            continue
        kept = onnx.TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
        kept.doc_string = tensor.doc_string
        kept.metadata_props.extend(tensor.metadata_props)
        kept.metadata_props.add(key=FILL_KEY, value=text)
        tensor.CopyFrom(kept)
        replaced += values.size
    return replaced


def _drop(properties, only: str | None) -> None:
    """Removes one metadata property, or all of them."""
    kept = [entry for entry in properties if only is not None and entry.key != only]
    del properties[:]
    properties.extend(kept)


def strip_notes(model: onnx.ModelProto, keep: bool) -> None:
    """Drops what exporters note on nodes and values.

    With `keep`, everything stays except stack traces, which name source files.
    """
    only = STACK_TRACES if keep else None
    for graph in graphs_of(model):
        _drop(graph.metadata_props, only)
        for value in [*graph.value_info, *_ports(graph)]:
            _drop(value.metadata_props, only)
        for node in graph.node:
            _drop(node.metadata_props, only)
            if not keep:
                node.ClearField("doc_string")


def _ports(graph) -> list[onnx.ValueInfoProto]:
    """Returns the typed inputs and outputs of a graph; a function has none."""
    return [*graph.input, *graph.output] if isinstance(graph, onnx.GraphProto) else []
