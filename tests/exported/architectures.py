"""The architectures which export.py exports, and how each one is exported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

DTYPES = {
    "float32": torch.float32,
    "float16": torch.float16,
    "int64": torch.int64,
    "bool": torch.bool,
}


@dataclass(frozen=True)
class Input:
    """One graph input: floats are uniform in [low, high), integers are in low..high-1."""

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float = -1.5
    high: float = 1.5
    axes: dict[int, str] = field(default_factory=dict)  # dynamic axes by position


@dataclass(frozen=True)
class Architecture:
    """A model to build with random weights, with the settings of its export."""

    name: str
    library: str
    build: Callable[[], torch.nn.Module]
    inputs: tuple[Input, ...]
    opset: int
    exporter: str = "torchscript"  # or "dynamo"
    outputs: tuple[str, ...] = ("output",)
    output_axes: dict[int, str] = field(default_factory=dict)  # of every output
    keep_norm: bool = False  # keep BatchNormalization apart from Conv
    keep_notes: bool = False  # keep the exporter's metadata and doc strings
    half: bool = False  # convert the model to float16
    quantize: str = ""  # "qdq", "qoperator" or "dynamic": quantize after the export


def image(
    size: int, batch: str = "", channels: int = 3, dtype: str = "float32", low: float = -1.5
) -> Input:
    """A square image; `batch` names the first axis to make it dynamic."""
    axes = {0: batch} if batch else {}
    count = 2 if batch else 1
    return Input("image", (count, channels, size, size), dtype, low, 1.5, axes)


def tokens(
    length: int,
    words: int,
    name: str = "input_ids",
    batch: str = "",
    sequence: str = "",
    low: int = 0,
) -> Input:
    """Integers in low..words-1, of shape [2, length]."""
    axes = {i: axis for i, axis in enumerate((batch, sequence)) if axis}
    return Input(name, (2, length), "int64", low, words, axes)


def architectures() -> list[Architecture]:
    """Returns every architecture, in the order of graphs.json."""
    from decoders import decoder_architectures
    from encoders import encoder_architectures
    from modules import module_architectures
    from multimodal import multimodal_architectures
    from timm_models import timm_architectures
    from torchvision_models import torchvision_architectures

    return [
        *torchvision_architectures(),
        *timm_architectures(),
        *encoder_architectures(),
        *decoder_architectures(),
        *multimodal_architectures(),
        *module_architectures(),
    ]
