"""Isomer finds an equivalent ONNX model that runs faster.

    import isomer
    result = isomer.optimize("model.onnx", threads=2)
    result.save("faster.onnx")
    print(result.report["outcome"])
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import sys
import tempfile
from typing import Mapping, Sequence

import numpy as np
import onnx

from . import _native

__version__ = _native.version
__all__ = ["Model", "Optimized", "load", "optimize", "run"]

ModelLike = "str | os.PathLike | bytes | onnx.ModelProto | Model"


class Model:
    """An ONNX model in a file, perhaps a temporary one that lives as long as this object."""

    def __init__(self, path: pathlib.Path, folder: tempfile.TemporaryDirectory | None = None):
        self._path = pathlib.Path(path)
        self._folder = folder
        signature = _native.signature(str(self._path))
        #: Names and types of the inputs and outputs: [("x", "f32[1,3,N,N]"), ...]
        self.inputs: list[tuple[str, str]] = signature.get("inputs", [])
        self.outputs: list[tuple[str, str]] = signature.get("outputs", [])

    @property
    def path(self) -> pathlib.Path:
        """The file."""
        return self._path

    def proto(self) -> onnx.ModelProto:
        """The model as onnx.ModelProto, external data loaded."""
        return onnx.load(self._path)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the model, and its external data beside it where it has some."""
        if any(onnx.external_data_helper.uses_external_data(t) for t in self._initializers()):
            onnx.save(self.proto(), path, save_as_external_data=True, location=pathlib.Path(path).name + ".data")
        else:
            shutil.copyfile(self._path, path)

    def _initializers(self):
        return onnx.load(self._path, load_external_data=False).graph.initializer

    def run(self, inputs: Mapping[str, np.ndarray], **options) -> dict[str, np.ndarray]:
        """As isomer.run."""
        return run(self, inputs, **options)

    def __repr__(self) -> str:
        return f"isomer.Model(inputs={self.inputs}, outputs={self.outputs})"


class Optimized(Model):
    """An optimized model with the report of the search."""

    def __init__(self, path: pathlib.Path, folder: tempfile.TemporaryDirectory, report: dict):
        super().__init__(path, folder)
        #: The report that `isomer optimize --json` prints.
        self.report = report

    @property
    def improved(self) -> bool:
        """False: no significant gain was found, and this is the model that was given."""
        return self.report["improved"]


def load(model: ModelLike) -> Model:
    """A model from a path, serialized bytes or an onnx.ModelProto. Raises ValueError for what is no valid model."""
    if isinstance(model, Model):
        return model
    if isinstance(model, (str, os.PathLike)):
        return Model(pathlib.Path(model))
    folder = tempfile.TemporaryDirectory(prefix="isomer-")
    path = pathlib.Path(folder.name) / "model.onnx"
    if isinstance(model, bytes):
        path.write_bytes(model)
    elif isinstance(model, onnx.ModelProto):
        large = model.ByteSize() > 1 << 30
        onnx.save(model, path, save_as_external_data=large, location="model.onnx.data")
    else:
        raise TypeError(f"a model is a path, bytes, onnx.ModelProto or isomer.Model, not {type(model).__name__}")
    return Model(path, folder)


def run(
    model: ModelLike, inputs: Mapping[str, np.ndarray], *, engine: str = "ort", threads: int = 1
) -> dict[str, np.ndarray]:
    """Runs a model once; outputs by name. `engine` is "ort" (needs onnxruntime), "onednn" or "reference"."""
    arrays = {name: np.asarray(array) for name, array in inputs.items()}
    loaded = load(model)  # kept alive: its file may be a temporary one
    return _native.run(str(loaded.path), arrays, engine, threads, sys.executable)


def optimize(
    model: ModelLike,
    *,
    engine: str = "ort",
    threads: int = 1,
    time_budget: float = 120,
    seed: int = 1,
    shapes: Sequence[str] = (),
    rules: str | os.PathLike = "",
    skip_rules: Sequence[str] = (),
    tolerance: float = 1e-4,
    **options: object,
) -> Optimized:
    """Searches for an equivalent model that runs faster on `engine`, as `isomer optimize` does.

    `shapes` are texts such as "x:1,3,224,224" or "batch=8", values of symbolic dimensions for measuring. Further `options` go
    by the names of docs/embedding.md (`dtype="bf16"`, `objective="memory"`, `certificate="model.cert"`, ...). Returns the
    given model (`improved` is False) where no significant gain is found. Raises ValueError for bad input.
    """
    source = load(model)
    folder = tempfile.TemporaryDirectory(prefix="isomer-")
    path = pathlib.Path(folder.name) / "model.onnx"
    options |= {
        "engine": engine,
        "threads": threads,
        "time_budget": time_budget,
        "seed": seed,
        "shapes": list(shapes),
        "rules": os.fspath(rules),
        "skip_rules": list(skip_rules),
        "tolerance": tolerance,
        "python": sys.executable,
    }
    report = _native.optimize(str(source.path), str(path), json.dumps(options))
    return Optimized(path, folder, json.loads(report))
