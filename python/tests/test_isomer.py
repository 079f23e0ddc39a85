"""The Python package, as a user calls it."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import onnx
import pytest
from models import gate, gate_inputs, gate_output

import isomer


@pytest.mark.parametrize("engine", ["ort", "reference"])
def test_run_gives_the_outputs_by_name(engine):
    x = gate_inputs()
    y = isomer.run(gate(), x, engine=engine)["y"]
    np.testing.assert_allclose(y, gate_output(x), rtol=1e-5, atol=1e-6)


def test_optimize_keeps_the_function_and_names(tmp_path):
    result = isomer.optimize(gate(), engine="roofline")
    assert result.improved
    assert [step["rule"] for step in result.report["steps"]] == ["factor-gate"]
    assert [name for name, _ in result.inputs] == ["f", "c", "z"]
    result.save(tmp_path / "gate.onnx")
    onnx.checker.check_model(onnx.load(tmp_path / "gate.onnx"), full_check=True)
    x = gate_inputs()
    before = isomer.run(gate(), x)["y"]
    np.testing.assert_allclose(isomer.run(tmp_path / "gate.onnx", x)["y"], before, rtol=1e-5, atol=1e-6)


def test_optimize_takes_the_other_options_by_name(tmp_path):
    certificate = tmp_path / "gate.cert"
    result = isomer.optimize(gate(), engine="roofline", objective="flops", certificate=certificate)
    assert result.report["options"]["objective"] == "flops"
    assert certificate.read_text().startswith("isomer certificate")


def test_optimize_writes_the_file_that_is_asked_for(tmp_path):
    path = tmp_path / "gate.onnx"
    result = isomer.optimize(gate(), path, engine="roofline")
    assert result.path == path and result.improved
    before = path.read_bytes()
    with pytest.raises(ValueError, match="force"):
        isomer.optimize(path, path, engine="roofline")
    dry = isomer.optimize(gate(), path, engine="roofline", dry_run=True)
    assert dry.path != path and dry.report["options"]["dry_run"] is True
    assert len(dry.inputs) == 3
    assert path.read_bytes() == before
    isomer.optimize(path, path, engine="roofline", force=True)


def test_bad_input_raises_with_the_reason(tmp_path):
    path = tmp_path / "bad.onnx"
    path.write_bytes(b"no model at all")
    with pytest.raises(ValueError, match="bad.onnx"):
        isomer.load(path)
    with pytest.raises(TypeError, match="int"):
        isomer.load(3)
    with pytest.raises(TypeError, match="complex"):
        isomer.run(gate(), {"f": np.zeros((4, 16), np.complex64)})
    with pytest.raises(ValueError, match="tpu"):
        isomer.run(gate(), gate_inputs(), engine="tpu")


def test_an_interrupt_ends_a_search(tmp_path):
    """The search would take an hour; it is interrupted some time after it began. Nothing is written then."""
    code = """
import sys
import isomer
from models import gates
model = isomer.load(gates(60))
try:
    print("begins", flush=True)  # in here: the interrupt may come at once after it
    isomer.optimize(model, output=sys.argv[1], engine="roofline", search="enumerate", time_budget=3600, max_candidates=10**9)
except KeyboardInterrupt:
    print("interrupted")
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    command = [sys.executable, "-c", code, str(tmp_path / "out.onnx")]
    search = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert search.stdout.readline() == "begins\n"
        time.sleep(1)
        assert search.poll() is None
        search.send_signal(signal.SIGINT)
        assert search.communicate(timeout=300)[0] == "interrupted\n"
        assert list(tmp_path.iterdir()) == []
    finally:
        search.kill()
