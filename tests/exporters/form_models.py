"""Hand-made models of unusual form: imports, orders, names, defaults, control flow, functions, sequences, sparse and empty tensors."""

from __future__ import annotations

import numpy as np
import onnx
from corpus import Model, versions
from handmade import floats, integers, random, text, whole
from onnx import TensorProto, helper, numpy_helper

EXPORTER = "by hand, " + versions("onnx")
CHAIN = "g (float[N,4] x) => (float[N,3] y) { a = MatMul(x, w) b = Add(a, c) y = Relu(b) }"


def chain(opset: int | str, **options) -> onnx.ModelProto:
    return text(opset, CHAIN, w=random(1, 4, 3), c=random(2, 3), **options)


def imported_twice(opset: int):
    """One domain with equal versions, and under both of its names."""
    model = chain(opset)
    model.opset_import.extend([helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx", opset)])
    return model


def imported_unused(opset: int):
    return chain(f'"": {opset}, "com.example.unused": 3, "ai.onnx.ml": 2, "com.microsoft": 1')


def unsorted(opset: int):
    model = chain(opset)
    nodes = list(model.graph.node)[::-1]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def defaults(opset: int):
    """Initializers that are inputs too: since version 4 of the format, a default that a caller may replace."""
    model = chain(opset)
    model.graph.input.extend(helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in model.graph.initializer)
    return model


def old_format(opset: int):
    """Version 3 of the format, in which every initializer must be an input."""
    model = defaults(opset)
    model.ir_version = 3
    return model


def default_numbers(opset: int):
    """A shape, an axis of slices and a scale as defaults: random values for them would be refused or huge."""
    graph = """g (float[2,6] x) => (float[3,2] y, float[3,4] z) { r = Reshape(x, s) y = Slice(r, from, to) u = Mul(r, k) z = Softmax<axis=1>(u) }"""
    model = text(opset, graph, s=whole(3, 4), to=whole(3, 2), k=floats(0.5), **{"from": whole(0, 0)})
    model.graph.input.extend(helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in model.graph.initializer)
    return model


def names(opset: int):
    """Names with escapes, newlines, quotes, spaces, slashes and letters beyond ASCII; nodes without any."""
    model = chain(opset)
    renamed = {"a": "a\x1b[31mred", "b": "two\nlines\t\"quoted\"", "w": "weights/é/重み:0", "c": " ", "y": "out put", "x": "x;y|<z>"}
    for node in model.graph.node:
        node.input[:], node.output[:] = [renamed[n] for n in node.input], [renamed[n] for n in node.output]
    for value in [*model.graph.input, *model.graph.output, *model.graph.initializer]:
        value.name = renamed[value.name]
    return model


def doubled(opset: int):
    """Outputs that are one value, an initializer, and the input itself; an input and an initializer that nothing reads."""
    graph = """g (float[2,3] x, float[4] idle) => (float[2,3] y, float[2,3] z, float[3] w, float[2,3] x2) {
        y = Relu(x) z = Relu(x) x2 = Identity(x) dead = Exp(x) }"""
    return text(opset, graph, w=random(3, 3), lost=random(4, 7))


def branches(opset: int):
    """If within If, with values of the outer graphs and initializers of their own."""
    graph = """g (float[2,3] x, bool c) => (float[2,3] y, float[2,3] z) { k = Relu(x) y = If(c) <
        then_branch = t () => (float[2,3] u) { f = Not(c) u = If(f) <
            then_branch = tt () => (float[2,3] p) { p = Neg(k) }, else_branch = te () => (float[2,3] q) { q = Add(k, w) }> },
        else_branch = e () => (float[2,3] v) { m = Mul(x, w) v = Mul(m, w) }> z = Add(y, k) }"""
    return text(opset, graph, w=random(5, 3))


def loops(opset: int):
    """A loop that stops early and gathers what it saw; a scan in reverse."""
    graph = """g (float[2,3] x, float[4,3] rows) => (float[2,3] y, float[S,2,3] seen, float[3] total, float[4,3] sums) {
        y, seen = Loop(most, go, x) <body = l (int64 i, bool on, float[2,3] s) => (bool more, float[2,3] t, float[2,3] u) {
            t = Mul(s, k) f = ReduceMax<keepdims=0>(t) more = Less(f, limit) u = Add(t, x) }>
        total, sums = Scan<num_scan_inputs=1, scan_input_directions=[1], body = b (float[3] acc, float[3] r) => (float[3] next, float[3] o) {
            next = Add(acc, r) o = Identity(next) }>(zero, rows) }"""
    return text(opset, graph, most=np.array(9), go=np.array(True), k=floats(1.7), limit=np.float32(4), zero=np.zeros(3, np.float32))


def functions(opset: int):
    """A function called twice, one within another, with an attribute that each call sets."""
    graph = "g (float[2,4] x) => (float[2,4] y) { a = my.gate <alpha=0.3> (x, w) b = my.gate <alpha=0.9> (a, w) y = my.outer(b) }"
    made = f"""<domain: "my", opset_import: ["": {opset}]> gate <alpha> (x, w) => (y) {{ m = MatMul(x, w)
        y = LeakyRelu<alpha: float = @alpha>(m) }}
        <domain: "my", opset_import: ["": {opset}, "my": 1]> outer (x) => (y) {{ s = Sigmoid(x) y = Mul(s, x) }}"""
    return text(f'"": {opset}, "my": 1', graph, functions=made, w=random(6, 4, 4))


def sequences(opset: int):
    graph = """g (float[6,3] x) => (float[6,3] y, int64 n, float[2,3] first) { s = SplitToSequence<axis=0>(x, two) n = SequenceLength(s)
        last = SequenceAt(s, minus) t = SequenceInsert(s, last, zero) u = SequenceErase(t, minus) y = ConcatFromSequence<axis=0>(u)
        first = SequenceAt(t, zero) }"""
    return text(opset, graph, two=np.array(2), minus=np.array(-1), zero=np.array(0))


def sequence_of_products(opset: int):
    """A search has something to measure, and cannot: outputs that are sequences are not compared."""
    graph = """g (float[8,64] x) => (seq(float[8,K]) s) { a = MatMul(x, u) b = MatMul(x, v) c = Relu(a) d = Relu(b)
      y = Concat<axis=1>(c, d) s = SplitToSequence<axis=1>(y, sizes) }"""
    return text(opset, graph, u=random(1, 64, 64), v=random(2, 64, 64), sizes=whole(100, 28))


def sequence_output(opset: int):
    graph = "g (float[6,3] x) => (float[2,3] y, seq(float[K,3]) s) { s = SplitToSequence<axis=0>(x, two) y = SequenceAt(s, zero) }"
    return text(opset, graph, two=np.array(2), zero=np.array(0))


def optionals(opset: int):
    graph = """g (float[2,3] x) => (float[2,3] y, bool h) { o = Optional(x) h = OptionalHasElement(o) g = OptionalGetElement(o)
        y = Neg(g) }"""
    return text(opset, graph)


def sparse(opset: int):
    """A sparse initializer and a sparse constant."""
    graph = "g (float[2,4] x) => (float[2,3] y, float[2,4] z) { y = MatMul(x, w) z = Mul(x, v) }"
    model = text(opset, graph)
    values = helper.make_sparse_tensor(
        numpy_helper.from_array(floats(2, -3), "w"), numpy_helper.from_array(np.array([[0, 1], [3, 2]])), [4, 3])  # fmt: skip
    model.graph.sparse_initializer.append(values)
    one = helper.make_sparse_tensor(numpy_helper.from_array(floats(5), "v"), numpy_helper.from_array(whole(2)), [4])
    model.graph.node.insert(0, helper.make_node("Constant", [], ["v"], sparse_value=one))
    return model


def empties(opset: int):
    """Tensors without elements, scalars, and an axis of extent 0 in products and sums."""
    graph = """g (float[0,3] x, float[2,3] u, float s) => (float[0,3] a, float[2,2] b, float[2,3] c, float d, float[3] e) {
        a = Relu(x) t = Transpose<perm=[1,0]>(x) m = MatMul(z, x) j = Concat<axis=0>(x, u) c = Add(j, s) d = Mul(s, s)
        h = ReduceMax<keepdims=0, axes=[0]>(u) e = Mul(h, s) b = MatMul(l, r) k = Slice(u, from, to) }"""
    return text(opset, graph, z=np.zeros((2, 0), np.float32), l=np.zeros((2, 0), np.float32), r=np.zeros((0, 2), np.float32),
                to=whole(1), **{"from": whole(1)})  # fmt: skip


def omitted(opset: int):
    """Optional inputs and outputs that are left out, in the middle and at the end."""
    graph = """g (float[5,2,3] x, float[2,3,8,8] i) => (float[1,2,4] u, float[2,3,8,8] c, float[2,3,16,16] r) {
        , u = LSTM<hidden_size=4>(x, w, v, , , h) c = Clip(i, , top) r = Resize<mode="nearest">(i, , scales) }"""
    return text(opset, graph, w=random(7, 1, 16, 3), v=random(8, 1, 16, 4), h=random(9, 1, 2, 4), top=np.float32(0.3), scales=floats(1, 1, 2, 2))


def pooled_softmax(opset: int):
    """As classifiers without a linear layer end: the softmax sees trailing axes of extent 1."""
    graph = """g (float[1,3,8,8] x) => (float[1,5,1,1] y, float[1,5,1,1] z, float[1,5,1,1] u) { c = Conv(x, w) p = GlobalAveragePool(c)
        y = Softmax(p) z = LogSoftmax<axis=1>(p) u = Hardmax(p) }"""
    return text(opset, graph, w=random(10, 5, 3, 3, 3))


def joined_softmax(opset: int):
    """Below opset 13 a softmax joins the axes before and after its own."""
    graph = """g (float[2,3,4] x) => (float[2,3,4] a, float[2,3,4] b, float[2,3,4] c, float[2,3,4] d) { a = Softmax<axis=0>(x)
        b = Softmax<axis=1>(x) c = LogSoftmax<axis=2>(x) d = Hardmax<axis=1>(x) }"""
    return text(opset, graph)


def old_attributes(opset: int):
    """Operators whose parameters were attributes before they became inputs."""
    graph = """g (float[2,3,4] x, float[1,2,4,4] i) => (float[3,4] a, float[2,3,2] b, float[2,3,1] c, float[2,5,4] d, float[2,3,4] e,
            float[2,2,4] f, float[2,1,4] g1, float[2,3,4] h, float[1,2,8,8] k) {
        p, q = Split<axis=0, split=[1,1]>(x) a = Squeeze<axes=[0]>(p) b = Slice<axes=[2], starts=[1], ends=[-1]>(x)
        c = ReduceSum<axes=[-1]>(x) d = Pad<pads=[0,1,0,0,1,0], value=0.25>(x) e = Clip<min=-0.5, max=0.25>(x)
        f, ids = TopK<axis=1, k=2>(x) g1 = ReduceMean<axes=[1]>(x) r = Unsqueeze<axes=[0]>(x) s = Squeeze<axes=[0]>(r)
        h = Dropout<ratio=0.4>(s) k = Upsample<mode="nearest", scales=[1.0,1.0,2.0,2.0]>(i) }"""
    return text(opset, graph.replace("ReduceSum<axes=[-1]>", "ReduceSum<axes=[2]>"))


def old_variadic(opset: int):
    graph = """g (float[2,3] x, float[2,3] y, float[3] z) => (float[2,3] a, float[2,3] b, float[2,3] c, float[2,3] d, float[2,3] e) {
        a = Sum(x, y, x) b = Mean(x, y) c = Max(x, y, x) d = Min(x) e = Gemm<alpha=0.5, beta=2.0>(x, w, z) }"""
    return text(opset, graph, w=random(11, 3, 3))


def normalized(opset: int):
    """LRN, instance, mean-variance and Lp normalization, and pools with ceil and dilation where they have them."""
    graph = """g (float[2,4,7,7] x) => (float[2,4,7,7] a, float[2,4,7,7] b, float[2,4,7,7] c, float[2,4,7,7] d, float[2,4,3,3] e, float[2,4,1,1] f) {
        a = LRN<size=3, alpha=0.5, beta=0.6, bias=1.5>(x) b = InstanceNormalization<epsilon=0.01>(x, s, t)
        c = MeanVarianceNormalization<axes=[0,2,3]>(x) d = LpNormalization<axis=1, p=1>(x)
        e = AveragePool<kernel_shape=[3,3], strides=[2,2], count_include_pad=1, pads=[0,0,1,1]>(x) f = GlobalLpPool<p=3>(x) }"""
    return text(opset, graph.replace("MeanVarianceNormalization<axes=[0,2,3]>", "MeanVarianceNormalization"), s=floats(1, 0, -1, 1e-3), t=floats(0, 1, 2, 1e-40))


def resized(opset: int):
    graph = """g (float[1,2,5,6] x) => (float[1,2,10,9] a, float[1,2,7,8] b, float[1,2,3,3] c) {
        a = Resize<mode="linear", coordinate_transformation_mode="align_corners">(x, , s) b = Resize<mode="cubic", cubic_coeff_a=-0.5>(x, , , n)
        c = Resize<mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric">(x, , , m) }"""
    return text(opset, graph, s=floats(1, 1, 2, 1.5), n=whole(1, 2, 7, 8), m=whole(1, 2, 3, 3))


def sampled(opset: int):
    graph = """g (float[1,2,5,6] x, float[1,4,4,2] grid, float[3,4] rois) => (float[1,2,4,4] a, float[3,2,2,2] b) {
        a = GridSample<mode="bilinear", padding_mode="border">(x, grid) b = RoiAlign<output_height=2, output_width=2, sampling_ratio=2>(x, rois, which) }"""
    if opset >= 20:
        graph = graph.replace('"bilinear"', '"linear"')
    return text(opset, graph, which=whole(0, 0, 0))


def counted(opset: int):
    """Results whose extents depend on values."""
    graph = """g (float[3,4] x) => (int64[2,K] a, float[U] b, float[C,4] c, float[R] d, float[E,4] e) { p = Greater(x, zero) a = NonZero(p)
        b = Unique(x) c = Compress<axis=0>(x, kept) n = Shape(x) one = Gather(n, last) f = Cast<to=1>(one) d = Range(start, f, step)
        e = Expand(row, n) }"""
    return text(opset, graph, zero=np.float32(0), kept=np.array([True, False, True]), last=np.array(1), start=np.float32(-1), step=np.float32(0.5),
                row=random(12, 1, 4))  # fmt: skip


def folded_shapes(opset: int):
    """Shape arithmetic as exporters leave it, on a symbolic batch."""
    graph = """g (float[N,2,3,4] x) => (float[N,A] y, float[N,B,4] z) { s = Shape(x) n = Gather(s, i0) u = Unsqueeze<axes=[0]>(n)
        t = Concat<axis=0>(u, minus) y = Reshape(x, t) c = Gather(s, i1) h = Gather(s, i2) m = Mul(c, h) v = Unsqueeze<axes=[0]>(m)
        w = Gather(s, i3) q = Unsqueeze<axes=[0]>(w) r = Concat<axis=0>(u, v, q) z = Reshape(x, r) }"""
    return text(opset, graph, i0=np.array(0), i1=np.array(1), i2=np.array(2), i3=np.array(3), minus=whole(-1))


def types(opset: int):
    """Casts between all kinds of numbers, bit operations on booleans, comparisons."""
    graph = """g (float[4] x, uint8[4] b, bool[4] c) => (int8[4] p, double[4] q, float16[4] r, uint8[4] s, bool[4] t, float[4] u, int32[4] v) {
        h = Mul(x, k) p = Cast<to=3>(h) q = Cast<to=11>(x) r = Cast<to=10>(x) s = Add(b, b) n = Not(c) g0 = Greater(x, z) m = And(n, g0)
        t = Xor(m, c) u = Cast<to=1>(c) v = Cast<to=6>(h) }"""
    return text(opset, graph, k=floats(100), z=floats(0))


def bfloats(opset: int):
    graph = """g (float[2,4] x) => (float[2,3] y, float[2,4] z) { b = Cast<to=16>(x) f = Cast<to=1>(b) y = MatMul(f, w)
        e = Cast<to=17>(x) z = Cast<to=1>(e) }"""
    return text(opset, graph, ir=9, w=random(13, 4, 3))


def four_bits(opset: int):
    """Weights of four bits, a scale per block."""
    graph = "g (float[2,8] x) => (float[2,6] y) { d = DequantizeLinear<axis=0, block_size=4>(w, s, n) y = MatMul(x, d) }"
    model = text(opset, graph, ir=10, s=np.abs(random(14, 2, 6)))
    values, zeros = integers(15, -8, 8, "int8", 8, 6), integers(16, -3, 4, "int8", 2, 6)
    model.graph.initializer.append(helper.make_tensor("w", TensorProto.INT4, values.shape, values.reshape(-1)))
    model.graph.initializer.append(helper.make_tensor("n", TensorProto.INT4, zeros.shape, zeros.reshape(-1)))
    return model


def newest(opset: int):
    """Operators of the last versions: RMS normalization, attention, rotary embedding."""
    graph = """g (float[1,2,4,8] x) => (float[1,2,4,8] a, float[1,2,4,8] b, float[1,2,4,8] c) { a = RMSNormalization<axis=-1>(x, s)
        b = Attention<is_causal=1>(x, x, a) c = RotaryEmbedding(b, cos, sin, ids) }"""
    return text(opset, graph, ir=11, s=random(17, 8), cos=random(18, 4, 4), sin=random(19, 4, 4), ids=np.arange(4, dtype=np.int64)[None])


def norms_of_seventeen(opset: int):
    graph = """g (float[2,3,8] x, float[2,4,3,3] i) => (float[2,3,8] a, float[2,4,3,3] b, float[2,3,8] c, float[2,3,8] d) {
        a = LayerNormalization<epsilon=1e-12>(x, s, t) b = GroupNormalization<num_groups=2>(i, g1, g2) c = Mish(x) d = Gelu(x) }"""
    if opset < 21:
        graph = graph.replace(", float[2,4,3,3] b", "").replace("b = GroupNormalization<num_groups=2>(i, g1, g2) ", "")
    if opset < 20:
        graph = graph.replace("d = Gelu(x)", "d = CastLike(x, c)")
    return text(opset, graph, ir=9, s=floats(0, 1, -1, 1e-3, 1, 2, 3, 1e-40), t=random(20, 8), g1=random(21, 4), g2=random(22, 4))


def contributed(opset: int):
    """Operators of ONNX Runtime's own domain, and one that it registers in the default domain."""
    graph = """g (float[2,3,8] x) => (float[2,3,8] a, float[2,3,8] b, float[2,3,8] c) { a = com.microsoft.Gelu(x)
        b = com.microsoft.FusedMatMul<alpha=0.5, transB=1>(x, w) c = LayerNormalization<axis=-1, epsilon=1e-5>(b, s, t) }"""
    return text(f'"": {opset}, "com.microsoft": 1', graph, w=random(23, 8, 8), s=random(24, 8), t=random(25, 8))


def transforms(opset: int):
    graph = """g (float[1,16,1] x, float[3,5] m) => (float[1,16,2] a, float[3,5] b, int64[3] c, float[3,5] d, float[] e) {
        a = DFT<axis=1>(x) b = CumSum<exclusive=1, reverse=1>(m, one) c = ArgMax<axis=1, keepdims=0, select_last_index=1>(m)
        d = ReverseSequence<batch_axis=0, time_axis=1>(m, lengths) t = Transpose<perm=[1,0]>(m) p = MatMul(m, t) e = Det(p) }"""
    if opset >= 20:
        graph = graph.replace("DFT<axis=1>(x)", "DFT(x, , one)")
    return text(opset, graph.replace("float[] e", "float e"), one=np.array(1), lengths=whole(5, 1, 3))


def models() -> list[Model]:
    made = {
        imported_twice: [13], imported_unused: [11, 21], unsorted: [9, 13], defaults: [9, 13, 21], old_format: [7, 8],
        default_numbers: [11, 13], names: [13], doubled: [8, 14], branches: [11, 21], loops: [9, 16], functions: [17, 21],
        sequences: [11, 19], sequence_output: [13], sequence_of_products: [17], optionals: [16, 18], sparse: [11, 13], empties: [13, 17], omitted: [13, 19],
        pooled_softmax: [7, 9, 12, 13], joined_softmax: [7, 11, 13], old_attributes: [7, 8], old_variadic: [7, 8, 13],
        normalized: [9, 13, 18], resized: [13, 18, 19], sampled: [16, 20], counted: [11, 17], folded_shapes: [9, 11],
        types: [14, 21], bfloats: [19, 23], four_bits: [21, 23], newest: [23, 24], norms_of_seventeen: [18, 21, 22],
        contributed: [12, 16], transforms: [17, 20],
    }  # fmt: skip
    ranges = {types: {"b": (0, 256)}, sampled: {"rois": (0.0, 4.0)}}
    return [
        Model(f"hand_{make.__name__}_opset{opset}", lambda make=make, opset=opset: make(opset), ranges=ranges.get(make, {}))
        for make, opsets in made.items()
        for opset in opsets
    ]
