"""Running models."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Mapping

import numpy as np
import numpy.typing as npt

from . import _native
from ._model import ModelLike, load
from ._options import options_as_json


def engine_python(python: str | os.PathLike[str]) -> str:
    """The Python for engines in a separate process: the given one, else the environment's, else this one."""
    return os.fspath(python) or os.environ.get("ISOMER_PYTHON") or sys.executable or ""


class Session:
    """A model that an engine has loaded, to be run any number of times.

        with isomer.Session("model.onnx", engine="onednn", threads=2) as session:
            outputs = session.run({"x": x})

    `engine` is "ort" (ONNX Runtime) or "openvino" (OpenVINO), both in a separate process, "onednn" (the built-in
    runtime) or "reference" (slow). `threads`, 1 to 1024, is the number of threads of one run. With `streams`, kernels of
    "onednn" that do not depend on each other run at the same time, and large ones have as many threads as there are
    streams; `threads` is then 1. `provider` is ONNX Runtime's execution provider, by default the CPU's. `dtype` may be
    "bf16" for "onednn". `python` is the Python that has the package of "ort" or "openvino". By default it is the
    environment variable ISOMER_PYTHON, or else the Python that runs the program. The model's file must exist until the
    session is closed. Raises ValueError if the file is not a valid model or the engine is not available.

    Several threads may run one session at the same time. "onednn" compiles a model at its first run, and again for each
    new set of extents. If the latency of the first answer matters, make one run beforehand.
    """

    def __init__(
        self,
        model: ModelLike,
        *,
        engine: str = "ort",
        threads: int = 1,
        streams: int = 1,
        provider: str = "",
        dtype: str = "f32",
        python: str | os.PathLike[str] = "",
    ) -> None:
        self._model = load(model)  # kept alive: its file may be a temporary one
        options = {"threads": threads, "streams": streams, "provider": provider, "dtype": dtype}
        options["python"] = engine_python(python)
        self._native = _native.Session(str(self._model.path), engine, options_as_json(options))
        #: Names and types of the inputs and outputs: [("x", "f32[1,3,N,N]"), ...]
        self.inputs: list[tuple[str, str]] = self._model.inputs
        self.outputs: list[tuple[str, str]] = self._model.outputs

    def run(self, inputs: Mapping[str, npt.ArrayLike]) -> dict[str, np.ndarray]:
        """The outputs for these inputs, by name; other Python threads go on meanwhile.

        An input that has a default value need not be given. Raises ValueError for a name that no input has, an array
        that does not fit its input, and a closed session; TypeError for elements that NumPy and ONNX do not share;
        RuntimeError where the engine cannot run the model.
        """
        return self._native.run({name: _dense(array) for name, array in inputs.items()})

    def close(self) -> None:
        """Releases the model and its engine. Runs that go on are not disturbed; closing again does nothing."""
        self._native.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"isomer.Session(inputs={self.inputs}, outputs={self.outputs})"


def _dense(given: npt.ArrayLike) -> np.ndarray:
    """The array as the engines read it: row-major, aligned, in the machine's byte order. Copies only if it must."""
    array = np.require(given, requirements=["C_CONTIGUOUS", "ALIGNED"])
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def run(
    model: ModelLike,
    inputs: Mapping[str, npt.ArrayLike],
    *,
    engine: str = "ort",
    threads: int = 1,
    streams: int = 1,
    provider: str = "",
    dtype: str = "f32",
    python: str | os.PathLike[str] = "",
) -> dict[str, np.ndarray]:
    """Runs a model once: as a Session that is closed again. Use a Session to run a model more than once."""
    with Session(
        model, engine=engine, threads=threads, streams=streams, provider=provider, dtype=dtype, python=python
    ) as session:
        return session.run(inputs)
