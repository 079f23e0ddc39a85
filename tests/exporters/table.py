"""The committed models: their table, their files, and inputs for them."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import onnx

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "models"
TABLE = HERE / "models.json"
sys.path.insert(0, str(HERE.parent / "exported"))

import restore


def table() -> dict[str, dict]:
    """Returns models.json as a map from name to entry."""
    return {entry["name"]: entry for entry in json.loads(TABLE.read_text())} if TABLE.exists() else {}


def write_table(entries: dict[str, dict]) -> None:
    ordered = [entries[name] for name in sorted(entries)]
    TABLE.write_text("[\n" + ",\n".join(map(json.dumps, ordered)) + "\n]\n")


def load(name: str) -> onnx.ModelProto:
    """Reads a model, with its weights."""
    return restore.restore(FOLDER / f"{name}.onnx.xz")


def inputs_of(entry: dict, seed: int, sizes: dict[str, int] | None = None) -> dict[str, np.ndarray]:
    """Makes inputs for a model: drawn from the choices of each input, else as restore.py makes them."""
    result = restore.inputs_of(entry, seed, sizes)
    for index, item in enumerate(entry["inputs"]):
        if "choices" in item:
            shape = result[item["name"]].shape
            places = restore.uniform(seed * 1000 + index, math.prod(shape)) * len(item["choices"])
            dtype = object if item["dtype"] == "str" else item["dtype"]
            result[item["name"]] = np.array(item["choices"], dtype)[places.astype(int)].reshape(shape)
    return result
