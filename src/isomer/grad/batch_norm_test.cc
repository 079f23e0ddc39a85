#include "isomer/grad/batch_norm.h"

#include "isomer/grad/testing.h"

namespace isomer::testing {
namespace {

constexpr double kEpsilon = 0.5, kMomentum = 0.75;

/// Inputs x [4,2,3], scale, bias, mean and variance, and one normalization of them, in inference form or opaque.
Graph normalization(bool opaque, uint32_t results = 1, bool shared = false) {
  GraphBuilder builder;
  const char* const names[] = {"x", "scale", "bias", "mean", "variance"};
  std::vector<ValueId> operands;
  for (const char* name : names) {
    const bool data = operands.empty();
    operands.push_back(builder.input({DType::Float, data ? Shape{4, 2, 3} : Shape{2}}));
    builder.name(operands.back(), name);
  }
  if (shared) operands[4] = operands[3];
  Attrs attrs{{"epsilon", static_cast<float>(kEpsilon)}, {"momentum", static_cast<float>(kMomentum)}};
  NodeId id = 0;
  if (opaque) {
    attrs = attrs.with("@op_type", std::string("BatchNormalization")).with("@domain", std::string());
    attrs = attrs.with("training_mode", int64_t{1});
    std::vector<TensorType> types{builder.type(operands[0])};
    types.resize(results, builder.type(operands[1]));
    id = builder.opaque(attrs, operands, types);
  } else {
    id = builder.node(op("BatchNormalization"), attrs, operands).value();
  }
  std::vector<ValueId> outputs;
  for (uint32_t i = 0; i < results; ++i) outputs.push_back(builder.at(id).result(i));
  return builder.finish(outputs);
}

std::vector<Tensor> inputs_of(const Graph& graph) {
  std::vector<Tensor> out;
  for (const ValueId input : graph.inputs())
    out.push_back(random_tensor(DType::Float, *concrete(*graph.type(input).shape), out.size()));
  return out;
}

/// What the outputs must be: y, and both new running statistics, where `sample` scales the variance of the batch.
std::vector<std::vector<double>> expected(const std::vector<Tensor>& inputs, double sample = 1) {
  const auto x = inputs[0].data<float>();
  const auto of = [&](size_t operand, size_t channel) { return double{inputs[operand].data<float>()[channel]}; };
  std::vector<std::vector<double>> out{std::vector<double>(24), std::vector<double>(2), std::vector<double>(2)};
  for (size_t c = 0; c < 2; ++c) {
    std::vector<size_t> places;
    for (size_t i = 0; i < 24; ++i)
      if (i / 3 % 2 == c) places.push_back(i);
    double mean = 0, variance = 0;
    for (const size_t i : places) mean += double{x[i]} / 12;
    for (const size_t i : places) variance += (x[i] - mean) * (x[i] - mean) / 12;
    for (const size_t i : places) out[0][i] = (x[i] - mean) / std::sqrt(variance + kEpsilon) * of(1, c) + of(2, c);
    out[1][c] = kMomentum * of(3, c) + (1 - kMomentum) * mean;
    out[2][c] = kMomentum * of(4, c) + (1 - kMomentum) * sample * variance;
  }
  return out;
}

void expect_near(const Tensor& got, const std::vector<double>& want) {
  const auto elements = got.data<float>();
  ASSERT_EQ(elements.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(elements[i], want[i], 1e-5) << i;
}

TEST(BatchNorm, NormalizesByTheBatchAndUpdatesTheRunningStatistics) {
  for (const bool opaque : {false, true}) {
    const Graph graph = normalization(opaque);
    const auto inputs = inputs_of(graph);
    const auto form = with_batch_statistics(graph, !opaque);
    ASSERT_TRUE(form) << form.error().message;
    EXPECT_EQ(form->outputs, (std::vector<std::string>{"new/mean", "new/variance"}));
    EXPECT_EQ(form->batch, 1U);
    EXPECT_EQ(form->running, 0U);
    const auto outputs = run_or_throw(form->graph, inputs);
    const auto want = expected(inputs);
    for (size_t i = 0; i < 3; ++i) expect_near(outputs[i], want[i]);
  }
}

TEST(BatchNorm, ResultsOfTheTrainingFormAreTheNewStatistics) {
  const Graph graph = normalization(true, 3);
  const auto inputs = inputs_of(graph);
  const auto outputs = run_or_throw(with_batch_statistics(graph, false)->graph, inputs);
  ASSERT_EQ(outputs.size(), 5U);
  const auto want = expected(inputs);
  for (const size_t i : {0, 1, 2, 3, 4}) expect_near(outputs[i], want[i > 2 ? i - 2 : i]);
}

TEST(BatchNorm, TheVarianceOfASampleIsLarger) {
  const Graph graph = normalization(false);
  GraphBuilder builder;
  std::vector<ValueId> operands;
  for (const ValueId input : graph.inputs()) operands.push_back(builder.input(graph.type(input)));
  const Node& node = graph.producer_node(graph.outputs()[0]);
  NodeWriter writer(builder, *node.op, node.attrs, operands);
  const WrittenBatchNorm written = written_batch_norm(writer, true);
  const ValueId variance = written.variance.id();
  const auto inputs = inputs_of(graph);
  expect_near(run_or_throw(builder.finish({&variance, 1}), inputs)[0], expected(inputs, 12.0 / 11)[2]);
}

TEST(BatchNorm, TheInferenceFormStaysUnlessAllAreWanted) {
  const Graph graph = normalization(false);
  const auto form = with_batch_statistics(graph, false);
  ASSERT_TRUE(form) << form.error().message;
  EXPECT_EQ(form->graph.hash(), graph.hash());
  EXPECT_EQ(form->running, 1U);
  EXPECT_EQ(form->batch, 0U);
  EXPECT_TRUE(form->outputs.empty());
}

TEST(BatchNorm, StatisticsWithSeveralReadersAreNotUpdated) {
  const auto form = with_batch_statistics(normalization(true, 1, true), false);
  ASSERT_TRUE(form) << form.error().message;
  EXPECT_TRUE(form->outputs.empty());
  EXPECT_EQ(form->frozen, (std::vector<std::string>{"mean"}));
  EXPECT_EQ(form->graph.outputs().size(), 1U);
}

/// The error for an opaque normalization with these operand types (an absent one is unknown) and attributes.
std::string refusal(const std::vector<TensorType>& types, const Attrs& more = {}) {
  GraphBuilder builder;
  std::vector<ValueId> operands;
  for (const TensorType& type : types) operands.push_back(type.known() ? builder.input(type) : kNoValue);
  Attrs attrs{
      {"@op_type", std::string("BatchNormalization")}, {"@domain", std::string()}, {"training_mode", int64_t{1}}};
  for (const auto& [name, value] : more.entries()) attrs = attrs.with(name, value);
  const ValueId y = builder.at(builder.opaque(attrs, operands, {types[0]})).result();
  const auto form = with_batch_statistics(builder.finish({&y, 1}), false);
  return form ? "" : form.error().message;
}

TEST(BatchNorm, BadOnesAreRefusedWithTheNode) {
  const TensorType x{DType::Float, {4, 2, 3}}, c{DType::Float, {2}};
  EXPECT_EQ(refusal({x, c, c, c, c}), "");
  EXPECT_EQ(refusal({x, c, c, c, {}}), "node #4 (BatchNormalization): it needs 5 operands");
  EXPECT_EQ(refusal({x, c, c, c}), "node #4 (BatchNormalization): it needs 5 operands");
  EXPECT_NE(refusal({x, c, c, {DType::Float, {1, 2}}, c}), "");
  EXPECT_NE(refusal({x, {DType::Float, {1}}, c, c, c}), "");
  EXPECT_NE(refusal({x, c, c, c, c}, {{"epsilon", int64_t{1}}}), "");
  EXPECT_NE(refusal({x, c, c, {DType::Int64, {2}}, c}), "");
}

TEST(BatchNorm, ComputesInTheTypeOfTheStatistics) {
  GraphBuilder builder;
  std::vector<ValueId> operands{builder.input({DType::Half, {4, 2, 3}})};
  for (int i = 0; i < 4; ++i) operands.push_back(builder.input({DType::Float, {2}}));
  const Attrs attrs{
      {"@op_type", std::string("BatchNormalization")}, {"@domain", std::string()}, {"training_mode", int64_t{1}}};
  const ValueId y = builder.at(builder.opaque(attrs, operands, {{DType::Half, {4, 2, 3}}})).result();
  const auto form = with_batch_statistics(builder.finish({&y, 1}), false);
  ASSERT_TRUE(form) << form.error().message;
  EXPECT_EQ(form->graph.type(form->graph.outputs()[0]).dtype, DType::Half);
}

}  // namespace
}  // namespace isomer::testing
