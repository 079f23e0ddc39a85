"""Checks that restored graphs are the same everywhere, and that they run.

Run with: pytest restore_test.py
"""

from __future__ import annotations

import hashlib

import numpy as np
import onnx
import pytest

from restore import FILL_KEY, GRAPHS, load_structure, random_inputs, restore, table, tensors_of

ENTRIES = table()
HASHES = {
    "torch_unet": "58d5602b4088001e",
    "transformers_bert": "3d22c4c647b319c1",
}


def weights_hash(model: onnx.ModelProto) -> str:
    """Hashes the data of every tensor."""
    digest = hashlib.sha256()
    for tensor in tensors_of(model):
        digest.update(tensor.name.encode())
        digest.update(onnx.numpy_helper.to_array(tensor).tobytes())
    return digest.hexdigest()[:16]


def path_of(name: str):
    return GRAPHS / f"{name}.onnx.xz"


def test_table_lists_every_graph() -> None:
    saved = {path.name.removesuffix(".onnx.xz") for path in GRAPHS.glob("*.onnx.xz")}
    assert saved == set(ENTRIES)


@pytest.mark.parametrize("name", HASHES)
def test_weights_are_the_same_everywhere(name: str) -> None:
    assert weights_hash(restore(path_of(name))) == HASHES[name]
    assert weights_hash(restore(path_of(name))) == HASHES[name]


@pytest.mark.parametrize("name", HASHES)
def test_weights_have_the_recorded_statistics(name: str) -> None:
    structure, model = load_structure(path_of(name)), restore(path_of(name))
    filled = 0
    for before, after in zip(tensors_of(structure), tensors_of(model)):
        fills = [entry.value for entry in before.metadata_props if entry.key == FILL_KEY]
        assert FILL_KEY not in [entry.key for entry in after.metadata_props]
        if fills:
            recorded = dict(part.split("=") for part in fills[0].split(";"))
            values = onnx.numpy_helper.to_array(after).astype(np.float64)
            deviation = max(float(recorded["std"]), 1e-6)
            assert abs(values.mean() - float(recorded["mean"])) < deviation
            assert values.min() >= np.float32(recorded["min"])
            assert values.max() <= np.float32(recorded["max"])
            filled += 1
    assert filled > 5


def test_inputs_follow_the_table() -> None:
    sizes = {"batch": 3, "sequence": 7}
    inputs = random_inputs("transformers_bert", seed=1, sizes=sizes)
    assert inputs["input_ids"].shape == (3, 7)
    assert inputs["input_ids"].dtype == np.int64
    again = random_inputs("transformers_bert", seed=1, sizes=sizes)
    assert all((inputs[key] == again[key]).all() for key in inputs)


@pytest.mark.parametrize("name", ENTRIES)
def test_graph_runs(name: str) -> None:
    runtime = pytest.importorskip("onnxruntime")
    model = restore(path_of(name))
    onnx.checker.check_model(model)
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = runtime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    first = session.run(None, random_inputs(name))
    assert all(np.isfinite(output).all() for output in first)
    assert any(np.any(output) for output in first)

    larger = {axis: size + 1 for axis, size in ENTRIES[name]["dynamic"].items()}
    second = session.run(None, random_inputs(name, seed=1, sizes=larger))
    assert any(differs(*pair) for pair in zip(first, second)), "inputs have no effect"


def differs(first: np.ndarray, second: np.ndarray) -> bool:
    """Tells whether two outputs differ by clearly more than rounding does."""
    if first.shape != second.shape:
        return True
    gap = np.abs(first.astype(np.float64) - second.astype(np.float64)).max(initial=0)
    return bool(gap > 1e-3 * np.abs(first).max(initial=0))
