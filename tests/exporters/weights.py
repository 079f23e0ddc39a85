"""Gives networks weights as training leaves them, with what random ones lack.

Among ordinary values there are subnormal ones and outliers, scales of zero, and variances near zero; a fault in a rewrite that
divides by a scale or folds a small variance shows only there.
"""

from __future__ import annotations

import zlib

import numpy as np


def trained(name: str, value: np.ndarray, inputs: int | None = None) -> np.ndarray:
    """Returns values for a parameter, chosen by its name: the same on every machine.

    `inputs` is how many values a result is summed from; by default all axes but the last count.
    """
    random = np.random.default_rng(zlib.crc32(f"{name}{value.shape}".encode()))
    lower = name.lower()
    if "var" in lower and "variable" not in lower:
        return variances(random, value)
    if "gamma" in lower or ("norm" in lower or "bn" in lower) and "weight" in lower:
        return scales(random, value)
    inputs = inputs or (np.prod(value.shape[:-1]) if value.ndim > 1 else 8)
    result = random.normal(size=value.shape) / np.sqrt(max(1, inputs))
    flat = result.reshape(-1)
    if flat.size >= 8:
        flat[1], flat[3], flat[-2] = 1e-40, 0.0, 6.0 * flat[-2]
    return result.astype(value.dtype)


def variances(random: np.random.Generator, value: np.ndarray) -> np.ndarray:
    result = random.uniform(0.3, 2.0, value.shape)
    if result.size >= 4:
        result.reshape(-1)[2] = 1e-12
    return result.astype(value.dtype)


def scales(random: np.random.Generator, value: np.ndarray) -> np.ndarray:
    result = random.uniform(0.5, 1.5, value.shape)
    if result.size >= 4:
        result.reshape(-1)[1], result.reshape(-1)[2], result.reshape(-1)[3] = 0.0, 1e-3, -0.7
    return result.astype(value.dtype)


def train_like(model) -> None:
    """Sets the weights of a Keras model."""
    for variable in model.weights:
        variable.assign(trained(variable.name, variable.numpy()))
