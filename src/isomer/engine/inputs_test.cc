#include "isomer/engine/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/ir/text.h"
#include "isomer/onnx/testing.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using testing::HasSubstr;

Model model_of(std::string_view text) {
  auto graph = parse_graph(text, find_op);
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message);
  return make_model(std::move(*graph), "test", 17);
}

ShapeOptions shapes(const std::vector<std::string>& texts) {
  ShapeOptions options;
  for (const std::string& text : texts) {
    const Status added = add_shape_option(text, options);
    EXPECT_TRUE(added.has_value()) << (added ? "" : added.error().message);
  }
  return options;
}

constexpr std::string_view kTwo = "input a: f32[N,3]\n input b: f32[N,2*M]\n y = Concat(a, b) {axis=1}\n return y";

TEST(Inputs, ShapeOptionsAreParsed) {
  const ShapeOptions options = shapes({"x:0:1,3, 224", "N=8", "s:"});
  EXPECT_EQ(options.inputs.at("x:0"), (std::vector<int64_t>{1, 3, 224}));
  EXPECT_TRUE(options.inputs.at("s").empty());
  EXPECT_EQ(options.symbols.at("N"), 8);
  EXPECT_EQ(shape_texts(options), (std::vector<std::string>{"s:", "x:0:1,3,224", "N=8"}));
  for (const char* bad : {"", "x", ":1", "x:1,", "x:a", "x:-1", "N=1,2", "N=", "x:1 2", "x:99999999999999999999"}) {
    ShapeOptions ignored;
    EXPECT_FALSE(add_shape_option(bad, ignored).has_value()) << bad;
  }
}

TEST(Inputs, ExtentsOfOneInputReachTheOthers) {
  const Model model = model_of(kTwo);
  const auto one = random_inputs(model, {}, 1);
  ASSERT_TRUE(one.has_value()) << one.error().message;
  EXPECT_EQ((*one)[0].second.dims(), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ((*one)[1].second.dims(), (std::vector<int64_t>{1, 2}));
  const auto more = random_inputs(model, shapes({"a:5,3", "M=4"}), 1);
  ASSERT_TRUE(more.has_value()) << more.error().message;
  EXPECT_EQ((*more)[1].first, "b");
  EXPECT_EQ((*more)[1].second.dims(), (std::vector<int64_t>{5, 8}));
}

TEST(Inputs, WhatDoesNotFitIsRefused) {
  const Model model = model_of(kTwo);
  const auto error = [&](const std::vector<std::string>& texts) {
    const auto inputs = random_inputs(model, shapes(texts), 1);
    return inputs ? "" : inputs.error().message;
  };
  EXPECT_THAT(error({"c:1"}), HasSubstr("no input 'c'; there are: a, b"));
  EXPECT_THAT(error({"K=1"}), HasSubstr("no symbolic dimension 'K'; there are: M, N"));
  EXPECT_THAT(error({"a:5,4"}), HasSubstr("[5,4] does not fit"));
  EXPECT_THAT(error({"a:5"}), HasSubstr("does not fit"));
  EXPECT_THAT(error({"a:5,3", "N=4"}), HasSubstr("has N=5, but elsewhere it is 4"));
}

TEST(Inputs, SeedAndNameDecideWhatIsDrawn) {
  const Model ab = model_of("input a: f32[4]\n input b: f32[4]\n y = Add(a, b)\n return y");
  const Model ba = model_of("input b: f32[4]\n input a: f32[4]\n y = Add(a, b)\n return y");
  const auto first = random_inputs(ab, {}, 3).value(), second = random_inputs(ba, {}, 3).value();
  EXPECT_EQ(first[0].second, second[1].second);
  EXPECT_FALSE(first[0].second == first[1].second);
  EXPECT_FALSE(first[0].second == random_inputs(ab, {}, 4).value()[0].second);
}

TEST(Inputs, AnInputWithADefaultKeepsIt) {
  const Model model = test::with_default(model_of(kTwo), 0, Tensor::zeros(DType::Float, {5, 3}));
  const auto names = [&](const std::vector<std::string>& texts) {
    std::string out;
    const auto drawn = random_inputs(model, shapes(texts), 1).value();
    for (const auto& [name, tensor] : drawn) out += name + tensor.type().str() + " ";
    return out;
  };
  EXPECT_EQ(names({"M=1"}), "bf32[5,2] ") << "the default says what N is";
  EXPECT_EQ(names({"M=1", "a:5,3"}), "bf32[5,2] ");
  EXPECT_EQ(names({"M=1", "a:6,3"}), "af32[6,3] bf32[6,2] ") << "the default has other extents";
  EXPECT_EQ(names({"M=1", "N=7"}), "bf32[7,2] ");
}

TEST(Inputs, IndicesStayWithinTheirTable) {
  const Model model = model_of(R"(
    input token: i64[64]
    input kind: i32[64]
    words = f32[100,2]{seed 1}
    kinds = f32[2,2]{seed 2}
    a = Gather(words, token)
    b = Gather(kinds, kind)
    y = Add(a, b)
    return y)");
  const auto inputs = random_inputs(model, {}, 1).value();
  EXPECT_GT(*std::ranges::max_element(inputs[0].second.data<int64_t>()), 2);
  EXPECT_EQ(*std::ranges::max_element(inputs[1].second.data<int32_t>()), 1);
  EXPECT_GE(*std::ranges::min_element(inputs[1].second.data<int32_t>()), 0);
}

/// The maximum of the first input of a graph, which has many elements.
int64_t max_of_input(const char* graph) {
  return *std::ranges::max_element(random_inputs(model_of(graph), {}, 1).value()[0].second.data<int64_t>());
}

TEST(Inputs, IntegersThatSelectStayWithinWhatTheySelectFrom) {
  EXPECT_EQ(max_of_input(R"(
    input labels: i64[99]
    input scores: f32[99,3]
    y = SoftmaxCrossEntropyLoss(scores, labels)
    return y)"),
            2);
  EXPECT_EQ(max_of_input(R"(
    input labels: i64[9,11]
    input scores: f32[9,4,11]
    y = NegativeLogLikelihoodLoss(scores, labels)
    return y)"),
            3);
  EXPECT_EQ(max_of_input(R"(
    input i: i64[99,1]
    input x: f32[99,5]
    y = GatherElements(x, i) {axis=-1}
    return y)"),
            4);
  EXPECT_EQ(max_of_input(R"(
    input i: i64[99,2]
    input x: f32[6,3,2]
    y = GatherND(x, i)
    return y)"),
            2)
      << "the smaller of both axes";
  EXPECT_EQ(max_of_input(R"(
    input i: i64[9,99,1]
    input x: f32[9,3,2]
    y = GatherND(x, i) {batch_dims=1}
    return y)"),
            2);
}

TEST(Inputs, IntegersThatSelectAreFollowedThroughMovements) {
  EXPECT_EQ(max_of_input(R"(
    input labels: i64[99]
    input scores: f32[3,99]
    zeros = i64[]{0}
    unknown = Equal(labels, zeros)
    known = Where(unknown, zeros, labels)
    narrow = Cast(known) {to=6}
    wide = Cast(narrow) {to=7}
    row = Unsqueeze(wide) {axes=[0]}
    rows = Concat(row, row) {axis=0}
    one, other = Split(rows) {axis=0, split=[1,1]}
    y = GatherElements(scores, other) {axis=0}
    return y)"),
            2);
  EXPECT_EQ(max_of_input(R"(
    input labels: i64[99]
    x = Cast(labels) {to=1}
    return x)"),
            7)
      << "selects nothing";
}

TEST(Inputs, WhatIsSelectedFromMayHaveSymbolicExtents) {
  const Model model = model_of(R"(
    input i: i64[99,1]
    input x: f32[99,N]
    y = GatherElements(x, i) {axis=1}
    return y)");
  ShapeOptions shapes;
  ASSERT_TRUE(add_shape_option("N=3", shapes).has_value());
  EXPECT_EQ(*std::ranges::max_element(random_inputs(model, shapes, 1).value()[0].second.data<int64_t>()), 2);
}

TEST(Inputs, OtherNodesMayLackTheirFirstOperand) {
  GraphBuilder builder;
  const ValueId i = builder.input({DType::Int64, {99}});
  const std::vector<ValueId> operands{kNoValue, i};
  const NodeId node = builder.opaque({{"@op_type", std::string("Custom")}}, operands, {{DType::Int64, {99}}});
  const ValueId y = builder.at(node).result();
  const Model model = make_model(builder.finish({&y, 1}), "m", 17);
  EXPECT_TRUE(random_inputs(model, {}, 1).has_value());
}

TEST(Inputs, GivenTensorsAreChecked) {
  const TensorType declared(DType::Float, {Dim::symbol("N"), 3});
  EXPECT_TRUE(check_input("x", Tensor::zeros(DType::Float, {7, 3}), declared).has_value());
  EXPECT_FALSE(check_input("x", Tensor::zeros(DType::Float, {7, 4}), declared).has_value());
  EXPECT_FALSE(check_input("x", Tensor::zeros(DType::Float, {3}), declared).has_value());
  EXPECT_THAT(check_input("x", Tensor::zeros(DType::Int64, {7, 3}), declared).error().message, HasSubstr("i64[7,3]"));
  EXPECT_FALSE(
      check_input("x", Tensor::zeros(DType::Float, {3, 4}), {DType::Float, {Dim::symbol("N"), Dim::symbol("N")}})
          .has_value());
}

TEST(Inputs, ASymbolHasOneValueInAllGivenTensors) {
  const std::vector<TensorType> declared(2, {DType::Float, {Dim::symbol("N"), 3}});
  const auto given = [](int64_t first, int64_t second) {
    return std::vector<NamedTensor>{{"x", Tensor::zeros(DType::Float, {first, 3})},
                                    {"y", Tensor::zeros(DType::Float, {second, 3})}};
  };
  EXPECT_TRUE(check_inputs(given(2, 2), declared).has_value());
  EXPECT_THAT(check_inputs(given(2, 4), declared).error().message, HasSubstr("'y' has N=4, but elsewhere it is 2"));
}

}  // namespace
}  // namespace isomer
