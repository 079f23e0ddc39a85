"""Large models: weights are mapped, not copied, and many nodes do not take long.

    python large_test.py ISOMER ROUNDTRIP [--folder DIRECTORY]

Writes a model with 3 GB of external weights and looks, while Isomer works on it, at the memory that belongs only to
the process (pages of mapped files do not). The folder needs 7 GB. The time for a model of 5,000 nodes is printed,
and not judged: it depends on the machine.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "exported"))
import likeness
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS = 12
WIDTH = 8192  # a weight has 8192 x 8192 floats: 256 MiB
WEIGHT_BYTES = WIDTH * WIDTH * 4
MAX_ANONYMOUS_MB = 300
NODES = 5000


def model_of(graph: onnx.GraphProto) -> onnx.ModelProto:
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def value(name: str, shape: list[int]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def weight_rows(layer: int) -> np.ndarray:
    """The first rows of a weight; the others are zeros, which a sparse file does not store."""
    return np.random.default_rng(layer).standard_normal((4, WIDTH), dtype=np.float32) / 64


def write_heavy(path: Path) -> None:
    """Products with weights in an external file, each followed by a relu."""
    nodes, weights = [], []
    with open(path.with_suffix(".data"), "wb") as file:
        for layer in range(LAYERS):
            file.seek(layer * WEIGHT_BYTES)
            file.write(weight_rows(layer).tobytes())
            tensor = TensorProto(name=f"w{layer}", data_type=TensorProto.FLOAT, dims=[WIDTH, WIDTH])
            tensor.data_location = TensorProto.EXTERNAL
            place = {"location": path.with_suffix(".data").name, "offset": layer * WEIGHT_BYTES, "length": WEIGHT_BYTES}
            for key, entry in place.items():
                tensor.external_data.add(key=key, value=str(entry))
            weights.append(tensor)
            nodes.append(helper.make_node("MatMul", [f"x{layer}", f"w{layer}"], [f"y{layer}"]))
            nodes.append(helper.make_node("Relu", [f"y{layer}"], [f"x{layer + 1}"]))
        file.truncate(LAYERS * WEIGHT_BYTES)
    inputs, outputs = [value("x0", [1, WIDTH])], [value(f"x{LAYERS}", [1, WIDTH])]
    graph = helper.make_graph(nodes, "heavy", inputs, outputs, weights)
    path.write_bytes(model_of(graph).SerializeToString())


def write_long(path: Path) -> None:
    """A chain of small convolutions, relus and additions, each with a weight of its own."""
    random = np.random.default_rng(0)
    nodes, weights, shape = [], [], [1, 4, 8, 8]
    for index in range(NODES):
        source, result, weight = f"x{index}", f"x{index + 1}", f"w{index}"
        kind = ("Conv", "Add", "Relu")[index % 3]
        nodes.append(helper.make_node(kind, [source] if kind == "Relu" else [source, weight], [result], name=f"n{index}"))
        if kind != "Relu":
            dims = (4, 4, 1, 1) if kind == "Conv" else (1, 4, 1, 1)
            values = random.standard_normal(dims, dtype=np.float32) / 4
            weights.append(numpy_helper.from_array(values, weight))
    graph = helper.make_graph(nodes, "long", [value("x0", shape)], [value(f"x{NODES}", shape)], weights)
    onnx.save(model_of(graph), path)


def watched(command: list[str]) -> tuple[float, float]:
    """Runs a command; returns its seconds and the most anonymous memory seen, in MB."""
    start, most = time.monotonic(), 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        status = Path(f"/proc/{process.pid}/status")
        while process.poll() is None:
            lines = [line for line in status.read_text().splitlines() if line.startswith("RssAnon:")]
            most = max([most, *(int(line.split()[1]) for line in lines)])
            time.sleep(0.005)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    return time.monotonic() - start, most / 1024


def same_weights(path: Path) -> str:
    """What is wrong with the written weights; the file is mapped here too."""
    model = onnx.load(path, load_external_data=False)
    found = 0
    for tensor in model.graph.initializer:
        place = {entry.key: entry.value for entry in tensor.external_data}
        file, offset = path.parent / place["location"], int(place["offset"])
        data = np.memmap(file, np.float32, "r", offset, (WIDTH, WIDTH))
        rows = np.array(data[:4])
        found += any(np.array_equal(rows, weight_rows(layer)) for layer in range(LAYERS))
        if np.any(data[4:]):
            return f"{tensor.name}: something where zeros were"
    return "" if found == LAYERS else f"{found} of {LAYERS} weights found again"


def same_outputs(before: Path, after: Path) -> str:
    shape = onnx.load(before, load_external_data=False).graph.input[0].type.tensor_type.shape
    random = np.random.default_rng(1).standard_normal([dim.dim_value for dim in shape.dim], dtype=np.float32)
    expected, actual = (likeness.outputs_of(str(path), {"x0": random}, likeness.DISABLED) for path in (before, after))
    return likeness.differing_outputs(expected, actual, 1e-4)


def check_heavy(folder: Path, isomer: str, roundtrip: str) -> list[str]:
    before, after = folder / "heavy.onnx", folder / "heavy.written.onnx"
    write_heavy(before)
    optimize = [isomer, "optimize", str(before), "-o", str(after), "--engine", "roofline", "--time-budget", "0"]
    wrong = []
    for what, command in {"optimize": optimize, "round trip": [roundtrip, str(before), str(after)]}.items():
        seconds, memory = watched(command)
        print(f"{what}, 3 GB of weights: {seconds:.1f} s, {memory:.0f} MB of anonymous memory at most", flush=True)
        if memory > MAX_ANONYMOUS_MB:
            wrong.append(f"{what}: {memory:.0f} MB of anonymous memory, above {MAX_ANONYMOUS_MB}")
        onnx.checker.check_model(str(after))
        wrong += [f"{what}: {text}" for text in (same_weights(after), same_outputs(before, after)) if text]
        after.unlink()
        for data in folder.glob("heavy.written*"):
            data.unlink()
    return wrong


def check_long(folder: Path, roundtrip: str) -> list[str]:
    before, after = folder / "long.onnx", folder / "long.written.onnx"
    write_long(before)
    run = subprocess.run([roundtrip, str(before), str(after)], capture_output=True, text=True)
    print(f"{NODES:,} nodes: {run.stdout.strip() or run.stderr.strip()}", flush=True)
    if run.returncode != 0:
        return [f"{NODES} nodes: exit code {run.returncode}"]
    return [text for text in (same_outputs(before, after),) if text]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("isomer", help="the program")
    parser.add_argument("roundtrip", help="the program made of roundtrip.cc")
    parser.add_argument("--folder", help="where the models go, for a while")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        folder = Path(temporary)
        wrong = check_long(folder, options.roundtrip) + check_heavy(folder, options.isomer, options.roundtrip)
    for line in wrong:
        print("FAILED", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
