"""Regenerates complete ONNX models from the structures kept in graphs/.

A structure is an ONNX model whose larger weight tensors have lost their data.
Each of them carries one metadata property, FILL_KEY, with the seed and the
statistics of the tensor it replaces.  The values come from the raw stream of
NumPy's PCG64, which NumPy keeps stable between its versions.

    python restore.py NAME -o OUT.onnx
    python restore.py --all DIRECTORY
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

HERE = Path(__file__).resolve().parent
GRAPHS = HERE / "graphs"
TABLE = HERE / "graphs.json"
FILL_KEY = "isomer.fill"


def uniform(seed: int, count: int) -> np.ndarray:
    """Returns `count` float64 values in [0, 1), the same ones on every machine."""
    raw = np.random.PCG64(seed).random_raw((count + 1) // 2)
    halves = np.stack([raw & np.uint64(0xFFFFFFFF), raw >> np.uint64(32)], axis=1)
    return halves.reshape(-1)[:count] * 2.0**-32


def parse_fill(text: str) -> dict[str, float]:
    """Reads 'seed=1;mean=0.5;std=1;min=0;max=1'."""
    return {key: float(value) for key, value in (part.split("=") for part in text.split(";"))}


def fill_values(dims: list[int], dtype: np.dtype, text: str) -> np.ndarray:
    """Generates the values which a fill property describes.

    They are uniform with the recorded mean and standard deviation, and are
    clipped to the recorded range, so that for instance variances stay positive.
    """
    fill = parse_fill(text)
    spread = fill["std"] * math.sqrt(3.0)
    values = uniform(int(fill["seed"]), math.prod(dims)) * (2.0 * spread)
    values += fill["mean"] - spread
    np.clip(values, fill["min"], fill["max"], out=values)
    if np.issubdtype(dtype, np.integer):
        np.rint(values, out=values)
    return values.astype(dtype).reshape(dims)


def graphs_of(model: onnx.ModelProto) -> Iterator[onnx.GraphProto | onnx.FunctionProto]:
    """Visits the main graph, the functions, and every nested subgraph."""
    waiting: list[onnx.GraphProto | onnx.FunctionProto] = [model.graph, *model.functions]
    while waiting:
        graph = waiting.pop()
        yield graph
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    waiting.append(attribute.g)
                waiting.extend(attribute.graphs)


def tensors_of(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Visits every initializer and every tensor attribute of a Constant node."""
    for graph in graphs_of(model):
        if isinstance(graph, onnx.GraphProto):
            yield from graph.initializer
        for node in graph.node:
            if node.op_type == "Constant":
                yield from (a.t for a in node.attribute if a.type == onnx.AttributeProto.TENSOR)


def load_structure(path: Path | str) -> onnx.ModelProto:
    """Reads a structure as it was saved, without its weights."""
    return onnx.load_model_from_string(lzma.decompress(Path(path).read_bytes()))


def restore(path: Path | str) -> onnx.ModelProto:
    """Reads a structure and regenerates its weights."""
    model = load_structure(path)
    for tensor in tensors_of(model):
        for index, entry in enumerate(tensor.metadata_props):
            if entry.key == FILL_KEY:
                dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
                values = fill_values(list(tensor.dims), dtype, entry.value)
                tensor.raw_data = numpy_helper.from_array(values).raw_data
                del tensor.metadata_props[index]
                break
    return model


def table() -> dict[str, dict]:
    """Returns graphs.json as a map from graph name to its entry."""
    return {entry["name"]: entry for entry in json.loads(TABLE.read_text())}


def inputs_of(entry: dict, seed: int, sizes: dict[str, int] | None = None) -> dict[str, np.ndarray]:
    """Makes inputs for a model that `entry` describes: uniform in the recorded range of each input.

    `sizes` gives symbolic dimensions other values than those of the entry.
    """
    sizes = {**entry["dynamic"], **(sizes or {})}
    result: dict[str, np.ndarray] = {}
    for index, item in enumerate(entry["inputs"]):
        shape = [sizes.get(axis, size) for axis, size in zip(item["axes"], item["shape"])]
        values = uniform(seed * 1000 + index, math.prod(shape))
        values = item["low"] + values * (item["high"] - item["low"])
        dtype = np.dtype(item["dtype"])
        if not np.issubdtype(dtype, np.floating):
            values = np.floor(values)
        result[item["name"]] = values.astype(dtype).reshape(shape)
    return result


def random_inputs(
    name: str, seed: int = 0, sizes: dict[str, int] | None = None
) -> dict[str, np.ndarray]:
    """Makes inputs for a graph of graphs.json."""
    return inputs_of(table()[name], seed, sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", help="graph to restore")
    parser.add_argument("-o", "--output", type=Path, help="file to write")
    parser.add_argument("--all", type=Path, metavar="DIR", help="restore every graph into DIR")
    options = parser.parse_args()
    if options.all:
        options.all.mkdir(parents=True, exist_ok=True)
        for name in table():
            onnx.save(restore(GRAPHS / f"{name}.onnx.xz"), options.all / f"{name}.onnx")
    elif options.name:
        model = restore(GRAPHS / f"{options.name}.onnx.xz")
        onnx.save(model, options.output or Path(f"{options.name}.onnx"))
    else:
        parser.error("give a graph name or --all")


if __name__ == "__main__":
    main()
