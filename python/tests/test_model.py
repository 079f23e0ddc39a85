"""isomer.load and Model.save: models with external data."""

import concurrent.futures
import os
import pathlib

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import convert_model_to_external_data, set_external_data

import isomer


def weights(seed: int, name: str = "") -> onnx.TensorProto:
    return numpy_helper.from_array(np.random.default_rng(seed).standard_normal((64, 64)).astype(np.float32), name)


def constant(seed: int, output: str) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [output], value=weights(seed))


def branch(seed: int) -> onnx.GraphProto:
    """Its output is the sum of an initializer and a constant."""
    nodes = [constant(seed, "d"), helper.make_node("Add", ["b", "d"], ["r"])]
    result = helper.make_tensor_value_info("r", TensorProto.FLOAT, [64, 64])
    return helper.make_graph(nodes, "branch", [], [result], [weights(seed + 1, "b")])


def nested() -> onnx.ModelProto:
    """The sum of x and of weights in an initializer, a constant, the branches of an If, and a function."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    body = [
        constant(1, "c"),
        helper.make_node("If", ["on"], ["i"], then_branch=branch(2), else_branch=branch(4)),
        helper.make_node("Sum", ["x", "c", "i"], ["y"]),
    ]
    function = helper.make_function("local", "F", ["x", "on"], ["y"], body, opsets)
    nodes = [
        constant(6, "c"),
        helper.make_node("If", ["on"], ["i"], then_branch=branch(7), else_branch=branch(9)),
        helper.make_node("F", ["x", "on"], ["f"], domain="local"),
        helper.make_node("Sum", ["c", "i", "f", "w"], ["y"]),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 64]) for name in "xy")
    on = helper.make_tensor_value_info("on", TensorProto.BOOL, [])
    graph = helper.make_graph(nodes, "nested", [x, on], [y], [weights(11, "w")])
    return helper.make_model(graph, opset_imports=opsets, functions=[function], ir_version=8)


def check(model: isomer.ModelLike) -> None:
    """The model gives what the nested one does."""
    x = np.ones((64, 64), np.float32)
    for on, seeds in (True, (1, 2, 3, 6, 7, 8, 11)), (False, (1, 4, 5, 6, 9, 10, 11)):
        want = x + sum(numpy_helper.to_array(weights(seed)) for seed in seeds)
        np.testing.assert_allclose(isomer.run(model, {"x": x, "on": np.array(on)})["y"], want, rtol=1e-5, atol=1e-5)


def with_external_data(folder: pathlib.Path) -> pathlib.Path:
    """The nested model in a new folder. Each of its tensors is in a file of its own, without an offset and a length."""
    folder.mkdir()
    model = nested()
    tensors = list(isomer._model._tensors(model))
    assert len(tensors) == 11
    for i, tensor in enumerate(tensors):
        (folder / f"{i}.bin").write_bytes(tensor.raw_data)
        set_external_data(tensor, f"{i}.bin")
        tensor.ClearField("raw_data")
    onnx.save(model, folder / "nested.onnx")
    return folder / "nested.onnx"


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_large_proto_stays_as_it_is(monkeypatch):
    monkeypatch.setattr(isomer._model, "MAX_INSIDE", 1000)
    model = nested()
    loaded = isomer.load(model)
    assert loaded.path.stat().st_size < model.ByteSize() / 2
    assert model == nested()
    check(loaded)


def test_a_proto_whose_external_data_is_not_written_yet_stays_as_it_is():
    model, before = nested(), nested()
    for proto in model, before:
        convert_model_to_external_data(proto, location="later.data")
    check(model)
    assert model == before


def test_save_writes_all_external_data(tmp_path):
    path = with_external_data(tmp_path / "from")
    (tmp_path / "to").mkdir()
    isomer.load(path).save(tmp_path / "to/out.onnx")
    for file in path.parent.iterdir():
        file.unlink()
    (tmp_path / "to").rename(tmp_path / "moved")
    check(tmp_path / "moved/out.onnx")
    assert len(contents(tmp_path / "moved")) == 2


def test_save_replaces_and_takes_relative_paths(tmp_path, monkeypatch):
    path = with_external_data(tmp_path / "from")
    (tmp_path / "to").mkdir()
    monkeypatch.chdir(tmp_path)
    model = isomer.load("from/nested.onnx")
    model.save("to/out.onnx")
    before = contents(tmp_path / "to")
    monkeypatch.chdir(tmp_path / "to")
    model.save("out.onnx")
    assert contents(tmp_path / "to") == before
    isomer.load("out.onnx").save("out.onnx")
    assert contents(tmp_path / "to") == before
    check("out.onnx")
    inside = isomer.load(nested())
    for _ in range(2):
        inside.save("out.onnx")
    isomer.load("out.onnx").save("out.onnx")
    check("out.onnx")
    model.save(path)
    check(path)


def test_a_save_that_fails_changes_nothing(tmp_path):
    path = with_external_data(tmp_path / "from")
    model = isomer.load(path)
    (path.parent / "10.bin").unlink()
    (tmp_path / "to").mkdir()
    isomer.load(nested()).save(tmp_path / "to/out.onnx")
    before = contents(tmp_path / "to")
    with pytest.raises(Exception, match="10.bin"):
        model.save(tmp_path / "to/out.onnx")
    assert contents(tmp_path / "to") == before


def test_save_follows_links_and_keeps_permissions(tmp_path):
    model = isomer.load(with_external_data(tmp_path / "from"))
    (tmp_path / "store").mkdir()
    link, real = tmp_path / "out.onnx", tmp_path / "store/real.onnx"
    link.symlink_to(real)
    model.save(link)
    real.chmod(0o640)
    model.save(link)
    assert link.is_symlink() and real.stat().st_mode & 0o777 == 0o640
    check(link)


def test_save_to_a_device_writes_all_weights_into_it(tmp_path):
    model = isomer.load(with_external_data(tmp_path / "from"))
    read, write = os.pipe()
    with open(read, "rb") as pipe, concurrent.futures.ThreadPoolExecutor() as pool:
        data = pool.submit(pipe.read)
        model.save(f"/dev/fd/{write}")
        os.close(write)
        check(data.result())
