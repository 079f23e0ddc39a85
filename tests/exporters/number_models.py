"""Hand-made models whose weights are the hard ones: what folds can overflow, flush to zero, or confuse."""

from __future__ import annotations

import numpy as np
import onnx
from corpus import Model, versions
from handmade import floats, integers, random, text, whole

EXPORTER = "by hand, " + versions("onnx")
LEAST = float(np.finfo(np.float32).min)


def overflow_scales(opset: int):
    """(x * 1e30) * 1e30, and the way back."""
    graph = "g (float[2,4] x, float[2,4] large) => (float[2,4] y, float[2,4] z) { a = Mul(x, s) y = Mul(a, s) b = Div(large, s) z = Div(b, s) }"
    return text(opset, graph, s=floats(1e30))


def overflow_products(opset: int):
    graph = "g (float[2,4] x) => (float[2,4] y) { a = MatMul(x, p) b = MatMul(a, q) y = MatMul(b, r) }"
    return text(opset, graph, p=random(1, 4, 4, scale=1e25), q=random(2, 4, 4, scale=1e25), r=random(3, 4, 4, scale=1e-25))


def overflow_sums(opset: int):
    graph = "g (float[2,4] x) => (float[2,4] y) { a = Mul(x, p) b = Mul(x, q) y = Add(a, b) }"
    return text(opset, graph, p=floats(3e38), q=floats(3e38))


def overflow_differences(opset: int):
    """x * a - x * b where a - b is infinite."""
    graph = "g (float[2,4] x) => (float[2,4] y) { a = Mul(x, p) b = Mul(x, q) y = Sub(a, b) }"
    return text(opset, graph, p=floats(3e38), q=floats(-3e38))


def underflow_scales(opset: int):
    """Products of subnormal constants, which vanish when multiplied first."""
    graph = "g (float[2,4] x) => (float[2,4] y, float[2,4] z) { a = Mul(x, s) b = Mul(a, s) y = Mul(b, l) c = Mul(x, t) z = Div(c, t) }"
    return text(opset, graph, s=floats(1e-25), l=floats(1e38), t=floats(1e-40, 1e-38, 3e-45, 1.0))


def batch_norms(opset: int):
    """After a convolution: a scale of zero, a variance near zero, a large one; and a normalization that has no convolution."""
    graph = """g (float[1,3,6,6] x) => (float[1,4,6,6] y, float[1,3,6,6] z) {
        c = Conv <pads=[1,1,1,1]> (x, w) n = BatchNormalization <epsilon=1e-12> (c, s, b, m, v) y = Relu(n)
        z = BatchNormalization <epsilon=0.001> (x, s3, b3, m3, v3) }"""
    last = {"s3": floats(0, 1, -2), "b3": floats(1, 0, 1e-40), "m3": floats(1e4, 0, -1), "v3": floats(1e-12, 1e12, 1)}
    return text(opset, graph, w=random(4, 4, 3, 3, 3), s=floats(0, 1, 1e-3, -1), b=floats(1, 2, 3, 4), m=floats(0, 1e3, -1, 1e-40),
                v=floats(1e-12, 1e-12, 1e10, 1), **last)  # fmt: skip


def masks(opset: int):
    """Softmax after masks of -inf, -1e9 and the least float; one row is masked as a whole."""
    graph = """g (float[1,2,4,4] x) => (float[1,2,4,4] p, float[1,2,4,4] q, float[1,2,4,4] r, float[1,2,4,4] t) {
        a = Add(x, inf) p = Softmax<axis=3>(a) b = Add(x, big) q = Softmax<axis=3>(b) c = Add(x, least) d = Add(c, least)
        r = Softmax<axis=3>(c) t = LogSoftmax<axis=3>(b) }"""
    upper = np.triu(np.ones((4, 4), np.float32), 1)
    infinite = np.where(upper > 0, -np.inf, 0).astype(np.float32)
    least = (upper * LEAST).astype(np.float32)
    least[2] = LEAST
    return text(opset, graph, inf=infinite, big=upper * np.float32(-1e9), least=least)


def tied(opset: int):
    """One matrix three times: as it is, stored again transposed, and transposed in the graph."""
    graph = """g (float[3,4] x) => (float[3,6] y, float[3,6] z, float[3,4] u) {
        y = MatMul(x, w) t = Transpose<perm=[1,0]>(v) z = MatMul(x, t) r = Relu(y) u = Gemm<transB=1>(r, w, zero) }"""
    w = random(5, 4, 6)
    return text(opset, graph, w=w, v=w.T.copy(), zero=floats(0))


def twins(opset: int):
    """Convolutions with equal, negated and nearly equal kernels, whose results are joined."""
    graph = """g (float[1,3,8,8] x) => (float[1,16,8,8] y) { a = Conv<pads=[1,1,1,1]>(x, p, c) b = Conv<pads=[1,1,1,1]>(x, q, c)
        d = Conv<pads=[1,1,1,1]>(x, r) e = Conv<pads=[1,1,1,1]>(x, s) m = Concat<axis=1>(a, b, d, e) y = Relu(m) }"""
    p = random(6, 4, 3, 3, 3)
    near = p.copy()
    near.reshape(-1)[5] = np.nextafter(near.reshape(-1)[5], np.float32(np.inf))
    return text(opset, graph, p=p, q=p.copy(), r=-p, s=near, c=floats(0, 1, 1e-40, 1e5))


def outliers(opset: int):
    """Scales and shifts around a convolution whose kernel has an outlier and a channel of zeros."""
    graph = """g (float[1,4,6,6] x) => (float[1,4,4,4] y) { a = Mul(x, s) b = Add(a, t) c = Conv(b, w, d) e = Mul(c, u) y = Add(e, v) }"""
    w = random(7, 4, 4, 3, 3)
    w[0, 0, 0, 0], w[1] = 1e4, 0.0
    shape = (1, 4, 1, 1)
    return text(opset, graph, s=floats(1, 0, 1e-3, -1).reshape(shape), t=floats(0, 1, 1e3, -0.0).reshape(shape), w=w,
                d=random(8, 4), u=floats(0, 1, 1e6, 1e-30).reshape(shape), v=random(9, 1, 4, 1, 1))  # fmt: skip


def whole_numbers(opset: int):
    """Integer arithmetic that wraps, divides toward zero, and takes remainders of negative numbers."""
    graph = """g (int64[4] x, int32[4] i) => (int64[4] a, int64[4] b, int64[4] c, int32[4] d, int64[4] e) {
        p = Mul(x, big) a = Mul(p, big) b = Div(x, three) c = Mod(x, three) f = Mul(i, i) d = Add(f, most) q = Add(x, most64) e = Sub(q, most64) }"""
    return text(opset, graph, big=whole(3037000500), three=whole(3, -3, 3, -7), most=np.array([2**31 - 1], np.int32), most64=whole(2**63 - 1))


def edges(opset: int):
    """Indices at both ends, negative where that is allowed, repeated."""
    graph = """g (float[4,5] x, int64[3] ids) => (float[3,5] a, float[4,3] b, float[2,2,5] c, float[4,5] d, float[4,5] e, float[1,5] f) {
        a = Gather(x, ids) b = Gather<axis=1>(x, last) c = Gather(x, pairs) d = ScatterElements<axis=0>(x, rows, updates)
        e = ScatterND(x, places, values) f = Slice(x, minus, end, zero) }"""
    return text(opset, graph, last=whole(-1, 0, 4), pairs=np.array([[-4, 3], [0, -1]]), rows=np.array([[3, -4, 0, 1, -1]]),
                updates=random(10, 1, 5), places=np.array([[3, 4], [0, 0]]), values=floats(7, -7), minus=whole(-1),
                end=whole(2**63 - 1), zero=whole(0))  # fmt: skip


def suppression(opset: int):
    """Boxes of which none passes the threshold, gathered all the same."""
    graph = """g (float[1,6,4] boxes, float[1,2,6] scores) => (int64[K,3] kept, float[K,4] chosen, float[L] padded) {
        kept = NonMaxSuppression(boxes, scores, most, overlap, least) column = Gather<axis=1>(kept, two) flat = Squeeze(boxes, zero)
        chosen = Gather(flat, column) summed = ReduceSum<keepdims=0>(chosen, one) padded = Concat<axis=0>(summed, last) }"""
    return text(opset, graph, most=whole(4), overlap=floats(0.4), least=floats(0.7), two=np.array(2), zero=whole(0), one=whole(1),
                last=floats(5))  # fmt: skip


def linear_quantized(opset: int):
    """QLinearConv and QLinearMatMul with uint8 weights, a scale per channel and zero points other than 0."""
    graph = """g (float[1,3,5,5] x) => (float[1,4,3,3] y, float[1,4,3,2] z) { q = QuantizeLinear(x, sx, zx)
        c = QLinearConv(q, sx, zx, w, sw, zw, sy, zy, b) y = DequantizeLinear(c, sy, zy)
        m = QLinearMatMul(c, sy, zy, v, sv, zv, sz, zz) z = DequantizeLinear(m, sz, zz) }"""
    zero = {"zx": np.uint8(117), "zw": np.uint8(131), "zy": np.uint8(101), "zv": np.uint8(7), "zz": np.uint8(140)}
    scale = {"sx": np.float32(0.01), "sy": np.float32(0.05), "sv": np.float32(0.02), "sz": np.float32(0.04)}
    return text(opset, graph, w=integers(11, 90, 170, "uint8", 4, 3, 3, 3), sw=np.float32(0.013), b=integers(12, -500, 500, "int32", 4),
                v=integers(13, 0, 40, "uint8", 3, 2), **{k: np.asarray(n) for k, n in {**zero, **scale}.items()})  # fmt: skip


def channel_scales(opset: int):
    """Quantization per channel along the first and the last axis, signed and unsigned."""
    graph = """g (float[2,3] x) => (float[2,4] y, float[2,4] z, float[2,3] u) {
        d = DequantizeLinear<axis=1>(w, s, n) y = MatMul(x, d) e = DequantizeLinear<axis=0>(v, s, m) t = Transpose<perm=[1,0]>(e)
        z = MatMul(x, t) q = QuantizeLinear<axis=1>(x, r, k) u = DequantizeLinear<axis=1>(q, r, k) }"""
    return text(opset, graph, w=integers(14, -128, 128, "int8", 3, 4), s=floats(0.01, 1e-4, 0.5, 0.02),
                n=np.array([3, -7, 0, 127], np.int8), v=integers(15, 0, 256, "uint8", 4, 3), m=np.array([128, 0, 255, 9], np.uint8),
                r=floats(0.01, 0.004, 0.02), k=np.array([5, 128, 250], np.uint8))  # fmt: skip


def integer_products(opset: int):
    graph = """g (float[2,3] x) => (float[2,4] y, int32[1,2,3,3] z) { q, s, n = DynamicQuantizeLinear(x) p = MatMulInteger(q, w, n, m)
        f = Cast<to=1>(p) y = Mul(f, s) z = ConvInteger(i, k, n1, n2) }"""
    return text(opset, graph, w=integers(16, -128, 128, "int8", 3, 4), m=np.array([3, -4, 0, 9], np.int8),
                i=integers(17, 0, 256, "uint8", 1, 2, 4, 4), k=integers(18, 0, 256, "uint8", 2, 2, 2, 2), n1=np.uint8(11), n2=np.uint8(200))  # fmt: skip


def halves(opset: int):
    """float16 near its largest value: products that fold to infinity, and sums that do not."""
    graph = "g (float16[2,4] x) => (float16[2,4] y, float16[2,4] z) { a = Mul(x, s) y = Mul(a, s) b = Add(x, t) z = Sub(b, t) }"
    return text(opset, graph, s=np.array([300.0], np.float16), t=np.array([60000.0, 6e-8, 0, -0.0], np.float16))


def doubles(opset: int):
    graph = "g (double[2,4] x) => (double[2,4] y, float[2,4] z) { a = Mul(x, s) y = Mul(a, s) b = MatMul(x, w) z = Cast<to=1>(b) }"
    return text(opset, graph, s=np.array([1e200, 1e-200, 1, 0.1]), w=np.random.default_rng(19).normal(size=(4, 4)))


def clipped_lstm(opset: int):
    """A clip, peepholes, lengths and initial states."""
    graph = """g (float[5,2,3] x, float[1,2,4] h, float[1,2,4] c) => (float[5,1,2,4] y, float[1,2,4] u, float[1,2,4] v) {
        y, u, v = LSTM<hidden_size=4, clip=0.3>(x, w, r, b, lengths, h, c, p) }"""
    return text(opset, graph, w=random(20, 1, 16, 3), r=random(21, 1, 16, 4), b=random(22, 1, 32), p=random(23, 1, 12),
                lengths=np.array([5, 3], np.int32))  # fmt: skip


def zero_divisors(opset: int):
    """Division by constants of zero and tiny ones; powers; roots of negative numbers."""
    graph = """g (float[2,4] x) => (float[2,4] y, float[2,4] z, float[2,4] u, float[2,4] v) {
        y = Div(x, d) a = Abs(x) z = Pow(a, e) b = Sqrt(a) u = Mul(b, b) i = Reciprocal(x) v = Reciprocal(i) }"""
    return text(opset, graph, d=floats(1e-45, 1e-30, -3, 1e38), e=floats(0, 0.5, 2, -1))


def signed_zeros(opset: int):
    """Where -0 and 0 differ: reciprocals, minima, sums with 0."""
    graph = "g (float[2,4] x) => (float[2,4] y, float[2,4] z) { a = Mul(x, m) b = Add(a, n) y = Reciprocal(b) c = Max(a, n) z = Reciprocal(c) }"
    return text(opset, graph, m=floats(-0.0, 0.0, -1, 1), n=floats(-0.0, 0.0, 0.0, -0.0))


def models() -> list[Model]:
    made = {
        overflow_scales: [7, 13, 21], overflow_products: [7, 13], overflow_sums: [7, 14], overflow_differences: [13],
        underflow_scales: [9, 18], batch_norms: [7, 9, 14, 15], masks: [13, 19], tied: [9, 13, 22], twins: [7, 11, 22],
        outliers: [7, 13], whole_numbers: [10, 14], edges: [11, 18], suppression: [13], linear_quantized: [10, 13],
        channel_scales: [13, 19, 21], integer_products: [11, 13], halves: [13], doubles: [9, 17], clipped_lstm: [7, 14],
        zero_divisors: [13], signed_zeros: [13],
    }  # fmt: skip
    tiny, small = (-1e-35, 1e-35), (-1e-3, 1e-3)
    ranges = {
        overflow_scales: {"x": (-1e-30, 1e-30), "large": (-1e38, 1e38)}, underflow_scales: {"x": (-1e20, 1e20)}, overflow_products: {"x": tiny}, overflow_sums: {"x": (-0.3, 0.3)},
        overflow_differences: {"x": (-0.3, 0.3)}, halves: {"x": small}, whole_numbers: {"x": (-9, 9), "i": (-60000, 60000)},
        suppression: {"scores": (0.0, 0.6)},
    }  # fmt: skip
    return [
        Model(f"hand_{make.__name__}_opset{opset}", lambda make=make, opset=opset: make(opset), ranges=ranges.get(make, {}),
              choices={"ids": [-4, 0, 3, -1]} if make is edges else {})
        for make, opsets in made.items()
        for opset in opsets
    ]  # fmt: skip
