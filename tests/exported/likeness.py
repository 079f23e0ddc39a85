"""Whether a model that Isomer wrote says and computes what the model it was made of does."""

from __future__ import annotations

import os

# Each session would start a thread a core; the tests run side by side.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import onnx
import onnxruntime as ort

DISABLED = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
DEFAULT = ort.GraphOptimizationLevel.ORT_ENABLE_ALL


def properties(entries) -> dict[str, str]:
    return {entry.key: entry.value for entry in entries}


def presentation(model: onnx.ModelProto) -> dict[str, object]:
    """What a user sees of a model beside its nodes and weights."""
    graph = model.graph
    initializers = {tensor.name for tensor in graph.initializer}
    return {
        "inputs": [v.SerializeToString(deterministic=True) for v in graph.input if v.name not in initializers],
        "outputs": [v.SerializeToString(deterministic=True) for v in graph.output],
        "opsets": {entry.domain: entry.version for entry in model.opset_import},
        "ir_version": model.ir_version,
        "producer": (model.producer_name, model.producer_version, model.domain, model.model_version),
        "model doc string": model.doc_string,
        "model metadata": properties(model.metadata_props),
        "graph name": graph.name,
        "graph doc string": graph.doc_string,
        "graph metadata": properties(graph.metadata_props),
        "functions": sorted((f.domain, f.name) for f in model.functions),
    }


def differing_presentation(before: onnx.ModelProto, after: onnx.ModelProto) -> str:
    """Names what differs; empty where nothing does."""
    old, new = presentation(before), presentation(after)
    for key, value in old.items():
        if value != new[key]:
            return f"{key}: {value!r:.300} became {new[key]!r:.300}"
    return ""


def is_half(model: onnx.ModelProto) -> bool:
    half = onnx.TensorProto.FLOAT16
    values = [*model.graph.input, *model.graph.output]
    return any(v.type.tensor_type.elem_type == half for v in values) or any(
        tensor.data_type == half for tensor in model.graph.initializer
    )


def outputs_of(path: str, inputs: dict[str, np.ndarray], level: ort.GraphOptimizationLevel) -> list[np.ndarray]:
    """Runs a model in ONNX Runtime on one thread."""
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, inputs)


def differing_outputs(before: list[np.ndarray], after: list[np.ndarray], tolerance: float) -> str:
    """Names the first output that differs by more than `tolerance` of its largest element; empty where none does.

    With a tolerance of zero the bits must agree.
    """
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        if old.dtype != new.dtype or old.shape != new.shape:
            return f"output {index}: {old.dtype}{old.shape} became {new.dtype}{new.shape}"
        if old.tobytes() == new.tobytes():
            continue
        if tolerance == 0 or not np.issubdtype(old.dtype, np.floating):
            return f"output {index} ({old.dtype}): {np.count_nonzero(old != new)} of {old.size} elements differ"
        if not np.array_equal(np.isfinite(old), np.isfinite(new)):
            return f"output {index}: other elements are infinite or no numbers"
        finite = np.isfinite(old)
        wide, other = old[finite].astype(np.float64), new[finite].astype(np.float64)
        largest = np.abs(wide).max(initial=0.0)
        error = np.abs(wide - other).max(initial=0.0) / (largest or 1.0)
        if error > tolerance:
            return f"output {index}: differs by {error:.2e} of its largest element"
    return ""
