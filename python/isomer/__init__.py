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
import math
import os
import pathlib
import tempfile
from typing import Sequence

from . import _native
from ._model import Model, ModelLike, Optimized, load
from ._session import Session, engine_python, run

__version__ = _native.version
__all__ = ["Model", "ModelLike", "Optimized", "Session", "load", "optimize", "run"]


def optimize(
    model: ModelLike,
    *,
    engine: str = "ort",
    threads: int = 1,
    time_budget: float = 45,
    seed: int = 1,
    shapes: Sequence[str] = (),
    rules: str | os.PathLike[str] = "",
    skip_rules: Sequence[str] = (),
    tolerance: float = 1e-4,
    python: str | os.PathLike[str] = "",
    **options: object,
) -> Optimized:
    """Searches for an equivalent model that runs faster on `engine`, as `isomer optimize` does.

    `shapes` are texts such as "x:1,3,224,224" or "batch=8", values of symbolic dimensions for measuring. `python` is as in
    Session. Further `options` go by the names of docs/embedding.md (`dtype="bf16"`, `objective="peak_bytes"`,
    `certificate="model.cert"`, ...). Returns the given model (`improved` is False) where no significant gain is found.
    Raises ValueError for bad input.
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
        "rules": rules,
        "skip_rules": list(skip_rules),
        "tolerance": tolerance,
        "python": engine_python(python),
    }
    for name, value in options.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"options: {name}: must be a finite number")
    report = _native.optimize(str(source.path), str(path), json.dumps(options, default=os.fspath))
    return Optimized(path, folder, json.loads(report))
