#!/usr/bin/env python3
"""Runs random RNN, GRU and LSTM layers on an engine and on ONNX Runtime, and compares the outputs.

    recurrent_test.py ISOMER [--engine reference] [--layers 150] [--seed 1]

The layers cover every direction, clip, peepholes, input_forget, linear_before_reset, activations with parameters, biases,
initial states and sequence lengths. Fails where an output differs by more than 1e-4 of its largest element.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper

TOLERANCE = 1e-4
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
ACTIVATIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
PLAIN = ["Relu", "Tanh", "Sigmoid", "Softsign", "Softplus"]
WITH_ALPHA = ["LeakyRelu", "ThresholdedRelu", "Elu"]
WITH_ALPHA_AND_BETA = ["Affine", "ScaledTanh", "HardSigmoid"]


class Layer:
    """A random layer: a model with one node, and the input that it reads."""

    def __init__(self, seed: int):
        self.random = numpy.random.default_rng(seed)
        self.cell = str(self.random.choice(list(GATES)))
        direction = str(self.random.choice(["forward", "reverse", "bidirectional"]))
        self.directions = 2 if direction == "bidirectional" else 1
        self.steps, self.batch, inputs, self.hidden = (int(self.random.integers(1, most)) for most in (6, 5, 6, 10))
        self.weights: dict[str, numpy.ndarray] = {}
        self.attributes = {"direction": direction, "hidden_size": self.hidden}
        self.choose_attributes()
        self.choose_activations()
        self.x = self.real(self.steps, self.batch, inputs)
        rows = GATES[self.cell] * self.hidden
        self.add("w", self.real(self.directions, rows, inputs))
        self.add("r", self.real(self.directions, rows, self.hidden))
        self.choose_operands(rows)

    def coin(self) -> bool:
        return bool(self.random.integers(2))

    def real(self, *shape: int) -> numpy.ndarray:
        return self.random.normal(scale=0.5, size=shape).astype(numpy.float32)

    def add(self, name: str, array: numpy.ndarray) -> None:
        self.weights[name] = array

    def choose_attributes(self) -> None:
        if self.coin():
            self.attributes["clip"] = float(self.random.choice([0.1, 0.5, 1.5] if self.cell != "RNN" else [0, 0.5, 1.5]))
        if self.cell == "GRU" and self.coin():
            self.attributes["linear_before_reset"] = 1
        if self.cell == "LSTM" and self.coin():
            self.attributes["input_forget"] = 1

    def choose_activations(self) -> None:
        if self.coin():
            return
        names, alphas, betas = [], [], []
        for _ in range(ACTIVATIONS[self.cell] * self.directions):
            names.append(str(self.random.choice(PLAIN + WITH_ALPHA + WITH_ALPHA_AND_BETA)))
            if names[-1] not in PLAIN:
                alphas.append(float(self.random.uniform(0.2, 1)))
            if names[-1] in WITH_ALPHA_AND_BETA:
                betas.append(float(self.random.uniform(0.2, 1)))
        self.attributes |= {"activations": names}
        if alphas:
            self.attributes["activation_alpha"] = alphas
        if betas:
            self.attributes["activation_beta"] = betas

    def choose_operands(self, rows: int) -> None:
        state = (self.directions, self.batch, self.hidden)
        if self.coin():
            self.add("b", self.real(self.directions, 2 * rows))
        if self.coin():
            self.add("lengths", self.random.integers(0 if self.cell != "RNN" else 1, self.steps + 1, self.batch).astype(numpy.int32))
        if self.coin():
            self.add("h", self.real(*state))
        if self.cell == "LSTM":
            if self.coin():
                self.add("c", self.real(*state))
            if self.coin():
                self.add("p", self.real(self.directions, 3 * self.hidden))

    def model(self) -> onnx.ModelProto:
        operands = ["x", *(name if name in self.weights else "" for name in ["w", "r", "b", "lengths", "h", "c", "p"])]
        operands = operands[: 8 if self.cell == "LSTM" else 6]
        results = ["y", "y_h", "y_c"][: 3 if self.cell == "LSTM" else 2]
        node = helper.make_node(self.cell, operands, results, **self.attributes)
        x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, self.x.shape)
        outputs = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in results]
        weights = [numpy_helper.from_array(array, name) for name, array in self.weights.items()]
        graph = helper.make_graph([node], "layer", [x], outputs, weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)

    def __str__(self) -> str:
        shapes = {name: list(array.shape) for name, array in self.weights.items()}
        return f"{self.cell} {self.attributes} of x {list(self.x.shape)}, {shapes}"


def expected(layer: Layer) -> list[numpy.ndarray]:
    session = onnxruntime.InferenceSession(layer.model().SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": layer.x})


def outputs(program: str, engine: str, layer: Layer) -> list[numpy.ndarray]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        onnx.save(layer.model(), folder / "layer.onnx")
        numpy.save(folder / "x.npy", layer.x)
        command = [program, "run", folder / "layer.onnx", "--engine", engine, "--input", f"x={folder}/x.npy"]
        command += ["--output-dir", folder, "--profile-db", ""]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{layer}: {done.stderr.strip()}")
        names = ["y", "y_h", "y_c"][: 3 if layer.cell == "LSTM" else 2]
        return [numpy.load(folder / f"{name}.npy") for name in names]


def difference(program: str, engine: str, layer: Layer) -> float:
    """The largest of all outputs, relative to the largest element of the same."""
    pairs = zip(outputs(program, engine, layer), expected(layer), strict=True)
    return max(float(abs(got - want).max() / max(float(abs(want).max()), 1e-3)) for got, want in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--engine", default="reference")
    parser.add_argument("--layers", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wrong = 0
    for seed in range(options.seed, options.seed + options.layers):
        layer = Layer(seed)
        largest = difference(options.program, options.engine, layer)
        if not largest <= TOLERANCE:  # so that NaN fails
            wrong += 1
            print(f"seed {seed} differs by {largest:.1e}: {layer}", flush=True)
    print(f"{options.layers - wrong} layers agree, {wrong} differ")
    return 1 if wrong or options.layers < 1 else 0


if __name__ == "__main__":
    sys.exit(main())
