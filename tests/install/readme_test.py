#!/usr/bin/env python3
"""Runs the README's example in Python as a new user would, in a folder with a model.onnx.

    readme_test.py PACKAGE_FOLDER                this Python, with the package of a build
    readme_test.py --pip-install WORK_FOLDER     a new environment, after `pip install .` and nothing else
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import venv

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def model() -> onnx.ModelProto:
    """A model with the input that the example feeds."""
    weights = np.random.default_rng(1).standard_normal((8, 3, 7, 7)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["input", "w"], ["c"], strides=[4, 4], kernel_shape=[7, 7]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["y"]),
    ]
    x = helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, 224, 224])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 1, 1])
    graph = helper.make_graph(nodes, "small", [x], [y], [numpy_helper.from_array(weights, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def installed(work: pathlib.Path) -> pathlib.Path:
    """The Python of a new environment that has what `pip install .` gives."""
    shutil.rmtree(work / "venv", ignore_errors=True)
    venv.create(work / "venv", with_pip=True)
    python = work / "venv/bin/python"
    # The folder, and the compiler's usual name, let ccache and later runs find what was compiled before.
    command = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"-Cbuild-dir={work / 'build'}", ROOT]
    subprocess.run(command, check=True, env={"CXX": "c++", **os.environ})
    return python


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--pip-install", action="store_true")
    args = parser.parse_args()
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    environment = {key: value for key, value in os.environ.items() if key not in ("ISOMER_PYTHON", "PYTHONPATH")}
    python = pathlib.Path(sys.executable)
    if args.pip_install:
        python = installed(args.folder.resolve())
    else:
        environment["PYTHONPATH"] = str(args.folder.resolve())
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model(), pathlib.Path(folder) / "model.onnx")
        code = example + '\nassert outputs["y"].shape == (1, 8, 1, 1), outputs\n'
        subprocess.run([python, "-c", code], cwd=folder, env=environment, check=True)
        onnx.checker.check_model(onnx.load(pathlib.Path(folder) / "faster.onnx"))


if __name__ == "__main__":
    main()
