#include "isomer/engine/onednn/joined_rows.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "isomer/engine/onednn/canonical.h"
#include "isomer/engine/onednn/testing.h"

namespace isomer::onednn {
namespace {

using testing::Pair;

/// Runs the graph as the reference does, and returns how many products and sums its canonical form has.
std::pair<int, int> products_and_sums(const std::string& text) {
  const Graph graph = graph_of(text);
  const std::vector<Tensor> inputs = inputs_of(graph);
  expect_as_reference(graph, inputs);
  const auto canonical = canonicalize(graph, types_of(inputs));
  if (!canonical) throw std::runtime_error(canonical.error().message);
  const auto count = [&](const std::string& name) {
    return static_cast<int>(
        std::ranges::count_if(canonical->graph.nodes(), [&](const Node& node) { return node.op->name == name; }));
  };
  return {count("MatMul"), count("Add")};
}

/// Two steps of a recurrent layer: the state `b` follows from `a`, and `c` from `b`.
const std::string kSteps = R"(
  input a: f32[1,2,8]
  input w: f32[8,8]
  input bias: f32[8]
  input x: f32[2,2,8]
  xa = Slice(x) {starts=[0], ends=[1], axes=[0], steps=[1]}
  xb = Slice(x) {starts=[1], ends=[2], axes=[0], steps=[1]}
  pa = MatMul(a, w)
  sa = Add(pa, bias)
  ga = Add(xa, sa)
  b = Tanh(ga)
  pb = MatMul(b, w)
  sb = Add(pb, bias)
  gb = Add(xb, sb)
  c = Tanh(gb)
  all = Concat(b, c) {axis=0}
)";

TEST(JoinedRows, AreNotComputedAgain) {
  const std::string gates = R"(
    first = Slice(states) {starts=[0], ends=[1], axes=[0], steps=[1]}
    before = Concat(a, first) {axis=0}
    products = MatMul(before, w)
    sums = Add(products, bias)
    gates = Add(x, sums)
    y = Sigmoid(gates)
    return all, y
  )";
  EXPECT_THAT(products_and_sums(kSteps + "states = Concat(b, c) {axis=0}" + gates), Pair(2, 4));
  // With an axis of directions, and batch first, as in the results of layers.
  EXPECT_THAT(products_and_sums(kSteps + R"(
    forward = Unsqueeze(all) {axes=[1]}
    backward = Relu(forward)
    layer = Concat(forward, backward) {axis=1}
    turned = Transpose(layer) {perm=[2,0,1,3]}
    back = Transpose(turned) {perm=[1,2,0,3]}
    direction = Slice(back) {starts=[0], ends=[1], axes=[1], steps=[1]}
    states = Squeeze(direction) {axes=[1]}
  )" + gates),
              Pair(2, 4));
  // From the last step to the first one, and with parts in two concatenations.
  EXPECT_THAT(products_and_sums(kSteps + R"(
    x2 = Concat(xb, xa) {axis=0}
    before = Concat(b, a) {axis=0}
    products = MatMul(before, w)
    sums = Add(products, bias)
    y = Add(sums, x2)
    twice = Concat(before, a) {axis=-3}
    z = MatMul(twice, w)
    return all, y, z
  )"),
              Pair(2, 4));
}

// The products of the inputs, and one of each step: the gradient's is the concatenation of the latter.
TEST(JoinedRows, OfALayerAreThoseThatItsStepsMultiply) {
  EXPECT_EQ(products_and_sums(R"(
    input x: f32[3,2,4]
    input w: f32[1,16,4]
    input r: f32[1,16,4]
    y, h, c = LSTM(x, w, r) {hidden_size=4}
    states = Squeeze(y) {axes=[1]}
    others = Slice(states) {starts=[0], ends=[2], axes=[0], steps=[1]}
    zero = f32[1,2,4]{0,0,0,0,0,0,0,0}
    before = Concat(zero, others) {axis=0}
    weights = Squeeze(r) {axes=[0]}
    turned = Transpose(weights) {perm=[1,0]}
    products = MatMul(before, turned)
    return y, products
  )")
                .first,
            4);
}

TEST(JoinedRows, OfMatricesArePartsOfTheirProducts) {
  const std::string parts = R"(
    input a: f32[2,8]
    input b: f32[2,8]
    input c: f32[2,8]
    input w: f32[8,8]
    p = MatMul(a, w)
    q = MatMul(b, w)
    r = MatMul(c, w)
    all = Concat(a, b, c) {axis=-2}
  )";
  EXPECT_THAT(products_and_sums(parts + "y = MatMul(all, w)\nreturn p, q, r, y"), Pair(3, 0));
  EXPECT_THAT(products_and_sums(parts + R"(
    some = Slice(all) {starts=[2], ends=[6], axes=[0], steps=[1]}
    y = MatMul(some, w)
    return p, q, r, y
  )"),
              Pair(3, 0));
  // Some rows of a part.
  EXPECT_THAT(products_and_sums(parts + R"(
    some = Slice(all) {starts=[1], ends=[6], axes=[0], steps=[1]}
    y = MatMul(some, w)
    return p, q, r, y
  )"),
              Pair(4, 0));
}

TEST(JoinedRows, MayBeMissing) {
  EXPECT_THAT(products_and_sums(kSteps + "y = MatMul(all, w)\nreturn all, y"), Pair(3, 4));
  EXPECT_THAT(products_and_sums(kSteps + "two = Concat(a, b) {axis=1}\ny = MatMul(two, w)\nreturn all, y"), Pair(3, 4));
}

TEST(JoinedRows, OfSumsAreThoseOfBothSummands) {
  const std::string products = R"(
    input a: f32[1,8]
    input b: f32[1,8]
    input w: f32[8,8]
    p = MatMul(a, w)
    q = MatMul(b, w)
    both = Concat(a, b) {axis=0}
    products = MatMul(both, w)
  )";
  // One row is added to each, first one that exists already, then another one.
  EXPECT_THAT(products_and_sums("input z: f32[1,8]\n" + products +
                                "pz = Add(p, z)\nqz = Add(z, q)\ny = Add(products, z)\nreturn pz, qz, y"),
              Pair(2, 2));
  EXPECT_THAT(
      products_and_sums("input z: f32[1,8]\n" + products + "pz = Add(p, z)\ny = Add(products, z)\nreturn pz, y"),
      Pair(2, 2));
  // A summand of higher rank.
  EXPECT_THAT(products_and_sums("input z: f32[3,1,8]\n" + products +
                                "pz = Add(p, z)\nqz = Add(q, z)\ny = Add(products, z)\nreturn pz, qz, y"),
              Pair(2, 3));
  const std::string cuts = R"(
    za = Slice(z) {starts=[0], ends=[1], axes=[0], steps=[1]}
    zb = Slice(z) {starts=[1], ends=[2], axes=[0], steps=[1]}
    pz = Add(p, za)
    qz = Add(q, zb)
    y = Add(products, z)
    return pz, qz, y
  )";
  EXPECT_THAT(products_and_sums("input z: f32[2,8]\n" + products + cuts), Pair(2, 2));
}

TEST(JoinedRows, OfASummandMustBeAsManyAsThoseOfTheProduct) {
  // If their number depends on data, it may be 1 in a run.
  for (const Dim& rows : {Dim(2), Dim::symbol("N")}) {
    GraphBuilder builder;
    JoinedRows joined(builder);
    const auto add = [&](const char* name, const Attrs& attrs, std::initializer_list<ValueId> operands) {
      return builder.add(op(name), attrs, operands).value();
    };
    const auto joined_of = [&](const char* name, std::initializer_list<ValueId> operands) {
      const Node node = builder.peek().producer_node(add(name, {}, operands));
      return joined.joined(node, builder.peek().operands(node)).value();
    };
    const ValueId a = builder.input({DType::Float, {1, 8}}), b = builder.input({DType::Float, {1, 8}});
    const ValueId w = builder.input({DType::Float, {8, 8}}), z = builder.input({DType::Float, Shape{rows, 8}});
    const auto cut = [&](int64_t row) {
      return add("Slice", {{"starts", Ints{row}}, {"ends", Ints{row + 1}}, {"axes", Ints{0}}, {"steps", Ints{1}}}, {z});
    };
    add("Add", {}, {add("MatMul", {}, {a, w}), cut(0)});
    add("Add", {}, {add("MatMul", {}, {b, w}), cut(1)});
    const auto products = joined_of("MatMul", {add("Concat", {{"axis", int64_t{0}}}, {a, b}), w});
    ASSERT_TRUE(products.has_value());
    EXPECT_EQ(joined_of("Add", {*products, z}).has_value(), rows.is_const());
  }
}

TEST(JoinedRows, MayBeNone) {
  // The joined product has one row, which is added to all of `z`.
  EXPECT_THAT(products_and_sums(R"(
    input a: f32[0,8]
    input b: f32[1,8]
    input w: f32[8,8]
    input z: f32[5,8]
    za = Slice(z) {starts=[0], ends=[0], axes=[0], steps=[1]}
    zb = Slice(z) {starts=[0], ends=[1], axes=[0], steps=[1]}
    p = MatMul(a, w)
    q = MatMul(b, w)
    pz = Add(p, za)
    qz = Add(q, zb)
    both = Concat(a, b) {axis=0}
    products = MatMul(both, w)
    y = Add(products, z)
    return pz, qz, y
  )"),
              Pair(2, 3));
}

TEST(JoinedRows, OfLongChainsAreNotFollowed) {
  std::string text = "input x: f32[1,2]\ninput w: f32[2,2]\nc0 = Concat(x, x) {axis=0}\n";
  constexpr int kLength = 3000;
  for (int i = 1; i < kLength; ++i)
    text += fmt::format(
        "s{0} = Slice(c{1}) {{starts=[1], ends=[2], axes=[0], steps=[1]}}\nc{0} = Concat(s{0}, x) {{axis=0}}\n", i,
        i - 1);
  EXPECT_THAT(products_and_sums(text + fmt::format("y = MatMul(c{}, w)\nreturn y", kLength - 1)), Pair(1, 0));
}

}  // namespace
}  // namespace isomer::onednn
