"""JAX and Flax through jax2onnx."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import weights
from corpus import Model, versions
from flax import nnx
from jax2onnx import to_onnx

EXPORTER = versions("jax2onnx", "jax", "flax")


def array(name: str, *shape: int):
    return jnp.asarray(weights.trained(name, np.zeros(shape, np.float32)))


def perceptron(x):
    x = jax.nn.gelu(x @ array("first", 6, 16) + array("bias", 16))
    return jax.nn.log_softmax(x @ array("second", 16, 4))


def tied(x):
    shared = array("shared", 6, 4)
    code = jnp.tanh(x @ shared)
    return code @ shared.T, jnp.einsum("bi,ij->bj", x, shared) * 0.5


def attention(x):
    q, k, v = (x @ array(name, 8, 8) for name in "qkv")
    causal = jnp.tril(jnp.ones((5, 5), bool))
    scores = jnp.where(causal, q @ jnp.swapaxes(k, -1, -2) / np.sqrt(8.0), jnp.finfo(jnp.float32).min)
    return x + jax.nn.softmax(scores, axis=-1) @ v


def normalization(x):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-12) * array("gamma", 8) + array("beta", 8)


def convolution(x):
    return jax.nn.silu(jax.lax.conv_general_dilated(x, array("kernel", 3, 3, 3, 6), (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))


def numerics(x):
    return jnp.exp(-jnp.abs(x)), jnp.log1p(x * x), jnp.cumsum(x, axis=1), jnp.sort(x, axis=-1), jnp.clip(x, -0.2, 0.3)


def selection(x):
    return x[:, ::-1], jnp.take(x, jnp.array([0, 7, 7, 3]), axis=1), jnp.argmax(x, axis=1), jnp.concatenate([x, -x], axis=0)[1:]


def scanned(x):
    def step(state, row):
        state = jnp.tanh(row @ array("in", 8, 4) + state @ array("hidden", 4, 4))
        return state, state

    return jax.lax.scan(step, jnp.zeros(4), x)[1]


def chosen(x):
    return jax.lax.cond(x.sum() > 0, lambda y: y * 2.0, lambda y: y - 1.0, x)


def train_like(module: nnx.Module) -> nnx.Module:
    graph, state = nnx.split(module)
    flat = {path: value.replace(array("/".join(map(str, path)), *value.get_value().shape))
            for path, value in state.flat_state() if isinstance(value, nnx.Variable) and value.get_value().dtype == jnp.float32}  # fmt: skip
    for path, value in state.flat_state():
        flat.setdefault(path, value)
    return nnx.merge(graph, nnx.State.from_flat_path(flat))


class Network(nnx.Module):
    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.first, self.norm = nnx.Conv(3, 8, (3, 3), strides=2, rngs=rngs), nnx.BatchNorm(8, use_running_average=True, rngs=rngs)
        self.second, self.last = nnx.Conv(8, 8, (3, 3), feature_group_count=4, rngs=rngs), nnx.Linear(8, 4, rngs=rngs)

    def __call__(self, x):
        x = nnx.relu(self.norm(self.first(x)))
        return self.last(nnx.relu(self.second(x) + x).mean((1, 2)))


class Block(nnx.Module):
    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.norm, self.attention = nnx.LayerNorm(8, rngs=rngs), nnx.MultiHeadAttention(2, 8, decode=False, rngs=rngs)
        self.up, self.down = nnx.Linear(8, 16, rngs=rngs), nnx.Linear(16, 8, rngs=rngs)

    def __call__(self, x):
        x = x + self.attention(self.norm(x))
        return x + self.down(nnx.gelu(self.up(x)))


def convert(function, shape: tuple, opset: int) -> onnx.ModelProto:
    return to_onnx(function, [shape], opset=opset)


FUNCTIONS = {
    perceptron: (("B", 6), [21, 23]), tied: ((3, 6), [21]), attention: ((2, 5, 8), [21, 23]), normalization: ((2, 5, 8), [21]),
    convolution: ((2, 16, 16, 3), [21]), numerics: ((3, 8), [21]), selection: ((3, 8), [21]),
    scanned: ((6, 8), [21]), chosen: ((3, 8), [21]),
}  # fmt: skip


def models() -> list[Model]:
    made = [
        Model(f"jax_{function.__name__}_opset{opset}", lambda f=function, s=shape, o=opset: convert(f, s, o), sizes={"B": 3})
        for function, (shape, opsets) in FUNCTIONS.items()
        for opset in opsets
    ]
    for name, make, shape in (("network", Network, (2, 16, 16, 3)), ("block", Block, (2, 5, 8))):
        for opset in (21, 23):
            build = lambda m=make, s=shape, o=opset: convert(train_like(m()), s, o)  # noqa: E731
            made.append(Model(f"flax_{name}_opset{opset}", build))
    return made
