"""The Python package, as a user calls it."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import isomer


def gate() -> onnx.ModelProto:
    """f c + (1 - f) z, as an SRU writes it."""
    nodes = [
        helper.make_node("Mul", ["f", "c"], ["fc"]),
        helper.make_node("Sub", ["one", "f"], ["g"]),
        helper.make_node("Mul", ["g", "z"], ["gz"]),
        helper.make_node("Add", ["fc", "gz"], ["y"]),
    ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 16]) for name in "fcz"]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 16])]
    one = numpy_helper.from_array(np.array(1, np.float32), "one")
    graph = helper.make_graph(nodes, "gate", inputs, outputs, [one])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {name: rng.standard_normal((4, 16)).astype(np.float32) for name in "fcz"}


@pytest.mark.parametrize("engine", ["ort", "reference"])
def test_run_gives_the_outputs_by_name(engine):
    x = arrays()
    y = isomer.run(gate(), x, engine=engine)["y"]
    np.testing.assert_allclose(y, x["f"] * x["c"] + (1 - x["f"]) * x["z"], rtol=1e-5, atol=1e-6)


def test_optimize_keeps_the_function_and_names(tmp_path):
    result = isomer.optimize(gate(), engine="roofline")
    assert result.improved
    assert [step["rule"] for step in result.report["steps"]] == ["factor-gate"]
    assert [name for name, _ in result.inputs] == ["f", "c", "z"]
    result.save(tmp_path / "gate.onnx")
    onnx.checker.check_model(onnx.load(tmp_path / "gate.onnx"), full_check=True)
    x = arrays()
    before = isomer.run(gate(), x)["y"]
    np.testing.assert_allclose(isomer.run(tmp_path / "gate.onnx", x)["y"], before, rtol=1e-5, atol=1e-6)


def test_optimize_takes_the_other_options_by_name(tmp_path):
    certificate = tmp_path / "gate.cert"
    result = isomer.optimize(gate(), engine="roofline", objective="flops", certificate=str(certificate))
    assert result.report["options"]["objective"] == "flops"
    assert certificate.read_text().startswith("isomer certificate")
    with pytest.raises(ValueError, match="no option 'thread'"):
        isomer.optimize(gate(), engine="roofline", thread=1)
    with pytest.raises(ValueError, match="dtype: must be f32, bf16 or f16"):
        isomer.optimize(gate(), engine="onednn", dtype="int8")


def test_bad_input_raises_with_the_reason(tmp_path):
    path = tmp_path / "bad.onnx"
    path.write_bytes(b"no model at all")
    with pytest.raises(ValueError, match="bad.onnx"):
        isomer.load(path)
    with pytest.raises(TypeError, match="int"):
        isomer.load(3)
    with pytest.raises(TypeError, match="complex"):
        isomer.run(gate(), {"f": np.zeros((4, 16), np.complex64)})
