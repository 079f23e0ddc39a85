"""Models after ONNX Runtime's own tools: its optimizer's files at each level, its quantizers, and float16 conversion.

The sources are other models of models/, so make those first.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import onnx
import onnxruntime as ort
from corpus import Model, versions
from onnxconverter_common import convert_float_to_float16
from onnxruntime import quantization as q
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
from table import inputs_of, load, table

EXPORTER = versions("onnxruntime", "onnxconverter-common")
LEVELS = {
    "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
}
INTEGER_TYPES = {"s8": q.QuantType.QInt8, "u8": q.QuantType.QUInt8, "s16": q.QuantType.QInt16}


def through_files(name: str, convert: Callable[[str, str], None]) -> onnx.ModelProto:
    """Applies a tool that reads one file and writes another."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = (str(Path(folder) / f"{n}.onnx") for n in ("before", "after"))
        onnx.save(load(name), before)
        convert(before, after)
        return onnx.load(after)


def optimized(name: str, level: str) -> onnx.ModelProto:
    def convert(before: str, after: str) -> None:
        options = ort.SessionOptions()
        options.graph_optimization_level = LEVELS[level]
        options.optimized_model_filepath = after
        options.log_severity_level = 3
        ort.InferenceSession(before, options, providers=["CPUExecutionProvider"])

    return through_files(name, convert)


class Samples(q.CalibrationDataReader):
    def __init__(self, name: str) -> None:
        self.left = [inputs_of(table()[name], seed) for seed in range(4)]

    def get_next(self) -> dict | None:
        return self.left.pop() if self.left else None


def prepared(before: str, after: str) -> str:
    """What the quantizers ask for: shapes on all values."""
    path = after + ".prepared"
    q.shape_inference.quant_pre_process(before, path, skip_symbolic_shape=True)
    return path


def dynamically(name: str, weights: str, per_channel: bool) -> onnx.ModelProto:
    return through_files(name, lambda before, after: q.quantize_dynamic(
        prepared(before, after), after, weight_type=INTEGER_TYPES[weights], per_channel=per_channel))  # fmt: skip


def statically(name: str, style: str, activations: str, weights: str, **options) -> onnx.ModelProto:
    formats = {"qdq": q.QuantFormat.QDQ, "qoperator": q.QuantFormat.QOperator}
    return through_files(name, lambda before, after: q.quantize_static(
        prepared(before, after), after, Samples(name), quant_format=formats[style],
        activation_type=INTEGER_TYPES[activations], weight_type=INTEGER_TYPES[weights], **options))  # fmt: skip


def in_four_bits(name: str) -> onnx.ModelProto:
    quantizer = MatMulNBitsQuantizer(load(name), block_size=16, is_symmetric=False)
    quantizer.process()
    return quantizer.model.model


def in_half(name: str, **options) -> onnx.ModelProto:
    return convert_float_to_float16(load(name), **options)


def derived(prefix: str, name: str, build: Callable[[], onnx.ModelProto], unstable: bool = False) -> Model:
    """A model with the inputs of its source."""
    entry = table()[name]
    ranges = {item["name"]: (item["low"], item["high"]) for item in entry["inputs"]}
    choices = {item["name"]: item["choices"] for item in entry["inputs"] if "choices" in item}
    return Model(f"ort_{prefix}_{name}", build, ranges, choices, entry["dynamic"], unstable or entry.get("unstable", False))


def models() -> list[Model]:
    made = []
    for level, names in OPTIMIZED.items():
        made += [derived(level, name, lambda name=name, level=level: optimized(name, level)) for name in names]
    for name, kind, per_channel in DYNAMIC:
        title = f"dynamic_{kind}{'_channels' if per_channel else ''}"
        made.append(derived(title, name, lambda n=name, k=kind, p=per_channel: dynamically(n, k, p), unstable=True))
    for name, style, activations, kind, options in STATIC:
        title = "_".join([style, activations, kind, *options.get("title", [])])
        rest = {key: value for key, value in options.items() if key != "title"}
        build = lambda n=name, s=style, a=activations, k=kind, o=rest: statically(n, s, a, k, **o)  # noqa: E731
        made.append(derived(title, name, build, unstable=True))
    made += [derived("half", name, lambda name=name: in_half(name)) for name in HALF]
    made += [derived("half_inside", name, lambda name=name: in_half(name, keep_io_types=True)) for name in HALF_INSIDE]
    made += [derived("half_blocked", name, lambda name=name: in_half(name, keep_io_types=True, op_block_list=["Softmax", "Gemm"]))
             for name in HALF_BLOCKED]  # fmt: skip
    made += [derived("four_bits", name, lambda name=name: in_four_bits(name), unstable=True) for name in FOUR_BITS]
    return made


OPTIMIZED = {
    "basic": ["torch113_residual_opset9", "torch113_attention_opset14", "keras_mobile_opset13", "keras_masked_opset15",
              "sklearn_perceptron_opset9", "torch113_choice_opset13"],
    "extended": ["torch113_residual_opset11", "torch113_attention_opset12", "keras_attention_opset17", "keras_excitation_opset13",
                 "torch113_tied_opset17", "keras_inception_opset10", "sklearn_forest_opset15"],
    "all": ["torch113_residual_opset13", "keras_residual_opset12", "keras_unet_opset16", "torch113_lstm_opset14",
            "torch113_sequence_opset14", "tflite_inception_plain_opset12"],
}  # fmt: skip
DYNAMIC = [
    ("torch113_attention_opset14", "s8", False), ("torch113_lstm_opset14", "s8", False), ("keras_mobile_opset13", "u8", False),
    ("keras_attention_opset13", "u8", False), ("torch113_tied_opset17", "s8", True), ("keras_recurrent_opset14", "u8", True),
]  # fmt: skip
CHANNELS = {"per_channel": True, "title": ["channels"]}
MIRRORED = {"extra_options": {"ActivationSymmetric": True}, "title": ["symmetric"]}
STATIC = [
    ("torch113_residual_opset13", "qdq", "u8", "s8", CHANNELS), ("torch113_residual_opset13", "qoperator", "u8", "u8", {}),
    ("torch113_residual_opset11", "qoperator", "u8", "s8", CHANNELS), ("keras_mobile_opset13", "qdq", "s8", "s8", MIRRORED),
    ("keras_mobile_opset18", "qdq", "u8", "u8", {}), ("keras_unet_opset16", "qdq", "u8", "s8", CHANNELS),
    ("keras_inception_opset17", "qoperator", "u8", "u8", {}), ("torch113_attention_opset14", "qdq", "u8", "s8", {}),
    ("keras_excitation_opset18", "qoperator", "s8", "s8", CHANNELS), ("keras_residual_opset15", "qdq", "s16", "s8", {}),
    ("torch113_squeezed_opset13", "qdq", "u8", "s8", CHANNELS), ("torch113_tied_opset17", "qoperator", "u8", "u8", {}),
]  # fmt: skip
HALF = ["torch113_residual_opset13", "torch113_attention_least_opset13", "keras_mobile_opset13", "keras_unet_opset16",
        "torch113_lstm_opset14", "torch113_attention_opset14"]  # fmt: skip
HALF_INSIDE = ["torch113_residual_opset17", "torch113_squeezed_opset9", "torch113_attention_opset14", "keras_inception_opset17",
               "keras_excitation_opset9", "torch113_sequence_opset11", "torch113_gru_opset13", "torch113_choice_opset13"]  # fmt: skip
HALF_BLOCKED = ["torch113_residual_opset12", "torch113_attention_1e9_opset15", "keras_two_inputs_opset12"]
FOUR_BITS = ["torch113_tied_opset17", "keras_attention_opset17"]
