"""Exports the architectures with PyTorch and saves their structure in graphs/.

Run by hand, in an environment made from requirements.txt:

    python export.py            every architecture
    python export.py NAME...    only these; the others keep their files
"""

from __future__ import annotations

import argparse
import importlib.metadata
import io
import json
import logging
import lzma
import time
import traceback
import warnings
import zlib
from collections import Counter

import onnx
import torch

from architectures import Architecture, architectures
from prepare import calibrate, example, quantize, randomise
from restore import GRAPHS, TABLE, graphs_of
from strip import strip_notes, strip_weights


def export_torchscript(arch: Architecture, model: torch.nn.Module, args: tuple) -> onnx.ModelProto:
    """Exports by tracing, with the older of the exporters."""
    mode = torch.onnx.TrainingMode.PRESERVE if arch.keep_norm else torch.onnx.TrainingMode.EVAL
    axes = {item.name: item.axes for item in arch.inputs if item.axes}
    if arch.output_axes:
        axes |= {name: arch.output_axes for name in arch.outputs}
    stream = io.BytesIO()
    torch.onnx.export(
        model, args, stream, dynamo=False, opset_version=arch.opset, training=mode,
        input_names=[item.name for item in arch.inputs], output_names=list(arch.outputs),
        dynamic_axes=axes or None,
    )  # fmt: skip
    return onnx.load_model_from_string(stream.getvalue())


def export_dynamo(arch: Architecture, model: torch.nn.Module, args: tuple) -> onnx.ModelProto:
    """Exports through torch.export, with the newer of the exporters."""
    shapes: tuple = tuple(dict(item.axes) or None for item in arch.inputs)
    if getattr(model, "takes_varargs", False):
        shapes = (shapes,)
    program = torch.onnx.export(
        model, args, dynamo=True, opset_version=arch.opset, verbose=False,
        input_names=[item.name for item in arch.inputs], output_names=list(arch.outputs),
        dynamic_shapes=shapes if any(item.axes for item in arch.inputs) else None,
    )  # fmt: skip
    return program.model_proto


def entry_of(arch: Architecture, model: onnx.ModelProto, weights: int) -> dict:
    """Describes an exported graph for graphs.json."""
    shapes = {
        value.name: [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]
        for value in model.graph.input
    }
    inputs = [
        {
            "name": item.name, "dtype": item.dtype, "shape": list(item.shape),
            "axes": shapes[item.name], "low": item.low, "high": item.high,
        }
        for item in arch.inputs if item.name in shapes
    ]  # fmt: skip
    dynamic = {
        axis: size
        for item in inputs
        for axis, size in zip(item["axes"], item["shape"])
        if isinstance(axis, str)
    }
    nodes = [node for graph in graphs_of(model) for node in graph.node]
    library = arch.library
    return {
        "name": arch.name,
        "source": f"{library} {importlib.metadata.version(library).split('+')[0]}",
        "exporter": f"{arch.exporter} of torch {torch.__version__.split('+')[0]}",
        "opset": next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx")),
        "quantized": arch.quantize,
        "inputs": inputs,
        "dynamic": dynamic,
        "weights": weights,
        "nodes": len(nodes),
        "operators": dict(sorted(Counter(node.op_type for node in nodes).items())),
    }


def export(arch: Architecture) -> dict:
    """Exports one architecture, saves its structure, and returns its table entry."""
    torch.manual_seed(zlib.crc32(arch.name.encode()))
    model = arch.build().eval()
    args = tuple(example(item) for item in arch.inputs)
    with torch.no_grad():
        if not isinstance(model, torch.jit.ScriptModule):
            randomise(model)
            calibrate(model, tuple(a.float() if a.is_floating_point() else a for a in args))
        if arch.half:
            model = model.half()
        run = export_dynamo if arch.exporter == "dynamo" else export_torchscript
        exported = run(arch, model, args)
    if arch.quantize:
        exported = quantize(exported, arch)
    strip_notes(exported, arch.keep_notes)
    entry = entry_of(arch, exported, strip_weights(exported))
    data = exported.SerializeToString(deterministic=True)
    packed = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
    (GRAPHS / f"{arch.name}.onnx.xz").write_bytes(packed)
    return entry


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    names = set(parser.parse_args().names)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.backends.mha.set_fastpath_enabled(False)  # its fused operators have no ONNX form
    GRAPHS.mkdir(exist_ok=True)
    entries = {e["name"]: e for e in json.loads(TABLE.read_text())} if TABLE.exists() else {}
    everything = architectures()
    for arch in everything:
        if names and arch.name not in names:
            continue
        start = time.monotonic()
        try:
            entries[arch.name] = export(arch)
        except Exception as error:  # one failed export must not stop the others
            traceback.print_exc(limit=-3)
            print(f"{arch.name}: FAILED {type(error).__name__}", flush=True)
            continue
        seconds, count = time.monotonic() - start, entries[arch.name]["nodes"]
        print(f"{arch.name}: {count} nodes, {seconds:.0f} s", flush=True)
        ordered = [entries[a.name] for a in everything if a.name in entries]
        TABLE.write_text("[\n" + ",\n".join(map(json.dumps, ordered)) + "\n]\n")


if __name__ == "__main__":
    main()
