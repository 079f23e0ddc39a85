"""Isomer finds an equivalent ONNX model that runs faster.

    import isomer
    result = isomer.optimize("model.onnx", threads=2)
    print(result.report["outcome"])
    result.save("faster.onnx")
    with isomer.Session(result, threads=2) as session:
        outputs = session.run({"x": x})
"""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from typing import Any

from . import _native
from ._model import Model, ModelLike, Optimized, load
from ._options import options_as_json, takes_options
from ._session import Session, engine_python, run

__version__ = _native.version
__all__ = ["Model", "ModelLike", "Optimized", "Session", "load", "optimize", "run"]


@takes_options
def optimize(model: ModelLike, output: str | os.PathLike[str] | None = None, **options: Any) -> Optimized:
    """Searches for an equivalent model that runs faster, as `isomer optimize` does.

    Returns the optimized model, or the given one (`improved` is False) if there is no significant speedup. The model is
    written to the file `output`, or without one to a temporary file that lives as long as the result. A dry run returns
    the given model with the report. Raises TypeError for an unknown option, and ValueError for other bad input.
    """
    options["python"] = engine_python(options.get("python", ""))
    text = options_as_json(options)
    source = load(model)
    folder = tempfile.TemporaryDirectory(prefix="isomer-") if output is None else None
    path = pathlib.Path(output) if folder is None else pathlib.Path(folder.name) / "model.onnx"
    report = json.loads(_native.optimize(str(source.path), str(path), text))
    if options.get("dry_run"):
        path, folder = source.path, source._folder
    return Optimized(path, folder, report)
