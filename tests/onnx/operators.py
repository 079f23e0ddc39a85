"""Nodes of every operator of ONNX: valid operands and, for each attribute of each version, values other than its default.

A case is (operands, attributes, number of results). An operand is a shape (a graph input whose element type the operator
chooses), Typed(type, shape) (a graph input of this type), an array (an initializer) or None (absent). A version takes the
operands that it has: those that later versions added come last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from onnx import TensorProto, helper


class Typed(NamedTuple):
    type: int
    shape: tuple


class Case(NamedTuple):
    operands: list
    attributes: dict = {}
    results: int = 1
    since: int = 1
    until: int = 1000


X = (2, 3, 4)  # no extent is 1, and no two are equal
IMAGE = (2, 4, 7, 9)
BOOL, INT32, INT64, FLOAT = TensorProto.BOOL, TensorProto.INT32, TensorProto.INT64, TensorProto.FLOAT
PLAIN, STRING, DOUBLE = TensorProto.UINT8, TensorProto.STRING, TensorProto.DOUBLE


def ints(*values):
    return np.array(values, dtype=np.int64)


def floats(*values):
    return np.array(values, dtype=np.float32)


def number(value, dtype=np.int64):
    return np.array(value, dtype=dtype)


def each(operands, base=None, results=1, **values):
    """A case with the attributes `base`, and one more for each value of each further attribute."""
    base = base or {}
    cases = [Case(operands, base, results)]
    for name, choices in values.items():
        cases += [Case(operands, base | {name: choice}, results) for choice in choices]
    return cases


def prefixes(operands, required, base=None):
    """A case for each number of operands from `required` on."""
    return [Case(operands[:count], base or {}) for count in range(required, len(operands) + 1)]


def window(weight=None, **more):
    operands = [IMAGE] if weight is None else [IMAGE, weight]
    base = {"kernel_shape": [3, 2]} if weight is None else {}
    return each(
        operands,
        base,
        auto_pad=["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"],
        pads=[[1, 0, 1, 1]],
        strides=[[2, 3]],
        dilations=[[2, 1]],
        **more,
    )


def reduction():
    axes = [Case([X], {"axes": [0, 2]}, until=17), Case([X], {"axes": [-1]}, since=11, until=17), Case([X, ints(0, 2)]), Case([X, ints(-1)])]
    return axes + each([X], keepdims=[0]) + each([X, ints(1)], keepdims=[0, 1], noop_with_empty_axes=[1])


def extremum():
    return each([X], axis=[0, 2, -1], keepdims=[0, 1], select_last_index=[1])


def recurrent(gates, extra):
    """`extra`: the cases of attributes that only this kind has."""
    length, batch, size, hidden = 5, 2, 3, 4

    def operands(directions=1, layout=0):
        data = (batch, length, size) if layout else (length, batch, size)
        state = (batch, directions, hidden) if layout else (directions, batch, hidden)
        rest = [(directions, gates * hidden, size), (directions, gates * hidden, hidden), (directions, 2 * gates * hidden), Typed(INT32, (batch,)), state]
        if gates == 4:
            rest += [state, (directions, 3 * hidden)]
        return [data, *rest]

    base = {"hidden_size": hidden}
    names = {1: ["Affine"], 3: ["HardSigmoid", "Tanh"], 4: ["HardSigmoid", "Tanh", "Affine"]}[gates]
    cases = prefixes(operands(), 3, base)
    cases += [Case(operands()[:4], base, results) for results in range(2, 4 if gates == 4 else 3)]
    cases += [Case(operands()[:4], base | {"direction": direction}) for direction in ("forward", "reverse")]
    cases += [Case(operands(2)[:4], base | {"direction": "bidirectional"})]
    cases += [Case(operands(layout=1)[:4], base | {"layout": 1}, since=14)]
    cases += [Case(operands()[:4], base | {"activations": names, "activation_alpha": [0.3], "activation_beta": [0.4]})]
    cases += [Case(operands()[:4], base | {"clip": 0.5})]
    return cases + [Case(operands()[:4], base | {name: value}) for name, value in extra]


def binary():
    return [Case([X, X]), Case([X, (4,)])]


def variadic():
    return [Case([X]), Case([X, (4,), (3, 4)])]


def resize():
    scales, sizes = floats(1, 1, 2, 3), ints(2, 4, 14, 18)
    cases = [Case([IMAGE, scales], {"mode": mode}, until=10) for mode in ("nearest", "linear")]
    late = [
        {"mode": "nearest"},
        {"mode": "linear"},
        {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1},
        {"mode": "nearest", "nearest_mode": "floor"},
        {"mode": "linear", "coordinate_transformation_mode": "asymmetric"},
        {"mode": "nearest", "coordinate_transformation_mode": "align_corners", "nearest_mode": "ceil"},
    ]
    cases += [Case([IMAGE, floats(), scales], attributes, since=11) for attributes in late]
    cases += [Case([IMAGE, floats(), floats(), sizes], {"mode": "linear"}, since=11)]
    cases += [Case([IMAGE, None, None, sizes], {"mode": "linear"}, since=13)]
    roi = floats(0, 0, 0, 0, 1, 1, 0.5, 0.5)
    crop = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 2.5}
    cases += [Case([IMAGE, roi, scales], crop, since=11)]
    cases += [Case([IMAGE, None, scales], {"mode": "linear", "antialias": 1}, since=18)]
    cases += [Case([IMAGE, None, floats(2, 3)], {"mode": "linear", "axes": [2, 3]}, since=18)]
    policy = {"mode": "linear", "axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"}
    return cases + [Case([IMAGE, None, None, ints(14, 27)], policy, since=18)]


def attention():
    q, k, v = (2, 3, 4, 8), (2, 3, 6, 8), (2, 3, 6, 8)
    cases = each([q, k, v], is_causal=[1], scale=[0.25], softcap=[2.0], softmax_precision=[FLOAT], qk_matmul_output_mode=[0])
    cases += [Case([q, k, v], {"qk_matmul_output_mode": 1}, 4)]
    cases += [Case([q, k, v, (4, 6)]), Case([q, k, v, None, (2, 3, 5, 8), (2, 3, 5, 8)], {}, 3)]
    cases += [Case([q, k, v, None, None, None, Typed(INT64, (2,))], since=24)]
    cases += [Case([q, k, v], {"left_window_size": 2, "right_window_size": 1}, since=25)]
    return cases + [Case([(2, 4, 24), (2, 6, 24), (2, 6, 24)], {"q_num_heads": 3, "kv_num_heads": 3})]


def window_function():
    return each([Typed(INT64, ())], periodic=[0], output_datatype=[DOUBLE])


def random(*operands):
    return each(list(operands), {} if operands else {"shape": [2, 3]}, dtype=[DOUBLE], seed=[0.5])


def quantize():
    scale = number(0.5, np.float32)
    cases = [Case([X, scale]), Case([X, scale, number(3, np.uint8)])]
    cases += [Case([X, floats(1, 2, 3), np.zeros(3, np.uint8)], {"axis": axis}, since=13) for axis in (1, -2)]
    cases += [Case([X, scale], {"saturate": 0}, since=19)]
    blocks = np.ones((2, 3, 2), np.float32)
    cases += [Case([X, blocks], {"axis": 2, "block_size": 2, "output_dtype": TensorProto.INT8}, since=21)]
    return cases + [Case([X, scale], {"precision": FLOAT}, since=23)]


def dequantize():
    scale, x = number(0.5, np.float32), Typed(PLAIN, X)
    cases = [Case([x, scale]), Case([x, scale, number(3, np.uint8)])]
    cases += [Case([x, floats(1, 2, 3), np.zeros(3, np.uint8)], {"axis": axis}, since=13) for axis in (1, -2)]
    cases += [Case([x, np.ones((2, 3, 2), np.float32)], {"axis": 2, "block_size": 2}, since=21)]
    return cases + [Case([x, scale], {"output_dtype": FLOAT}, since=23)]


def scatter(**values):
    return each([X, Typed(INT64, (2, 2, 2)), (2, 2, 2)], **values)


def loss():
    operands = [(2, 3, 5), Typed(INT64, (2, 5)), (3,)]
    return prefixes(operands, 2) + each(operands[:2], ignore_index=[1, -1], reduction=["none", "sum", "mean"])


def dropout():
    cases = each([X], ratio=[0.25], seed=[7]) + [Case([X], {}, 2)]
    cases = [case._replace(until=11) if "ratio" in case.attributes else case for case in cases]
    ratio = number(0.25, np.float32)
    return cases + [Case([X, ratio]), Case([X, ratio, number(False, np.bool_)]), Case([X, ratio, number(True, np.bool_)], {"seed": 3})]


def norm(*operands, **values):
    return each(list(operands), **values)


def softmax():
    return [*each([X], axis=[2, 1, 0]), Case([X], {"axis": -1}, since=11), Case([(2, 5, 1, 1)], {"axis": 1})]


CASES = {
    "AffineGrid": each([(2, 2, 3), ints(2, 3, 5, 6)], align_corners=[1]),
    "And": [Case([Typed(BOOL, X), Typed(BOOL, (4,))])],
    "ArgMax": extremum(),
    "ArgMin": extremum(),
    "Attention": attention(),
    "AveragePool": window(ceil_mode=[1], count_include_pad=[1]),
    "BatchNormalization": norm(IMAGE, (4,), (4,), (4,), (4,), epsilon=[0.25], momentum=[0.5])
    + [Case([IMAGE, (4,), (4,), (4,), (4,)], {"training_mode": 1}, 3, since=14)]
    + [Case([IMAGE, (4, 7, 9), (4, 7, 9), (4, 7, 9), (4, 7, 9)], {"spatial": 0}, until=8)]
    + [Case([IMAGE, (4,), (4,), (4,), (4,)], {"spatial": 1}, until=8)]
    + [Case([IMAGE, (4,), (4,), (4,), (4,)], {}, 5, until=13)],
    "Bernoulli": each([X], dtype=[DOUBLE], seed=[0.5]),
    "BitCast": [Case([X], {"to": INT32})],
    "BitShift": [Case([Typed(PLAIN, X), Typed(PLAIN, X)], {"direction": d}) for d in ("LEFT", "RIGHT")],
    "BlackmanWindow": window_function(),
    "Cast": each([X], {"to": INT64}, to=[DOUBLE, TensorProto.FLOAT16, BOOL, INT32])
    + [Case([X], {"to": TensorProto.FLOAT8E4M3FN, "saturate": 0}, since=19)]
    + [Case([X], {"to": TensorProto.FLOAT8E8M0, "round_mode": "down"}, since=24)],
    "CastLike": [Case([X, Typed(DOUBLE, (1,))])]
    + [Case([X, Typed(TensorProto.FLOAT8E4M3FN, (1,))], {"saturate": 0}, since=19)]
    + [Case([X, Typed(TensorProto.FLOAT8E8M0, (1,))], {"round_mode": "down"}, since=24)],
    "CausalConvWithState": each([(2, 4, 9), (4, 1, 3)], {}, 2, activation=["silu"])
    + [Case([(2, 4, 9), (4, 1, 3), (4,), (2, 4, 2)], {}, 2)],
    "Celu": each([X], alpha=[0.5]),
    "CenterCropPad": each([X, ints(3, 3, 3)]) + [Case([X, ints(3, 3)], {"axes": axes}) for axes in ([0, 2], [-1, 1])],
    "Clip": [Case([X], bounds, until=10) for bounds in ({"min": -1.5}, {"max": 2.5}, {"min": -1.0, "max": 1.0})]
    + [Case([X, low, high], since=11) for low in (None, number(-1.5, np.float32)) for high in (None, number(2.5, np.float32))],
    "Col2Im": [Case([(2, 18, 20), ints(5, 7), ints(2, 3)])]
    + [Case([(2, 18, 6), ints(5, 7), ints(2, 3)], {"strides": [2, 2]})]
    + [Case([(2, 18, 42), ints(5, 7), ints(2, 3)], {"pads": [1, 1, 1, 1]})]
    + [Case([(2, 18, 9), ints(5, 7), ints(2, 3)], {"dilations": [2, 2]})],
    "Compress": each([X, Typed(BOOL, (2,))], axis=[0, -1]),
    "Concat": each([X, X], {"axis": 0}, axis=[1, 2, -1]),
    "ConstantOfShape": each([Typed(INT64, (3,))], value=[helper.make_tensor("value", INT32, [1], [7])]),
    "Conv": window((6, 4, 3, 2), kernel_shape=[[3, 2]])
    + [Case([IMAGE, (6, 2, 3, 2)], {"group": 2}), Case([IMAGE, (6, 4, 3, 2), (6,)])],
    "ConvInteger": [
        c._replace(operands=[Typed(PLAIN, IMAGE), *[Typed(PLAIN, o) for o in c.operands[1:]]])
        for c in window((6, 4, 3, 2), kernel_shape=[[3, 2]]) + [Case([IMAGE, (6, 2, 3, 2)], {"group": 2})]
    ],
    "ConvTranspose": window((4, 6, 3, 2), kernel_shape=[[3, 2]])
    + [Case([IMAGE, (4, 3, 3, 2)], {"group": 2}), Case([IMAGE, (4, 6, 3, 2), (6,)])]
    + [Case([IMAGE, (4, 6, 3, 2)], {"strides": [2, 3], "output_padding": [1, 2]})]
    + [Case([IMAGE, (4, 6, 3, 2)], {"strides": [2, 3], "output_shape": [14, 26]})],
    "CumProd": each([X, number(1)], exclusive=[1], reverse=[1]),
    "CumSum": each([X, number(1)], exclusive=[1], reverse=[1]) + [Case([X, number(-1, np.int32)])],
    "DFT": [Case([(2, 8, 1)]), Case([(2, 8, 1)], {"onesided": 1}), Case([(2, 8, 2)], {"inverse": 1})]
    + [Case([(2, 8, 5, 1)], {"axis": 2}, until=19), Case([(2, 8, 1), number(6)])]
    + [Case([(2, 8, 5, 1), None, number(2)], since=20), Case([(2, 8, 5, 1), number(6), number(-3)], since=20)],
    "DeformConv": each(
        [(2, 4, 7, 9), (6, 4, 2, 2), (2, 8, 6, 8)],
        kernel_shape=[[2, 2]],
    )
    + [Case([(2, 4, 7, 9), (6, 4, 2, 2), (2, 8, 8, 10)], {"pads": [1, 1, 1, 1]})]
    + [Case([(2, 4, 7, 9), (6, 4, 2, 2), (2, 8, 3, 4)], {"strides": [2, 2]})]
    + [Case([(2, 4, 7, 9), (6, 4, 2, 2), (2, 8, 5, 7)], {"dilations": [2, 2]})]
    + [Case([(2, 4, 7, 9), (6, 2, 2, 2), (2, 8, 6, 8)], {"group": 2})]
    + [Case([(2, 4, 7, 9), (6, 4, 2, 2), (2, 16, 6, 8)], {"offset_group": 2})]
    + [Case([(2, 4, 7, 9), (6, 4, 2, 2), (2, 8, 6, 8), (6,), (2, 4, 6, 8)])],
    "DepthToSpace": [Case([(2, 8, 3, 5)], {"blocksize": 2})]
    + [Case([(2, 8, 3, 5)], {"blocksize": 2, "mode": mode}, since=11) for mode in ("CRD", "DCR")],
    "DequantizeLinear": dequantize(),
    "Det": [Case([(2, 3, 3)])],
    "Dropout": dropout(),
    "DynamicQuantizeLinear": [Case([X], {}, 3)],
    "Einsum": [Case([X, (4, 5)], {"equation": "bij,jk->bik"}), Case([(3, 3)], {"equation": "ii"})],
    "Elu": each([X], alpha=[0.5]),
    "Expand": [Case([(3, 1), ints(2, 3, 4)])],
    "EyeLike": each([(3, 4)], dtype=[DOUBLE], k=[1, -1]),
    "Flatten": [*each([X], axis=[0, 1, 2, 3]), Case([X], {"axis": -1}, since=11)],
    "GRU": recurrent(3, [("linear_before_reset", 1)]),
    "Gather": each([X, Typed(INT64, (5,))], axis=[1, 2, -1]),
    "GatherElements": each([X, Typed(INT64, (2, 2, 2))], axis=[1, 2, -1]),
    "GatherND": [Case([X, Typed(INT64, (5, 2))]), Case([X, Typed(INT64, (2, 1))], {"batch_dims": 1}, since=12)],
    "Gelu": each([X], approximate=["tanh", "none"]),
    "Gemm": each([(2, 3), (3, 5), (5,)], alpha=[0.5], beta=[2.0])
    + [Case([(3, 2), (3, 5), (2, 5)], {"transA": 1}), Case([(2, 3), (5, 3), (1,)], {"transB": 1})]
    + [Case([(2, 3), (3, 5)], since=11)],
    "GlobalAveragePool": [Case([IMAGE])],
    "GlobalLpPool": each([IMAGE], p=[1, 3]),
    "GlobalMaxPool": [Case([IMAGE])],
    "GridSample": each([IMAGE, (2, 5, 6, 2)], align_corners=[1], padding_mode=["border", "reflection", "zeros"])
    + [Case([IMAGE, (2, 5, 6, 2)], {"mode": mode}, until=19) for mode in ("bilinear", "bicubic", "nearest")]
    + [Case([IMAGE, (2, 5, 6, 2)], {"mode": mode}, since=20) for mode in ("linear", "cubic", "nearest")],
    "GroupNormalization": [Case([IMAGE, (2,), (2,)], {"num_groups": 2} | more, until=20) for more in ({}, {"epsilon": 0.5})]
    + [
        Case([IMAGE, (4,), (4,)], {"num_groups": 2} | more, since=21)
        for more in ({}, {"epsilon": 0.5}, {"stash_type": TensorProto.FLOAT16}, {"stash_type": FLOAT})
    ],
    "HammingWindow": window_function(),
    "HannWindow": window_function(),
    "HardSigmoid": each([X], alpha=[0.25], beta=[0.75]),
    "Hardmax": softmax(),
    "ImageDecoder": each([Typed(PLAIN, (50,))], pixel_format=["BGR"]),
    "InstanceNormalization": each([IMAGE, (4,), (4,)], epsilon=[0.5]),
    "IsInf": each([X], detect_negative=[0], detect_positive=[0]),
    "LRN": each([IMAGE], {"size": 3}, alpha=[0.5], beta=[0.25], bias=[2.0]),
    "LSTM": recurrent(4, [("input_forget", 1)]),
    "LayerNormalization": each([X, (4,), (4,)], epsilon=[0.5], stash_type=[FLOAT, TensorProto.FLOAT16])
    + [Case([X, (4,)]), Case([X, (3, 4)], {"axis": 1}), Case([X, (3, 4)], {"axis": -2}), Case([X, (4,)], {"axis": -1}, 3)],
    "LeakyRelu": each([X], alpha=[0.5]),
    "LogSoftmax": softmax(),
    "LpNormalization": each([X], axis=[0, 1, 2], p=[1]),
    "LpPool": window(p=[1, 3], ceil_mode=[1]),
    "MatMul": [Case([(2, 3, 4), (4, 5)]), Case([(4,), (4,)])],
    "MatMulInteger": [Case([Typed(PLAIN, (2, 3)), Typed(PLAIN, (3, 4))])],
    "Max": variadic(),
    "MaxPool": window(ceil_mode=[1], storage_order=[1]) + [Case([IMAGE], {"kernel_shape": [3, 2]}, 2, since=8)],
    "MaxRoiPool": each([IMAGE, (3, 5)], {"pooled_shape": [2, 2]}, spatial_scale=[0.5]),
    "MaxUnpool": each([(2, 4, 3, 4), Typed(INT64, (2, 4, 3, 4))], {"kernel_shape": [2, 2]}, strides=[[2, 2]], pads=[[1, 0, 0, 0]])
    + [Case([(2, 4, 3, 4), Typed(INT64, (2, 4, 3, 4)), ints(2, 4, 7, 9)], {"kernel_shape": [2, 2], "strides": [2, 2]})],
    "Mean": variadic(),
    "MeanVarianceNormalization": each([IMAGE], axes=[[0, 1, 2, 3], [1]]),
    "MelWeightMatrix": each(
        [Typed(INT64, ()), Typed(INT64, ()), Typed(INT64, ()), (), ()], output_datatype=[DOUBLE]
    ),
    "Min": variadic(),
    "Mod": [*each([X, X], {"fmod": 1}), Case([Typed(INT64, X), Typed(INT64, (4,))])],
    "Multinomial": each([(2, 5)], dtype=[INT64], sample_size=[3], seed=[0.5]),
    "NegativeLogLikelihoodLoss": loss(),
    "NonMaxSuppression": each([(2, 6, 4), (2, 3, 6), number([4]), floats(0.5), floats(0.25)], center_point_box=[1])
    + prefixes([(2, 6, 4), (2, 3, 6), number([4]), floats(0.5), floats(0.25)], 2),
    "Not": [Case([Typed(BOOL, X)])],
    "OneHot": each([Typed(INT64, (2, 3)), number(5), floats(0, 1)], axis=[0, 1, 2, -1]),
    "Or": [Case([Typed(BOOL, X), Typed(BOOL, (4,))])],
    "PRelu": [Case([X, (3, 1)])],
    "Pad": [Case([X], {"pads": [0, 1, 1, 0, 2, 0]} | more, until=10) for more in ({}, {"mode": "edge"}, {"mode": "reflect"}, {"value": 2.5})]
    + [Case([X, ints(0, 1, 1, 0, 2, 0)], more, since=11) for more in ({}, {"mode": "constant"}, {"mode": "edge"}, {"mode": "reflect"})]
    + [Case([X, ints(0, 1, 1, 0, 2, 0), number(2.5, np.float32)], since=11)]
    + [Case([X, ints(1, 2), None, ints(-1)], since=18), Case([X, ints(0, 1, 1, 0, 2, 0)], {"mode": "wrap"}, since=19)],
    "QuantizeLinear": quantize(),
    "RMSNormalization": each([X, (4,)], epsilon=[0.5], stash_type=[TensorProto.FLOAT16]) + [Case([X, (3, 4)], {"axis": 1})],
    "RNN": recurrent(1, []),
    "RandomNormal": random() + each([], {"shape": [2, 3]}, mean=[0.5], scale=[2.0]),
    "RandomNormalLike": random(X) + each([X], mean=[0.5], scale=[2.0]),
    "RandomUniform": random() + each([], {"shape": [2, 3]}, low=[-1.0], high=[2.0]),
    "RandomUniformLike": random(X) + each([X], low=[-1.0], high=[2.0]),
    "Range": [Case([(), (), ()]), Case([Typed(INT64, ()), Typed(INT64, ()), Typed(INT64, ())])]
    + [Case([(), (), ()], {"stash_type": FLOAT}, since=27)],
    **{"Reduce" + kind: reduction() for kind in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")},
    "RegexFullMatch": each([Typed(STRING, (3,))], {"pattern": "a+"}),
    "Reshape": [Case([X, ints(4, -1)]), Case([X, ints(0, -1)])]
    + [Case([X, ints(4, -1)], {"allowzero": 1}, since=14), Case([X, Typed(INT64, (2,))])],
    "Resize": resize(),
    "ReverseSequence": each([(5, 4, 3), Typed(INT64, (4,))], {"batch_axis": 1, "time_axis": 0})
    + [Case([(4, 5, 3), Typed(INT64, (4,))], {"batch_axis": 0, "time_axis": 1})],
    "RoiAlign": each(
        [IMAGE, (3, 4), Typed(INT64, (3,))],
        mode=["max"],
        output_height=[2],
        output_width=[3],
        sampling_ratio=[2],
        spatial_scale=[0.5],
        coordinate_transformation_mode=["half_pixel", "output_half_pixel"],
    ),
    "RotaryEmbedding": each([(2, 3, 4, 8), (10, 4), (10, 4), Typed(INT64, (2, 4))], interleaved=[1])
    + [Case([(2, 4, 24), (10, 4), (10, 4), Typed(INT64, (2, 4))], {"num_heads": 3})]
    + [Case([(2, 3, 4, 8), (10, 2), (10, 2), Typed(INT64, (2, 4))], {"rotary_embedding_dim": 4})],
    "STFT": each([(2, 20, 1), number(4), None, number(8)], onesided=[0]) + [Case([(2, 20, 1), number(4), (8,)])],
    "Scatter": scatter(axis=[1, 2]),
    "ScatterElements": scatter(axis=[1, 2, -1])
    + [Case([X, Typed(INT64, (2, 2, 2)), (2, 2, 2)], {"reduction": r}, since=16) for r in ("none", "add", "mul")]
    + [Case([X, Typed(INT64, (2, 2, 2)), (2, 2, 2)], {"reduction": r}, since=18) for r in ("max", "min")],
    "ScatterND": [Case([X, Typed(INT64, (5, 1)), (5, 3, 4)])]
    + [Case([X, Typed(INT64, (5, 1)), (5, 3, 4)], {"reduction": r}, since=16) for r in ("none", "add", "mul")]
    + [Case([X, Typed(INT64, (5, 1)), (5, 3, 4)], {"reduction": r}, since=18) for r in ("max", "min")],
    "Selu": each([X], alpha=[0.5], gamma=[2.0]),
    "Shape": each([("N", 3, "M")], start=[1], end=[2, -1]),
    "Shrink": each([X], bias=[0.5], lambd=[0.25]),
    "Size": [Case([("N", 3, "M")])],
    "Slice": [Case([X], {"starts": [1, 0], "ends": [3, -1], "axes": [1, 2]}, until=9), Case([X], {"starts": [0, 1], "ends": [2, 3]}, until=9)]
    + [Case([X, ints(0, 1), ints(2, 3)], since=10), Case([X, ints(1, 0), ints(3, -1), ints(1, -1)], since=10)]
    + [Case([X, ints(-1, 0), ints(-9, 4), ints(1, 2), ints(-1, 2)], since=10), Case([X, Typed(INT64, (1,)), Typed(INT64, (1,))], since=10)],
    "Softmax": softmax(),
    "SoftmaxCrossEntropyLoss": loss() + [Case([(2, 3, 5), Typed(INT64, (2, 5))], {}, 2)],
    "SpaceToDepth": each([(2, 2, 6, 4)], {"blocksize": 2}, mode=["CRD", "DCR"]),
    "Split": [Case([X], {"axis": 2, "split": [1, 3]}, 2, until=12), Case([X], {"axis": 0}, 2, until=17), Case([X], {"axis": 2}, 2, until=17)]
    + [Case([X, ints(1, 3)], {"axis": 2}, 2, since=13), Case([X, ints(1, 3)], {"axis": -1}, 2, since=13)]
    + [Case([X], {"axis": 2, "num_outputs": 2}, 2, since=18), Case([X], {"axis": 1, "num_outputs": 2}, 2, since=18)],
    "Squeeze": [Case([(2, 1, 3, 1)], {"axes": [1, 3]}, until=12), Case([(2, 1, 3, 1)], {"axes": [-1]}, since=11, until=12)]
    + [Case([(2, 1, 3, 1)]), Case([(2, 1, 3, 1), ints(1)], since=13), Case([(2, 1, 3, 1), ints(-1, 1)], since=13)],
    "StringConcat": [Case([Typed(STRING, (3,)), Typed(STRING, (3,))])],
    "StringNormalizer": each(
        [Typed(STRING, (3,))], case_change_action=["LOWER", "UPPER"], is_case_sensitive=[1], locale=["en_US"], stopwords=[["a", "b"]]
    ),
    "StringSplit": each([Typed(STRING, (3,))], {}, 2, delimiter=[","], maxsplit=[1]),
    "Sum": variadic(),
    "SwiGLU": each([X, X], alpha=[0.5]),
    "Swish": each([X], alpha=[0.5]),
    "TensorScatter": each([(2, 8, 4), (2, 3, 4), Typed(INT64, (2,))], axis=[1], mode=["circular"])
    + [Case([(2, 3, 8, 4), (2, 3, 2, 4)])],
    "ThresholdedRelu": each([X], alpha=[0.5]),
    "Tile": [Case([X, ints(1, 2, 3)]), Case([X, Typed(INT64, (3,))])],
    "TopK": [Case([X], {"k": 2, "axis": axis}, 2, until=9) for axis in (0, -1)]
    + [Case([X, ints(2)], {"axis": axis}, 2, since=10) for axis in (0, 2, -1)]
    + [Case([X, ints(2)], more, 2, since=11) for more in ({}, {"largest": 0}, {"sorted": 0})],
    "Transpose": each([X], perm=[[2, 0, 1], [2, 1, 0]]),
    "Trilu": each([X], upper=[0]) + [Case([X, number(1)])],
    "Unique": each([Typed(INT64, X)], {}, 4, axis=[1, -1], sorted=[0]),
    "Unsqueeze": [Case([X], {"axes": [0, 2]}, until=12), Case([X], {"axes": [-1]}, since=11, until=12)]
    + [Case([X, ints(0, 2)], since=13), Case([X, ints(-1)], since=13), Case([X, Typed(INT64, (1,))], since=13)],
    "Upsample": [Case([IMAGE], {"scales": [1.0, 1.0, 2.0, 3.0], "mode": mode}, until=8) for mode in ("nearest", "linear")]
    + [Case([IMAGE, floats(1, 1, 2, 3)], {"mode": mode}, since=9) for mode in ("nearest", "linear")],
    "Where": [Case([Typed(BOOL, X), X, (4,)])],
    "Xor": [Case([Typed(BOOL, X), Typed(BOOL, (4,))])],
}
