"""Small networks with a loss, their initial weights and their data, from which a training curve follows.

Each network is stated as an ONNX model (model), and in PyTorch (curves_torch.py).
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper

STEPS = 100
BATCH = 8
CLASSES = 5
# The network, the optimizer and the rate of each curve.
CURVES = {"cnn": ("sgd", 0.05), "cnn-batch-norm": ("sgd", 0.05), "lstm": ("sgd", 0.2), "transformer": ("adam", 0.005)}

# The same network, weights and data as another one, but written with the operator LSTM: it has that one's curve.
WITH_OPERATOR = {"lstm-operator": "lstm"}
CURVES |= {name: CURVES[other] for name, other in WITH_OPERATOR.items()}

# The running statistics of batch normalizations: the share of the old ones in the new ones, and the number of elements of a
# channel in a batch.
MOMENTUM = 0.9
STATISTICS = {"mean1": BATCH * 12 * 12, "var1": BATCH * 12 * 12, "mean2": BATCH * 6 * 6, "var2": BATCH * 6 * 6}

# Extents of the sequences of the LSTM and the transformer.
LENGTH, WIDTH, HEADS = 6, 12, 3


def weights(name: str) -> dict[str, np.ndarray]:
    """The initial weights, by name."""
    if name == "lstm-operator":
        given = weights("lstm")
        # The gates are input, forget, cell, output there; the operator's are input, output, forget, cell.
        rows = np.arange(4 * WIDTH).reshape(4, WIDTH)[[0, 3, 1, 2]].reshape(-1)
        return {**given, "wx": given["wx"][None, rows], "wh": given["wh"][None, rows], "b": given["b"][None, rows]}
    generator = np.random.default_rng(7)

    def draw(*shape: int) -> np.ndarray:
        fan = int(np.prod(shape[1:])) if len(shape) > 1 else 4
        return (generator.standard_normal(shape) / np.sqrt(fan)).astype(np.float32)

    if name == "cnn":
        return {"w1": draw(8, 3, 3, 3), "b1": draw(8), "w2": draw(12, 8, 3, 3), "b2": draw(12),
                "w3": draw(12, 1, 3, 3), "b3": draw(12), "scale": 1 + draw(12), "shift": draw(12),
                "out": draw(CLASSES, 12 * 3 * 3), "bias": draw(CLASSES)}
    if name == "cnn-batch-norm":
        return {"w1": draw(8, 3, 3, 3), "scale1": 1 + draw(8), "shift1": draw(8), "w2": draw(12, 8, 3, 3), "scale2": 1 + draw(12),
                "shift2": draw(12), "out": draw(CLASSES, 12 * 3 * 3), "bias": draw(CLASSES)}
    if name == "lstm":
        return {"wx": draw(4 * WIDTH, WIDTH), "wh": draw(4 * WIDTH, WIDTH), "b": draw(4 * WIDTH),
                "out": draw(CLASSES, WIDTH), "bias": draw(CLASSES)}
    square = {key: draw(WIDTH, WIDTH) for key in ("q", "k", "v", "o")}
    return {**square, "g1": 1 + draw(WIDTH), "s1": draw(WIDTH), "up": draw(4 * WIDTH, WIDTH), "ub": draw(4 * WIDTH),
            "down": draw(WIDTH, 4 * WIDTH), "db": draw(WIDTH), "g2": 1 + draw(WIDTH), "s2": draw(WIDTH),
            "out": draw(CLASSES, WIDTH), "bias": draw(CLASSES)}


def statistics(name: str) -> dict[str, np.ndarray]:
    """The initial running statistics of batch normalizations, by name."""
    if name != "cnn-batch-norm":
        return {}
    return {key: np.full(8 if key.endswith("1") else 12, float(key.startswith("var")), np.float32) for key in STATISTICS}


def batches(name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """The data and the labels of each step: random examples whose mean depends on their class."""
    generator = np.random.default_rng(11)
    shape = (3, 12, 12) if name.startswith("cnn") else (LENGTH, WIDTH)
    means = generator.standard_normal((CLASSES, *shape)).astype(np.float32)
    out = []
    for _ in range(STEPS):
        labels = generator.integers(0, CLASSES, BATCH)
        noise = generator.standard_normal((BATCH, *shape)).astype(np.float32)
        out.append((0.5 * means[labels] + noise, labels.astype(np.int64)))
    return out


class Writer:
    """Collects nodes and constants of an ONNX model."""

    def __init__(self) -> None:
        self.nodes: list = []
        self.constants: list = []

    def __call__(self, op: str, *operands: str, outputs: int = 1, **attributes) -> str | list[str]:
        names = [f"{op}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, operands, names, **attributes))
        return names[0] if outputs == 1 else names

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def constant(self, value: np.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(value, f"constant_{len(self.constants)}"))
        return self.constants[-1].name

    def linear(self, x: str, weight: str, bias: str | None = None) -> str:
        y = self("MatMul", x, self("Transpose", weight, perm=[1, 0]))
        return y if bias is None else self("Add", y, bias)


def cnn(w: Writer) -> str:
    y = w("Relu", w("Conv", "x", "w1", "b1", pads=[1, 1, 1, 1]))
    y = w("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    y = w("Relu", w("Conv", y, "w2", "b2", pads=[1, 1, 1, 1], strides=[2, 2]))
    y = w("Conv", y, "w3", "b3", pads=[1, 1, 1, 1], group=12)
    y = w("InstanceNormalization", y, "scale", "shift", epsilon=0.1)
    return w.linear(w("Flatten", w("Sigmoid", y)), "out", "bias")


def cnn_batch_norm(w: Writer) -> str:
    def norm(y: str, number: int) -> str:
        operands = [f"{key}{number}" for key in ("scale", "shift", "mean", "var")]
        return w("BatchNormalization", y, *operands, outputs=3, training_mode=1, momentum=MOMENTUM, epsilon=1e-5)[0]

    # Smooth, since batch normalizations amplify rounding: one element on the other side of a kink led to another curve.
    y = w("Tanh", norm(w("Conv", "x", "w1", pads=[1, 1, 1, 1]), 1))
    y = w("AveragePool", y, kernel_shape=[2, 2], strides=[2, 2])
    y = w("Tanh", norm(w("Conv", y, "w2", pads=[1, 1, 1, 1]), 2))
    y = w("AveragePool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    return w.linear(w("Flatten", y), "out", "bias")


def lstm(w: Writer) -> str:
    gates = w("Split", w.linear("x", "wx"), w.integers(*[1] * LENGTH), outputs=LENGTH, axis=1)
    zeros = w.constant(np.zeros((BATCH, WIDTH), np.float32))
    h, c = zeros, zeros
    for gate in gates:
        sums = w("Add", w("Add", w("Squeeze", gate, w.integers(1)), w.linear(h, "wh")), "b")
        i, f, g, o = w("Split", sums, w.integers(*[WIDTH] * 4), outputs=4, axis=1)
        c = w("Add", w("Mul", w("Sigmoid", f), c), w("Mul", w("Sigmoid", i), w("Tanh", g)))
        h = w("Mul", w("Sigmoid", o), w("Tanh", c))
    return w.linear(h, "out", "bias")


def lstm_operator(w: Writer) -> str:
    steps = w("Transpose", "x", perm=[1, 0, 2])
    # Only one of both biases is trained.
    biases = w("Concat", "b", w.constant(np.zeros((1, 4 * WIDTH), np.float32)), axis=1)
    _, last = w("LSTM", steps, "wx", "wh", biases, outputs=2, hidden_size=WIDTH)
    return w.linear(w("Squeeze", last, w.integers(0)), "out", "bias")


def transformer(w: Writer) -> str:
    def heads(value: str, *perm: int) -> str:
        shape = w.integers(BATCH, LENGTH, HEADS, WIDTH // HEADS)
        return w("Transpose", w("Reshape", value, shape), perm=perm)

    q, k, v = (w.linear("x", name) for name in "qkv")
    scores = w("MatMul", heads(q, 0, 2, 1, 3), heads(k, 0, 2, 3, 1))
    scores = w("Div", scores, w.constant(np.array(np.sqrt(WIDTH / HEADS), np.float32)))
    mixed = w("MatMul", w("Softmax", scores, axis=-1), heads(v, 0, 2, 1, 3))
    mixed = w("Reshape", w("Transpose", mixed, perm=[0, 2, 1, 3]), w.integers(BATCH, LENGTH, WIDTH))
    y = w("LayerNormalization", w("Add", "x", w.linear(mixed, "o")), "g1", "s1", axis=-1, epsilon=1e-5)
    half, one, root = (w.constant(np.array(number, np.float32)) for number in (0.5, 1, np.sqrt(2)))
    z = w.linear(y, "up", "ub")
    z = w("Mul", w("Mul", z, w("Add", w("Erf", w("Div", z, root)), one)), half)
    y = w("LayerNormalization", w("Add", y, w.linear(z, "down", "db")), "g2", "s2", axis=-1, epsilon=1e-5)
    return w.linear(w("ReduceMean", y, axes=[1], keepdims=0), "out", "bias")


def model(name: str):
    """The network with the cross entropy of its scores as output `loss`; weights are initializers."""
    w = Writer()
    scores = {"cnn": cnn, "cnn-batch-norm": cnn_batch_norm, "lstm": lstm, "lstm-operator": lstm_operator,
              "transformer": transformer}[name](w)
    w.nodes.append(helper.make_node("SoftmaxCrossEntropyLoss", [scores, "labels"], ["loss"]))
    x, _ = batches(name)[0]
    values = {**weights(name), **statistics(name)}
    initial = [numpy_helper.from_array(value, key) for key, value in values.items()]
    graph = helper.make_graph(w.nodes, name,
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape),
                               helper.make_tensor_value_info("labels", TensorProto.INT64, [BATCH])],
                              [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])], initial + w.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
