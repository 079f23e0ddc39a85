"""Keras through tf2onnx: NHWC convolutions between transposes, recurrence with states, shape arithmetic."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf
import tf2onnx
import weights
from corpus import Model, versions
from tensorflow import keras
from tensorflow.keras import layers

EXPORTER = versions("tf2onnx", "tensorflow-cpu", "keras")
IMAGE = (24, 24, 3)


def image_network(*middle, units: int = 5, activation: str | None = "softmax"):
    """A first convolution, the given layers, and a classifier."""
    return keras.Sequential([
        layers.Input(IMAGE), layers.Conv2D(8, 3, strides=2, padding="same", use_bias=False), layers.BatchNormalization(),
        layers.ReLU(), *middle, layers.GlobalAveragePooling2D(), layers.Dense(units, activation=activation),
    ])  # fmt: skip


def mobile() -> keras.Model:
    block = [layers.Conv2D(24, 1), layers.BatchNormalization(epsilon=1e-3), layers.ReLU(6.0),
             layers.DepthwiseConv2D(3, padding="same"), layers.BatchNormalization(), layers.ReLU(6.0), layers.Conv2D(8, 1)]  # fmt: skip
    return image_network(*block, layers.Dropout(0.5))


def residual() -> keras.Model:
    x = first = layers.Input(IMAGE)
    x = side = layers.Conv2D(8, 3, padding="same")(x)
    for _ in range(2):
        x = layers.BatchNormalization()(x)
        x = layers.Activation("relu")(x)
        x = layers.Conv2D(8, 3, padding="same", use_bias=False)(x)
        x = side = layers.Add()([x, side])
    x = layers.Flatten()(layers.MaxPooling2D(4)(x))
    return keras.Model(first, layers.Dense(5)(x))


def inception() -> keras.Model:
    first = layers.Input(IMAGE)
    sides = [layers.Conv2D(4, 1)(first), layers.Conv2D(4, 3, padding="same")(first),
             layers.Conv2D(4, 1)(layers.AveragePooling2D(3, 1, padding="same")(first)),
             layers.SeparableConv2D(4, 3, padding="same")(first)]  # fmt: skip
    x = layers.Concatenate()(sides)
    return keras.Model(first, layers.Dense(3, activation="sigmoid")(layers.GlobalMaxPooling2D()(x)))


def unet() -> keras.Model:
    first = layers.Input(IMAGE)
    down = layers.Conv2D(6, 3, padding="same", activation="elu")(first)
    x = layers.Conv2D(12, 3, strides=2, padding="same", activation="elu")(down)
    x = layers.Conv2DTranspose(6, 2, strides=2)(x)
    x = layers.Concatenate()([x, down])
    x = layers.UpSampling2D(2, interpolation="bilinear")(x)
    return keras.Model(first, layers.Conv2D(2, 1, activation="tanh")(x))


def excitation() -> keras.Model:
    first = layers.Input(IMAGE)
    x = layers.Conv2D(8, 5, dilation_rate=2, activation="swish")(first)
    gate = layers.GlobalAveragePooling2D(keepdims=True)(x)
    gate = layers.Conv2D(8, 1, activation="sigmoid")(layers.Conv2D(2, 1, activation="relu")(gate))
    x = layers.Multiply()([x, gate])
    return keras.Model(first, layers.Dense(4)(layers.GlobalAveragePooling2D()(layers.PReLU(shared_axes=[1, 2])(x))))


def sequence(*middle) -> keras.Model:
    return keras.Sequential([layers.Input((7, 6)), *middle, layers.Dense(3)])


def recurrent() -> keras.Model:
    return sequence(layers.LSTM(5, return_sequences=True), layers.GRU(4, return_sequences=True), layers.SimpleRNN(4))


def both_ways() -> keras.Model:
    return sequence(layers.Bidirectional(layers.LSTM(4, return_sequences=True)), layers.Bidirectional(layers.GRU(3)))


def reset_before() -> keras.Model:
    return sequence(layers.GRU(5, reset_after=False, return_sequences=True, go_backwards=True), layers.LSTM(3, activation="relu"))


def embedding() -> keras.Model:
    first = layers.Input((9,), dtype="int32", name="ids")
    x = layers.Conv1D(6, 3, padding="causal", activation="relu")(layers.Embedding(20, 6)(first))
    return keras.Model(first, layers.Dense(2)(layers.GlobalMaxPooling1D()(x)))


def masked() -> keras.Model:
    first = layers.Input((9,), dtype="int32", name="ids")
    return keras.Model(first, layers.Dense(2)(layers.LSTM(4)(layers.Embedding(20, 6, mask_zero=True)(first))))


def attention() -> keras.Model:
    first = layers.Input((6, 8))
    x = layers.LayerNormalization()(first)
    x = layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)
    x = side = layers.Add()([x, first])
    x = layers.Dense(16, activation="gelu")(layers.LayerNormalization(epsilon=1e-12)(x))
    return keras.Model(first, layers.Add()([layers.Dense(8)(x), side]))


def volume() -> keras.Model:
    return keras.Sequential([
        layers.Input((6, 8, 8, 2)), layers.Conv3D(4, 3, padding="same"), layers.BatchNormalization(),
        layers.LeakyReLU(0.2), layers.MaxPooling3D(2), layers.Flatten(), layers.Dense(3),
    ])  # fmt: skip


def normalizations() -> keras.Model:
    x = first = layers.Input(IMAGE)
    x = layers.ZeroPadding2D(((1, 0), (0, 2)))(layers.GroupNormalization(groups=3)(x))
    x = layers.Cropping2D(1)(layers.Conv2D(6, 3)(x))
    x = layers.UnitNormalization()(layers.Reshape((-1, 6))(x))
    return keras.Model(first, layers.Permute((2, 1))(x))


def two_inputs() -> keras.Model:
    a, b = layers.Input((4, 6), name="a"), layers.Input((4, 6), name="b")
    shared = layers.Dense(5, activation="softplus")
    x, y = shared(a), shared(b)
    return keras.Model([a, b], [layers.Dot(2, normalize=True)([x, y]), layers.Maximum()([x, y]), layers.Subtract()([x, y])])


def convert(make, opset: int, **options):
    model = make()
    weights.train_like(model)
    shapes = [tf.TensorSpec([options.get("batch"), *i.shape[1:]], i.dtype, name=i.name.split(":")[0]) for i in model.inputs]
    return tf2onnx.convert.from_keras(model, shapes, opset=opset, inputs_as_nchw=options.get("nchw"))[0]


def tensors(function, *specs, opset: int):
    """Converts a function of tensors."""
    return tf2onnx.convert.from_function(tf.function(function), [tf.TensorSpec(*s) for s in specs], opset=opset)[0]


def detections(opset: int):
    """Boxes and scores to the boxes that are kept; where all scores are low, none."""

    def keep(boxes, scores):
        found = tf.image.non_max_suppression(boxes, scores, 4, iou_threshold=0.5, score_threshold=0.6)
        return tf.gather(boxes, found), tf.gather(scores, found)

    return tensors(keep, ([12, 4], tf.float32, "boxes"), ([12], tf.float32, "scores"), opset=opset)


def loop(opset: int):
    """A while loop over a state, and a condition on its result."""

    def repeat(x):
        state = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.tanh(s @ x)), [0, x])[1]
        return tf.cond(tf.reduce_sum(state) > 0, lambda: state + 1.0, lambda: state * 2.0)

    return tensors(repeat, ([4, 4], tf.float32, "x"), opset=opset)


def selections(opset: int):
    """Gathers with indices at the edges, strided slices, one-hot, top-k, where."""

    def select(x, ids):
        rows = tf.gather(x, ids)
        sliced = tf.reverse(x[::2, 1:-1], [1])
        best, where = tf.math.top_k(x, 3)
        return rows, sliced, best, where, tf.one_hot(ids, 6), tf.where(x > 0, x, -1e9 * tf.ones_like(x)), tf.cumsum(x, 1)

    return tensors(select, ([6, 8], tf.float32, "x"), ([4], tf.int32, "ids"), opset=opset)


def einsum(opset: int):
    return tensors(
        lambda q, k: tf.nn.softmax(tf.einsum("bqhd,bkhd->bhqk", q, k) + tf.constant(np.triu(np.full((5, 5), -1e9, "f"), 1))),
        ([2, 5, 2, 4], tf.float32, "q"), ([2, 5, 2, 4], tf.float32, "k"), opset=opset,
    )  # fmt: skip


def models() -> list[Model]:
    plain = {
        mobile: [7, 9, 11, 13, 18], residual: [8, 12, 15], inception: [10, 17], unet: [11, 16], excitation: [9, 13, 18],
        recurrent: [9, 14], both_ways: [12, 17], reset_before: [13], embedding: [10, 18], masked: [15], attention: [13, 17],
        volume: [9, 15], normalizations: [12, 18], two_inputs: [12, 18],
    }  # fmt: skip
    edges = {"ids": [0, 1, 7, 19]}
    made = [
        Model(f"keras_{make.__name__}_opset{opset}", lambda make=make, opset=opset: convert(make, opset), choices=edges)
        for make, opsets in plain.items()
        for opset in opsets
    ]
    made.append(Model("keras_mobile_nchw_opset14", lambda: convert(mobile, 14, batch=2, nchw=["input_1"])))
    made.append(Model("keras_residual_batch1_opset18", lambda: convert(residual, 18, batch=1)))
    for make, opset in [(loop, 11), (loop, 18), (einsum, 12), (einsum, 17)]:
        made.append(Model(f"tf_{make.__name__}_opset{opset}", lambda make=make, opset=opset: make(opset)))
    for opset in (11, 18):
        made.append(Model(f"tf_selections_opset{opset}", lambda opset=opset: selections(opset), choices={"ids": [0, 5, 5, 2]}))
        for name, high in (("none", 0.5), ("some", 1.0)):
            made.append(Model(f"tf_detections_{name}_opset{opset}", lambda opset=opset: detections(opset),
                              ranges={"boxes": (0.0, 1.0), "scores": (0.0, high)}))  # fmt: skip
    return made
