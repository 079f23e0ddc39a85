"""TFLite through tf2onnx: fused activations, per-channel int8 weights, asymmetric u8-bit activations."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tempfile
from pathlib import Path

import keras_models
import numpy as np
import tensorflow as tf
import tf2onnx
import weights
from corpus import Model, versions

EXPORTER = versions("tf2onnx", "tensorflow-cpu") + ", TFLite"


def samples(model):
    def generate():
        random = np.random.default_rng(3)
        for _ in range(4):
            yield [random.uniform(-1, 1, (1, *i.shape[1:])).astype(np.float32) for i in model.inputs]

    return generate


def flatbuffer(model, kind: str) -> bytes:
    """The TFLite file: 'plain', 'dynamic' (int8 weights), 'full' (8-bit activations too) or 'half'."""
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    if kind != "plain":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if kind == "full":
        converter.representative_dataset = samples(model)
    if kind == "half":
        converter.target_spec.supported_types = [tf.float16]
    return converter.convert()


def convert(make, kind: str, opset: int):
    model = make()
    weights.train_like(model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tflite"
        path.write_bytes(flatbuffer(model, kind))
        return tf2onnx.convert.from_tflite(str(path), opset=opset)[0]


def models() -> list[Model]:
    k = keras_models
    chosen = [
        (k.mobile, "plain", 9), (k.mobile, "plain", 13), (k.mobile, "full", 13), (k.mobile, "dynamic", 13), (k.mobile, "half", 13),
        (k.residual, "plain", 11), (k.residual, "full", 13), (k.inception, "plain", 12), (k.inception, "full", 14),
        (k.excitation, "plain", 18), (k.excitation, "full", 18), (k.unet, "plain", 13), (k.two_inputs, "plain", 15),
        (k.embedding, "plain", 11),
    ]  # fmt: skip
    return [
        Model(f"tflite_{make.__name__}_{kind}_opset{opset}", lambda make=make, kind=kind, opset=opset: convert(make, kind, opset),
              choices={"serving_default_ids:0": [0, 1, 19]}, unstable=kind == "full")
        for make, kind, opset in chosen
    ]  # fmt: skip
