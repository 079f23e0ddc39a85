"""Models in files."""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
from typing import Any, Mapping, Union

import numpy as np
import numpy.typing as npt
import onnx

from . import _native


class Model:
    """An ONNX model in a file, perhaps a temporary one that lives as long as this object."""

    def __init__(self, path: pathlib.Path, folder: tempfile.TemporaryDirectory[str] | None = None) -> None:
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model, and its external data into the same folder."""
        initializers = onnx.load(self._path, load_external_data=False).graph.initializer
        if any(onnx.external_data_helper.uses_external_data(tensor) for tensor in initializers):
            onnx.save(self.proto(), path, save_as_external_data=True, location=pathlib.Path(path).name + ".data")
        else:
            shutil.copyfile(self._path, path)

    def run(self, inputs: Mapping[str, npt.ArrayLike], **options: Any) -> dict[str, np.ndarray]:
        """Loads the model, runs it once and releases it, as isomer.run does. A Session keeps it for any number of runs."""
        from ._session import run

        return run(self, inputs, **options)

    def __repr__(self) -> str:
        return f"isomer.Model(inputs={self.inputs}, outputs={self.outputs})"


#: The types that functions accept as a model.
ModelLike = Union[str, os.PathLike[str], bytes, onnx.ModelProto, Model]


class Optimized(Model):
    """An optimized model with the report of the search."""

    def __init__(
        self, path: pathlib.Path, folder: tempfile.TemporaryDirectory[str] | None, report: dict[str, Any]
    ) -> None:
        super().__init__(path, folder)
        #: The report that `isomer optimize --json` prints.
        self.report = report

    @property
    def improved(self) -> bool:
        """False: no significant gain was found, and this is the model that was given."""
        return bool(self.report["improved"])


def load(model: ModelLike) -> Model:
    """A model from a path, serialized bytes or an onnx.ModelProto. Raises ValueError for an invalid model."""
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
