"""What the exporters' files register, and how a registered model is described in models.json."""

from __future__ import annotations

import dataclasses
import importlib.metadata
from collections.abc import Callable

import numpy as np
import onnx


@dataclasses.dataclass(frozen=True)
class Model:
    """A model to make: `build` returns it.

    Inputs are uniform in [-1, 1) (integers in [0, 2)) unless `ranges` gives an input other bounds or `choices` the values that
    its elements are drawn from. `sizes` gives symbolic dimensions a value other than 2. `unstable` is set for models in which
    a rounding error can change the result by a step: detections that are kept or dropped, roundings to integers.
    """

    name: str
    build: Callable[[], onnx.ModelProto]
    ranges: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    choices: dict[str, list] = dataclasses.field(default_factory=dict)
    sizes: dict[str, int] = dataclasses.field(default_factory=dict)
    unstable: bool = False


def named(prefix: str, **functions_of_opsets: tuple[Callable[[int], onnx.ModelProto], list[int]]) -> list[Model]:
    """Makes one model per function and opset, without special inputs."""
    return [
        Model(f"{prefix}_{name}_opset{opset}", lambda make=make, opset=opset: make(opset))
        for name, (make, opsets) in functions_of_opsets.items()
        for opset in opsets
    ]


def opset_of(model: onnx.ModelProto) -> int:
    """The version of the default domain; 0 for a model that uses only other domains."""
    return max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0)


def versions(*packages: str) -> str:
    """Names packages with the versions that are installed."""
    return ", ".join(f"{package} {importlib.metadata.version(package).split('+')[0]}" for package in packages)


def axes_of(value: onnx.ValueInfoProto) -> list[str | int]:
    """The extents of an input; dimensions without a name get one."""
    return [
        d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else d.dim_param or f"{value.name}_{axis}"
        for axis, d in enumerate(value.type.tensor_type.shape.dim)
    ]


def bounds_of(made: Model, name: str, dtype: np.dtype) -> tuple[float, float]:
    floating = np.issubdtype(dtype, np.floating)
    return made.ranges.get(name, (-1.0, 1.0) if floating else (0.0, 2.0))


def input_entry(made: Model, value: onnx.ValueInfoProto) -> dict:
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))
    axes = axes_of(value)
    low, high = bounds_of(made, value.name, dtype)
    entry = {
        "name": value.name, "dtype": "str" if dtype == object else dtype.name, "axes": axes, "low": low, "high": high,
        "shape": [made.sizes.get(a, 2) if isinstance(a, str) else a for a in axes],
    }  # fmt: skip
    if value.name in made.choices:
        entry["choices"] = made.choices[value.name]
    return entry


def entry_of(made: Model, model: onnx.ModelProto, exporter: str) -> dict:
    """Describes a model for models.json."""
    defaults = {tensor.name for tensor in model.graph.initializer}
    inputs = [input_entry(made, value) for value in model.graph.input if value.name not in defaults]
    entry = {"name": made.name, "exporter": exporter, "opset": opset_of(model), "ir": model.ir_version, "inputs": inputs}
    entry["dynamic"] = {a: s for i in inputs for a, s in zip(i["axes"], i["shape"]) if isinstance(a, str)}
    return entry | ({"unstable": True} if made.unstable else {})
