#!/usr/bin/env python3
"""Runs the example programs on a tiny model and holds what they print against the reference engine.

    examples_test.py INSTALL_TEST_FOLDER [PYTHON_PACKAGE_FOLDER]

The folder is that of the test `install`, which has installed Isomer and built the examples there. Without the second one,
the example in Python is left out.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
SHAPE = (1, 16)  # of inputs; the examples take 1 for a symbol


def gate() -> onnx.ModelProto:
    """y = f c + (1 - f) z, which optimizing makes z + f (c - z); p = y w."""
    nodes = [
        helper.make_node("Mul", ["f", "c"], ["fc"]),
        helper.make_node("Sub", ["one", "f"], ["g"]),
        helper.make_node("Mul", ["g", "z"], ["gz"]),
        helper.make_node("Add", ["fc", "gz"], ["y"]),
        helper.make_node("MatMul", ["y", "w"], ["p"]),
    ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 16]) for name in "fcz"]
    outputs = [
        helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 16]),
        helper.make_tensor_value_info("p", TensorProto.FLOAT, ["N", 3]),
    ]
    rng = np.random.default_rng(1)
    constants = [
        numpy_helper.from_array(np.array(1, np.float32), "one"),
        numpy_helper.from_array(rng.standard_normal((16, 3)).astype(np.float32), "w"),
    ]
    graph = helper.make_graph(nodes, "gate", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def output_of(*command: object, **more: str) -> str:
    done = subprocess.run([str(word) for word in command], env={**os.environ, **more}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command} gave {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def reference(isomer: pathlib.Path, model: pathlib.Path, folder: pathlib.Path) -> dict[str, np.ndarray]:
    """Outputs of the reference engine on the inputs of examples/c."""
    given = []
    for name in "fcz":
        np.save(folder / f"{name}.npy", np.float32(0.1) * np.arange(16, dtype=np.float32).reshape(SHAPE))
        given += ["--input", f"{name}={folder / name}.npy"]
    output_of(isomer, "run", model, "--engine", "reference", "--output-dir", folder / "out", *given)
    return {name: np.load(folder / "out" / f"{name}.npy") for name in ("y", "p")}


def printed(text: str) -> dict[str, np.ndarray]:
    """What examples/c prints: a line "NAME [EXTENTS] ELEMENTS" for each output."""
    outputs = {}
    for line in text.splitlines():
        name, extents, *elements = line.split()
        shape = [int(extent) for extent in extents.strip("[]").split(",")]
        outputs[name] = np.array(elements, np.float32).reshape(shape)
    return outputs


def check_equal(outputs: dict[str, np.ndarray], expected: dict[str, np.ndarray], what: object) -> None:
    assert outputs.keys() == expected.keys(), what
    for name, array in expected.items():
        np.testing.assert_allclose(outputs[name], array, rtol=0, atol=1e-4 * np.abs(array).max(), err_msg=str(what))


def main() -> None:
    installed = pathlib.Path(sys.argv[1])
    isomer, run_model = installed / "prefix/bin/isomer", installed / "c/run_model"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = folder / "gate.onnx"
        onnx.save(gate(), model)
        expected = reference(isomer, model, folder)
        for engine in ("onednn", "reference"):
            check_equal(printed(output_of(run_model, model, engine, 2)), expected, f"C, {engine}")
        none = subprocess.run([run_model, folder / "none.onnx"], capture_output=True, text=True)
        assert none.returncode == 1 and "none.onnx" in none.stderr, none

        optimizers = {"C++": ([installed / "cpp/optimize_and_run"], {})}
        if len(sys.argv) > 2:
            command = [sys.executable, EXAMPLES / "python/optimize_and_run.py"]
            optimizers["Python"] = (command, {"PYTHONPATH": sys.argv[2]})
        for language, (command, environment) in optimizers.items():
            faster = folder / f"{language}.onnx"
            text = output_of(*command, model, faster, "roofline", **environment)
            assert float(text.split()[-1]) < 1e-4, f"{language}: {text}"
            assert len(onnx.load(faster).graph.node) == len(gate().graph.node) - 1, f"{language}: {text}"
            check_equal(printed(output_of(run_model, faster)), expected, f"{language}'s model")
            print(f"{language}: {text.splitlines()[0]}")


if __name__ == "__main__":
    main()
