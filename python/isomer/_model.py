"""Models in files."""

from __future__ import annotations

import copy
import hashlib
import os
import pathlib
import shutil
import tempfile
from typing import Any, Iterator, Mapping, Union

import numpy as np
import numpy.typing as npt
import onnx
from google.protobuf.message import Message
from onnx.external_data_helper import load_external_data_for_tensor, uses_external_data

from . import _native

#: A proto with more bytes of weights is written with external data: a protobuf message is limited to 2 GB.
MAX_INSIDE = 1 << 30


class Model:
    """An ONNX model in a file, perhaps a temporary one that lives as long as this object."""

    def __init__(self, path: pathlib.Path, folder: tempfile.TemporaryDirectory[str] | None = None) -> None:
        self._path = pathlib.Path(path).absolute()
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
        model = onnx.load(self._path, load_external_data=False)
        for tensor in filter(uses_external_data, _tensors(model)):
            load_external_data_for_tensor(tensor, str(self._path.parent))
            tensor.data_location = onnx.TensorProto.DEFAULT  # older versions of onnx leave these
            del tensor.external_data[:]
        return model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to the file `path`, and its external data to a file PATH.HASH.data next to it.

        An existing model is replaced in the last step, so it stays intact if saving fails.
        """
        path = pathlib.Path(path)
        if path.exists() and not path.is_file():  # a device or pipe gets all weights inside
            path.write_bytes(self.proto().SerializeToString())
            return
        real = path.resolve()  # follows links, but readers look for external data next to the link
        model = onnx.load(self._path, load_external_data=False)
        outside = list(filter(uses_external_data, _tensors(model)))
        with (
            tempfile.TemporaryDirectory(prefix=".isomer-", dir=real.parent) as folder,
            tempfile.TemporaryDirectory(prefix=".isomer-", dir=path.parent) as data_folder,
        ):
            part = pathlib.Path(folder) / "part"
            if outside:
                data = pathlib.Path(data_folder) / "part"
                name = f"{path.name}.{_copy_data(outside, self._path.parent, data)}.data"
                for tensor in outside:
                    tensor.external_data.add(key="location", value=name)
                part.write_bytes(model.SerializeToString())
                _replace(data, path.with_name(name))
            else:
                shutil.copyfile(self._path, part)
            _replace(part, real)

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


def _tensors(message: Message) -> Iterator[onnx.TensorProto]:
    """All tensors of a message, also those in attributes, subgraphs and functions."""
    if isinstance(message, onnx.TensorProto):
        yield message
        return
    for field, value in message.ListFields():
        if field.message_type:
            for part in [value] if isinstance(value, Message) else value:
                yield from _tensors(part)


def _copy_data(tensors: list[onnx.TensorProto], folder: pathlib.Path, path: pathlib.Path) -> str:
    """Copies external data, found from `folder`, to the file `path`, and returns its hash. The locations are left out."""
    digest = hashlib.blake2b(digest_size=8)
    with path.open("wb") as file:
        for tensor in tensors:
            loaded = onnx.TensorProto()  # the model itself would keep the memory
            loaded.CopyFrom(tensor)
            load_external_data_for_tensor(loaded, str(folder))
            data = loaded.raw_data
            del tensor.external_data[:]
            tensor.external_data.add(key="offset", value=str(file.tell()))
            tensor.external_data.add(key="length", value=str(len(data)))
            file.write(data)
            digest.update(data)
    return digest.hexdigest()


def _replace(part: pathlib.Path, path: pathlib.Path) -> None:
    """Renames the file `part` to `path`. An existing file's permissions are kept."""
    if path.exists():
        shutil.copymode(path, part)
    part.replace(path)


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
        large = sum(len(tensor.raw_data) for tensor in _tensors(model)) > MAX_INSIDE
        if large or any(map(uses_external_data, _tensors(model))):
            model = copy.deepcopy(model)  # onnx.save takes the data out of its argument
        onnx.save(model, path, save_as_external_data=large, convert_attribute=True)
    else:
        raise TypeError(f"a model is a path, bytes, onnx.ModelProto or isomer.Model, not {type(model).__name__}")
    return Model(path, folder)
