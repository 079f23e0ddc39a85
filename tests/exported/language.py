"""How the architectures of transformers are described; see encoders.py and the like."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import torch
from transformers import masking_utils

from architectures import Architecture, Input, tokens

WORDS = 300
LENGTH = 12


class Pick(torch.nn.Module):
    """Calls a model by keyword, and returns the named fields of what it returns."""

    takes_varargs = True

    def __init__(self, model: torch.nn.Module, names: list[str], fields: list[str]) -> None:
        super().__init__()
        self.model, self.names, self.fields = model, names, fields

    def forward(self, *values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        result = self.model(**dict(zip(self.names, values)), return_dict=True)
        return tuple(result[name] for name in self.fields)


def _broadcast_mask(mask_function: Callable, bh_indices: bool = True) -> Callable:
    """Applies a mask function by broadcasting; tracing fails on the library's own vmap."""

    def apply(batch, head, query, key) -> torch.Tensor:
        batch = batch[:, None, None, None] if bh_indices else None
        head = head[None, :, None, None] if bh_indices else None
        return mask_function(batch, head, query[:, None], key)

    return apply


def make_traceable() -> None:
    """Lets the older exporter trace how the library makes its masks."""
    masking_utils._vmap_for_bhqkv = _broadcast_mask
    masking_utils.TransformGetItemToIndex = contextlib.nullcontext


def make(
    name: str,
    opset: int,
    kind: type,
    config: Callable,
    inputs: list[Input],
    fields: list[str] | None = None,
    attention: str = "eager",
    **settings,
) -> Architecture:
    """Describes a transformers model of class `kind` with the given configuration."""
    outputs = fields or ["last_hidden_state"]

    def build() -> torch.nn.Module:
        make_traceable()
        made = config()
        made._attn_implementation = attention
        if hasattr(made, "use_cache"):
            made.use_cache = False
        return Pick(kind(made), [item.name for item in inputs], outputs)

    batch = {0: "batch"} if any("batch" in item.axes.values() for item in inputs) else {}
    return Architecture(
        name="transformers_" + name, library="transformers", build=build, inputs=tuple(inputs),
        opset=opset, outputs=tuple(outputs), output_axes=batch, **settings,
    )  # fmt: skip


def ids(batch: str = "", sequence: str = "", name: str = "input_ids") -> Input:
    """Token ids; names make axes dynamic."""
    return tokens(LENGTH, WORDS, name, batch, sequence, low=3)


def mask(batch: str = "", sequence: str = "", low: int = 0, name="attention_mask") -> Input:
    """An attention mask of ones and, with `low` 0, zeros."""
    return tokens(LENGTH, 2, name, batch, sequence, low)
