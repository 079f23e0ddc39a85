"""isomer.Session: one load, any number of runs."""

import concurrent.futures
import os
import pathlib
import signal
import sys
import threading
import typing

import numpy as np
import onnx
import pytest
from models import gate, gate_inputs, gate_output, identity, scaled
from onnx import TensorProto, helper

import isomer

ENGINES = ["ort", "onednn", "reference"]


def check(session: isomer.Session, rows: int, seed: int = 1) -> None:
    x = gate_inputs(rows, seed)
    outputs = session.run(x)
    assert list(outputs) == ["y"]
    np.testing.assert_allclose(outputs["y"], gate_output(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_runs_again_and_with_other_extents(engine):
    with isomer.Session(gate(), engine=engine, threads=2) as session:
        assert [name for name, _ in session.inputs] == ["f", "c", "z"]
        assert session.outputs == [("y", "f32[N,16]")]
        for rows in (4, 4, 1, 7, 4):
            check(session, rows, seed=rows)


@pytest.mark.parametrize("engine", ENGINES)
def test_loads_the_model_once(engine, tmp_path):
    path = tmp_path / "gate.onnx"
    onnx.save(gate(), path)
    with isomer.Session(path, engine=engine) as session:
        path.unlink()
        for seed in (1, 2):
            check(session, 4, seed)


@pytest.mark.parametrize("engine", ENGINES)
def test_many_threads_run_one_session(engine):
    with isomer.Session(gate(), engine=engine) as session, concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(check, session, 1 + i % 3, i) for i in range(40)]:
            done.result()


class Pythons:
    """A Python for the worker that says that it was started, and may be held up until it is told to go on."""

    def __init__(self, folder: pathlib.Path):
        self.path = folder / "python"
        self.started = folder / "started"
        self.held = folder / "held"
        self.path.write_text(f"""#!/bin/sh
echo $$ >> {self.started}
for i in $(seq 600); do [ -e {self.held} ] || exec {sys.executable} "$@"; sleep 0.1; done
exit 1
""")
        self.path.chmod(0o755)

    def pids(self) -> list[int]:
        return [int(line) for line in self.started.read_text().split()] if self.started.exists() else []


@pytest.fixture
def other_python(tmp_path):
    return Pythons(tmp_path)


def test_the_callers_python_wins(other_python, tmp_path, monkeypatch):
    monkeypatch.setenv("ISOMER_PYTHON", str(tmp_path / "none"))
    with isomer.Session(gate(), python=other_python.path) as session:
        check(session, 4)
    assert len(other_python.pids()) == 1
    isomer.run(gate(), gate_inputs(), python=str(other_python.path))
    isomer.load(gate()).run(gate_inputs(), python=other_python.path)
    assert len(other_python.pids()) == 3
    isomer.optimize(gate(), shapes=["N=4"], time_budget=1, python=other_python.path)
    assert len(other_python.pids()) > 3


def test_isomer_python_comes_next(other_python, monkeypatch):
    monkeypatch.setenv("ISOMER_PYTHON", str(other_python.path))
    isomer.run(gate(), gate_inputs())
    assert len(other_python.pids()) == 1
    isomer.optimize(gate(), shapes=["N=4"], time_budget=1)
    assert len(other_python.pids()) > 1


def test_a_python_without_onnxruntime_is_named(tmp_path):
    with pytest.raises(ValueError, match=str(tmp_path / "none")):
        isomer.Session(gate(), python=tmp_path / "none")


def test_other_threads_go_on_during_loads_and_runs(other_python):
    """The worker waits until this thread tells it to go on, which it cannot where the interpreter's lock is held."""
    other_python.held.touch()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        loading = pool.submit(isomer.Session, gate(), python=other_python.path)
        while not other_python.pids():
            assert not loading.done()
        other_python.held.unlink()
        with loading.result() as session:
            # A worker that dies is started again within the run.
            other_python.held.touch()
            os.kill(other_python.pids()[0], signal.SIGKILL)
            running = pool.submit(check, session, 4)
            while len(other_python.pids()) < 2:
                assert not running.done()
            other_python.held.unlink()
            running.result()


def test_a_closed_session_says_so():
    session = isomer.Session(gate(), engine="onednn")
    session.close()
    session.close()
    with pytest.raises(ValueError, match="the session is closed"):
        session.run(gate_inputs())
    with isomer.Session(gate(), engine="onednn") as session:
        check(session, 4)
    with pytest.raises(ValueError, match="the session is closed"):
        session.run(gate_inputs())


def test_a_session_may_be_closed_while_it_runs():
    session = isomer.Session(gate(), engine="reference")
    begun = threading.Barrier(5)

    def work() -> int:
        begun.wait()
        for done in range(1000):
            try:
                check(session, 4)
            except ValueError as error:
                assert "closed" in str(error)
                return done
        return 1000

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(work) for _ in range(4)]
        begun.wait()
        session.close()
        for run in runs:
            run.result()


@pytest.mark.parametrize("engine", ENGINES)
def test_wrong_inputs_are_named(engine):
    with isomer.Session(gate(), engine=engine) as session:
        x = gate_inputs()
        with pytest.raises(ValueError, match="no input 'q'; there are: f, c, z"):
            session.run({**x, "q": x["f"]})
        with pytest.raises(ValueError, match=r"no input 'q\\x1b\\x00'; there are: f, c, z"):
            session.run({**x, "q\x1b\0": x["f"]})
        with pytest.raises(ValueError, match=r"input 'c' is f32\[N,16\]: f64\[4,16\] does not fit"):
            session.run({**x, "c": x["c"].astype(np.float64)})
        with pytest.raises(ValueError, match=r"input 'c' is f32\[N,16\]: \[4,15\] does not fit"):
            session.run({**x, "c": x["c"][:, :15]})
        with pytest.raises(ValueError, match="N=3"):
            session.run({**x, "z": x["z"][:3]})
        with pytest.raises(TypeError, match="complex64"):
            session.run({**x, "c": x["c"].astype(np.complex64)})
        check(session, 4)


@pytest.mark.parametrize("engine", ENGINES)
def test_inputs_with_a_default_need_not_be_given(engine):
    x, w = np.array([1, 2], np.float32), np.array([1, 1], np.float32)
    with isomer.Session(scaled(np.array([3, 5], np.float32)), engine=engine) as session:
        assert session.run({"x": x})["y"].tolist() == [3, 10]
        assert session.run({"x": x, "w": w})["y"].tolist() == [1, 2]
        with pytest.raises(ValueError, match="input 'x' is not given"):
            session.run({"w": w})


def test_bad_models_and_engines_are_refused(tmp_path):
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"no model at all")
    for engine in ENGINES:
        with pytest.raises(ValueError, match="bad.onnx"):
            isomer.Session(bad, engine=engine)
    with pytest.raises(ValueError, match="none.onnx"):
        isomer.Session(tmp_path / "none.onnx")
    with pytest.raises(ValueError, match="unknown engine 'tpu'; there are: ort, openvino, onednn, reference"):
        isomer.Session(gate(), engine="tpu")
    for threads in (0, -1, 1025):
        with pytest.raises(ValueError, match="threads: must be an integer from 1 to 1024"):
            isomer.Session(gate(), engine="onednn", threads=threads)
    with pytest.raises(ValueError, match="has no provider 'NoSuchExecutionProvider'"):
        isomer.Session(gate(), engine="ort", provider="NoSuchExecutionProvider")
    with pytest.raises(ValueError, match="engine 'ort' computes only in f32"):
        isomer.run(gate(), gate_inputs(), engine="ort", dtype="bf16")


def test_arrays_of_any_layout_are_read():
    x = gate_inputs()
    odd = np.frombuffer(b"\0" + x["c"].tobytes(), np.uint8)[1:].view(np.float32).reshape(4, 16)
    assert not odd.flags.aligned
    swapped = x["z"].astype(x["z"].dtype.newbyteorder())
    with isomer.Session(gate(), engine="onednn") as session:
        y = session.run({"f": np.asfortranarray(x["f"]), "c": odd, "z": swapped})["y"]
        np.testing.assert_allclose(y, gate_output(x), rtol=1e-5, atol=1e-6)
        y = session.run({"f": x["f"][::-1, ::-1], "c": x["c"], "z": x["z"]})["y"]
        np.testing.assert_allclose(y, gate_output({**x, "f": x["f"][::-1, ::-1]}), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("engine", ["ort", "reference"])
@pytest.mark.parametrize(
    "name", "float32 float64 float16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()
)
def test_every_element_type_comes_back(engine, name):
    dtype = np.dtype(name)
    x = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    with isomer.Session(identity(helper.np_dtype_to_tensor_dtype(dtype)), engine=engine) as session:
        y = session.run({"x": x})["y"]
        assert y.dtype == dtype
        np.testing.assert_array_equal(y, x)
        assert session.run({"x": x[:0]})["y"].shape == (0, 3)


@pytest.mark.parametrize("engine", ["ort", "reference"])
def test_texts_come_back(engine):
    texts = [["a", "", "é"], ["longer", "b", "c"]]
    with isomer.Session(identity(TensorProto.STRING), engine=engine) as session:
        for x in (np.array(texts), np.array(texts, object)):
            y = session.run({"x": x})["y"]
            assert y.shape == (2, 3) and y.tolist() == texts
        assert session.run({"x": np.array(texts)[:0]})["y"].shape == (0, 3)
        with pytest.raises(TypeError, match="texts"):
            session.run({"x": np.array([[1, None]], object)})


def test_results_are_the_callers_own():
    """Changing an output changes neither the inputs nor what later runs give."""
    x = np.ones((2, 3), np.float32)
    with isomer.Session(identity(TensorProto.FLOAT), engine="onednn") as session:
        y = session.run({"x": x})["y"]
        y[:] = 7
        assert (x == 1).all()
        np.testing.assert_array_equal(session.run({"x": x})["y"], x)


def test_the_hints_of_all_functions_can_be_read():
    for function in (isomer.Session.__init__, isomer.Session.run, isomer.load, isomer.optimize, isomer.run):
        assert "return" in typing.get_type_hints(function)
    assert (pathlib.Path(isomer.__file__).parent / "py.typed").exists()
