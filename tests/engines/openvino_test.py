#!/usr/bin/env python3
"""The engine openvino, in an environment that has its package; outputs are compared with ONNX Runtime's.

    openvino_test.py ISOMER ENGINE_TEST FOLDER      makes the environment in FOLDER
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from environment import Isomer, run_all, with_packages
from onnx import TensorProto, helper, numpy_helper

NETWORKS = ["squeezenet", "mobilenet-v2", "regnet-y-400mf", "inception-e-1", "googlenet", "nasrnn", "sru-m10", "gpt2-4"]
TOLERANCE = 1e-4

program, engine_test, folder = sys.argv[1:]
python = with_packages(pathlib.Path(folder) / "openvino", "openvino==2026.4.1", "numpy==2.4.6")
openvino = Isomer(program, python)
ort = Isomer(program, sys.executable)
work = pathlib.Path(tempfile.mkdtemp(prefix="isomer-openvino-"))


def save(name: str, nodes: list, inputs: list, outputs: list, weights: dict | None = None, domains=(), inner=()) -> pathlib.Path:
    value = lambda one: helper.make_tensor_value_info(one[0], one[1], one[2])
    tensors = [numpy_helper.from_array(array, key) for key, array in (weights or {}).items()]
    graph = helper.make_graph(nodes, name, [value(one) for one in inputs], [value(one) for one in outputs], tensors)
    graph.value_info.extend(value(one) for one in inner)
    opsets = [helper.make_opsetid("", 17), *(helper.make_opsetid(domain, 1) for domain in domains)]
    path = work / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def two_inputs() -> pathlib.Path:
    """Two inputs with a symbolic extent and three outputs, one of them integers."""
    nodes = [
        helper.make_node("Add", ["a", "b"], ["sum"], name="sum"),
        helper.make_node("ArgMax", ["sum"], ["place"], axis=1, name="place"),
        helper.make_node("MatMul", ["sum", "w"], ["product"], name="product"),
    ]
    extents = ["N", 8]
    weights = {"w": np.random.default_rng(1).standard_normal((8, 3)).astype(np.float32)}
    inputs = [("a", TensorProto.FLOAT, extents), ("b", TensorProto.FLOAT, extents)]
    outputs = [("product", 1, ["N", 3]), ("place", TensorProto.INT64, ["N", 1]), ("sum", 1, extents)]
    return save("two", nodes, inputs, outputs, weights)


def difference(model: pathlib.Path, *options: str) -> float:
    """The largest of all outputs, relative to the largest element of the same; names and types must be the same."""
    results = []
    for isomer, engine in ((ort, "ort"), (openvino, "openvino")):
        out = work / f"{model.stem}-{engine}"
        report = isomer.report("run", model, "--engine", engine, "--output-dir", out, *options)
        assert report["engine"] == engine
        results.append({one["name"]: np.load(one["file"]) for one in report["outputs"]})
    expected, got = results
    assert list(expected) == list(got), f"{list(expected)} and {list(got)}"
    largest = 0.0
    for name, array in expected.items():
        assert got[name].dtype == array.dtype and got[name].shape == array.shape, name
        if array.dtype.kind != "f":
            assert (got[name] == array).all(), name
        else:
            assert np.isfinite(got[name]).all(), name
            largest = max(largest, float(abs(got[name] - array).max() / abs(array).max()))
    return largest


def test_engine():
    """The tests of every engine."""
    pattern = "--gtest_filter=DISABLED_Packages/EveryEngine.*/openvino"
    command = [engine_test, "--gtest_also_run_disabled_tests", "--gtest_brief=1", pattern]
    done = subprocess.run(command, env=openvino.environment, capture_output=True, text=True)
    assert done.returncode == 0 and "[  PASSED  ]" in done.stdout, done.stdout
    assert "[  PASSED  ] 0 tests" not in done.stdout, done.stdout


def test_networks():
    for network in NETWORKS:
        model = work / f"{network}.onnx"
        ort.report("models", network, "-o", model)
        largest = difference(model)
        print(f"{network}: {largest:.0e}", flush=True)
        assert largest <= TOLERANCE, f"{network}: {largest}"


def test_symbolic_extents_and_several_outputs():
    model = two_inputs()
    assert difference(model, "--shape", "N=5") <= TOLERANCE
    assert difference(model, "--shape", "N=1") <= TOLERANCE


def test_threads():
    for threads in (1, 2):
        report = openvino.report("bench", two_inputs(), "--engine", "openvino", "--threads", threads, "--runs", 5)
        assert [one["threads"] for one in report["models"]] == [threads]
        assert report["engine_version"].startswith("2026.4.1")


def test_compare():
    model = two_inputs()
    assert openvino.report("compare", model, model, "--engine", "openvino")["equal"]


def test_optimize():
    """Both by costs only, which do not differ from run to run."""
    ort.report("models", "sru-11", "-o", work / "sru.onnx")
    database = work / "kernels.db"
    out = work / "faster.onnx"
    # Greedy search ends by itself; a time would make the outcome depend on the speed of the machine.
    common = ["--engine", "openvino", "--profile-db", database, "--search", "greedy", "--time-budget", "1000000"]
    report = openvino.report("optimize", work / "sru.onnx", "-o", out, "--costs-only", *common)
    assert report["engine_version"].startswith("2026.4.1"), report
    before = report["cost"]["before"]
    assert 0 < before["kernels"] < 11 and before["latency_us"] > 0, before
    largest = difference(out)
    assert largest <= TOLERANCE, largest
    known = ort.run("profile", "show", "--profile-db", database).stdout
    assert "openvino" in known, known
    again = work / "again.onnx"
    openvino.report("optimize", work / "sru.onnx", "-o", again, "--locked", *common)
    assert again.read_bytes() == out.read_bytes()


def test_costs_around_what_isomer_does_not_know():
    """An unknown operator of OpenVINO's own domain is a kernel by itself; what stands around it is fused as ever."""
    weights = {"w": np.random.default_rng(1).standard_normal((8, 8)).astype(np.float32)}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="a"),
        helper.make_node("Relu", ["a"], ["b"], name="b"),
        helper.make_node("Swish", ["b"], ["c"], name="c", domain="org.openvinotoolkit"),
        helper.make_node("MatMul", ["c", "w"], ["d"], name="d"),
        helper.make_node("Relu", ["d"], ["e"], name="e"),
    ]
    model = save("own", nodes, [("x", 1, [4, 8])], [("e", 1, [4, 8])], weights, ["org.openvinotoolkit"], [("c", 1, [4, 8])])
    options = ["--engine", "openvino", "--costs-only", "--dry-run", "--profile-db", work / "own.db"]
    limits = ["--time-budget", "1000000", "--max-candidates", "50"]
    report = openvino.report("optimize", model, *options, *limits)
    assert report["cost"]["before"]["kernels"] == 3, report["cost"]


def test_a_missing_package_is_explained():
    message = Isomer(program, sys.executable).error("run", two_inputs(), "--engine", "openvino")
    assert "cannot import openvino" in message and "-m pip install openvino" in message, message


def test_an_unknown_operator_is_named():
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="relu"),
        helper.make_node("Nope", ["r"], ["y"], name="strange", domain="ai.example"),
    ]
    model = save("unknown", nodes, [("x", 1, [3])], [("y", 1, [3])], domains=["ai.example"])
    message = openvino.error("run", model, "--engine", "openvino")
    assert "unknown.onnx" in message and "ai.example.Nope" in message and "'y'" in message, message
    assert len(message.strip().splitlines()) == 1, message


if __name__ == "__main__":
    sys.exit(run_all(dict(globals())))
