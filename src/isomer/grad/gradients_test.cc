#include "isomer/grad/gradients.h"

#include "isomer/grad/testing.h"
#include "isomer/ops/graph_testing.h"

namespace isomer::testing {
namespace {

const Attrs kOverAll{{"axes", Ints{0}}, {"keepdims", int64_t{0}}};

/// A builder with an input of three doubles.
struct Vector {
  GraphBuilder builder;
  ValueId x = builder.input({DType::Double, {3}});

  ValueId add(const char* name, const Attrs& attrs, std::initializer_list<ValueId> operands) {
    const auto value = builder.add(op(name), attrs, operands);
    EXPECT_TRUE(value.has_value()) << (value ? "" : value.error().message);
    return *value;
  }
  std::string error(ValueId loss) {
    const auto gradients = add_gradients(builder, loss, {&x, 1});
    return gradients ? "" : gradients.error().message;
  }
};

TEST(Gradients, OfASumOfSquares) {
  Vector v;
  const ValueId loss = v.add("ReduceSumSquare", kOverAll, {v.x});
  const auto gradients = add_gradients(v.builder, loss, {&v.x, 1});
  ASSERT_TRUE(gradients) << gradients.error().message;
  const Graph graph = v.builder.finish(*gradients);
  const auto results = run_or_throw(graph, {Tensor::of<double>(DType::Double, {3}, {1, 2, 3})});
  const auto data = results[0].data<double>();
  EXPECT_EQ(std::vector<double>(data.begin(), data.end()), (std::vector<double>{2, 4, 6}));
}

TEST(Gradients, OfValuesWithSeveralUsesAreSummed) {
  Vector v;
  const ValueId square = v.add("Mul", {}, {v.x, v.x});
  const ValueId cube = v.add("Mul", {}, {square, v.x});
  const ValueId loss = v.add("ReduceSum", kOverAll, {v.add("Add", {}, {cube, square})});
  Graph graph = v.builder.finish({&loss, 1});
  const ValueId output = graph.outputs()[0];
  expect_formal_derivative({std::move(graph), output, {uniform_tensor({3}, 1)}});
}

TEST(Gradients, OfTheLossItself) {
  Vector v;
  const ValueId loss = v.add("ReduceSum", kOverAll, {v.x});
  const auto gradients = add_gradients(v.builder, loss, {&loss, 1});
  ASSERT_TRUE(gradients) << gradients.error().message;
  EXPECT_EQ(v.builder.constant_data((*gradients)[0])->data<double>()[0], 1);
}

TEST(Gradients, OfValuesWithoutInfluenceAreAbsent) {
  Vector v;
  const ValueId other = v.builder.input({DType::Double, {3}});
  const ValueId loss = v.add("ReduceSum", kOverAll, {v.add("Add", {}, {v.x, v.add("Floor", {}, {other})})});
  const std::vector<ValueId> wanted{other, v.x};
  const auto gradients = add_gradients(v.builder, loss, wanted);
  ASSERT_TRUE(gradients) << gradients.error().message;
  EXPECT_EQ((*gradients)[0], kNoValue);
  EXPECT_NE((*gradients)[1], kNoValue);
}

TEST(Gradients, OnlyThoseThatAreNeededAreBuilt) {
  Vector v;
  const ValueId other = v.builder.input({DType::Double, {3}});
  const ValueId loss = v.add("ReduceSum", kOverAll, {v.add("Mul", {}, {v.x, v.add("Exp", {}, {other})})});
  const size_t before = v.builder.peek().nodes().size();
  ASSERT_TRUE(add_gradients(v.builder, loss, {&v.x, 1}));
  // The constant 1, its expansion by Unsqueeze and Expand, and the product.
  EXPECT_EQ(v.builder.peek().nodes().size(), before + 4);
}

TEST(Gradients, OfAGraphAreFurtherOutputs) {
  const Graph graph = parsed(R"(
    input x: f64[3]
    y = Exp(x)
    l = ReduceSum(y) {axes=[0], keepdims=0}
    return l, y)");
  const ValueId x = graph.inputs()[0];
  const auto out = with_gradients(graph, graph.outputs()[0], {&x, 1});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->graph.outputs().size(), 3U);
  EXPECT_EQ(out->outputs[0], 2U);
}

TEST(Gradients, FailWithTheNode) {
  Vector v;
  EXPECT_EQ(v.error(v.add("Exp", {}, {v.x})), "the loss must be one real number; node #1 (Exp) is f64[3]");
  const ValueId cast = v.add("Cast", {{"to", int64_t{7}}}, {v.x});
  const ValueId back = v.add("Cast", {{"to", int64_t{11}}}, {cast});
  EXPECT_EQ(v.error(v.add("ReduceSum", kOverAll, {back})), "node #2 (Cast): no gradient: its result is i64[3]");
  const ValueId prod = v.add("ReduceProd", kOverAll, {v.x});
  EXPECT_EQ(v.error(prod), "node #5 (ReduceProd): no gradient: the operator has no gradient");
  const NodeId opaque = v.builder.opaque({{"@op_type", std::string("Strange")}}, {&v.x, 1}, {{DType::Double, {3}}});
  const ValueId unknown = v.add("ReduceSum", kOverAll, {v.builder.at(opaque).result()});
  EXPECT_EQ(v.error(unknown), "node #7 (Strange): no gradient: Isomer does not interpret this node");
  const ValueId largest = v.add("TopK", {{"k", int64_t{2}}}, {v.x});
  const ValueId positions = largest + 1;
  v.builder.name(largest, "largest");
  v.builder.name(positions, "positions");
  const ValueId sum = v.add("ReduceSum", kOverAll, {v.add("Cast", {{"to", int64_t{11}}}, {positions})});
  EXPECT_EQ(v.error(sum), "node 'largest' (TopK): no gradient: its result 'positions' is i64[2]");
  const ValueId integers = v.builder.input({DType::Int64, {3}});
  const auto refused = add_gradients(v.builder, v.add("ReduceSum", kOverAll, {v.x}), {&integers, 1});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("is i64[3]; there are gradients only for real numbers"), std::string::npos);
}

TEST(Gradients, ComparisonsCountAsConstants) {
  Vector v;
  const ValueId positive = v.add("Greater", {}, {v.x, v.builder.constant(Tensor::of<double>(DType::Double, {}, {0}))});
  const ValueId mask = v.add("Cast", {{"to", int64_t{11}}}, {positive});
  const ValueId loss = v.add("ReduceSum", kOverAll, {v.add("Mul", {}, {mask, v.x})});
  Graph graph = v.builder.finish({&loss, 1});
  const ValueId output = graph.outputs()[0];
  expect_finite_differences({std::move(graph), output, {uniform_tensor({3}, 1)}});
}

TEST(Gradients, OfSymbolicBatches) {
  const Graph graph = parsed(R"(
    input x: f32[N,3]
    input w: f32[3,2]
    y = MatMul(x, w)
    z = Relu(y)
    l = ReduceSum(z) {axes=[0,1], keepdims=0}
    return l)");
  const ValueId w = graph.inputs()[1];
  // A sum over an unknown extent cannot be undone by ONNX's Expand with a constant shape.
  const auto out = with_gradients(graph, graph.outputs()[0], {&w, 1});
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().message.find("(ReduceSum): no gradient: the extent N is not known"), std::string::npos)
      << out.error().message;
}

}  // namespace
}  // namespace isomer::testing
