// Gradients of recurrent layers.

#include "isomer/ops/recurrent.h"

#include <gmock/gmock.h>

#include "isomer/grad/testing.h"

namespace isomer::testing {
namespace {

using ::testing::HasSubstr;

/// A layer: its attributes, and which optional operands it has.
struct RecurrentCase {
  std::string name;
  Attrs attrs = {};
  int64_t steps = 3;
  bool bias = true;
  bool initial = true;
  bool peephole = false;
  size_t num_results = 0;
  std::vector<uint32_t> used = {};  ///< the results on which the loss depends; all if empty
  Tensor lengths = {};
};

Result<GradientCase> layer_case(const RecurrentCase& what) {
  constexpr int64_t kBatch = 2, kInput = 3, kHidden = 2;
  const Cell cell = what.name == "RNN" ? Cell::Rnn : what.name == "GRU" ? Cell::Gru : Cell::Lstm;
  const auto rows = static_cast<int64_t>(gates_of(cell)) * kHidden;
  const bool batch_first = what.attrs.has("layout") && what.attrs.integer("layout") == 1;
  const int64_t directions = what.attrs.has("direction") && what.attrs.text("direction") == "bidirectional" ? 2 : 1;
  const std::vector<int64_t> state = batch_first ? std::vector<int64_t>{kBatch, directions, kHidden}
                                                 : std::vector<int64_t>{directions, kBatch, kHidden};
  std::vector<Tensor> inputs;
  inputs.push_back(uniform_tensor(
      batch_first ? std::vector<int64_t>{kBatch, what.steps, kInput} : std::vector<int64_t>{what.steps, kBatch, kInput},
      1));
  inputs.push_back(uniform_tensor({directions, rows, kInput}, 2));
  inputs.push_back(uniform_tensor({directions, rows, kHidden}, 3));
  inputs.push_back(what.bias ? uniform_tensor({directions, 2 * rows}, 4) : Tensor());
  inputs.push_back(what.lengths);
  if (what.initial) inputs.push_back(uniform_tensor(state, 5));
  if (what.initial && cell == Cell::Lstm) inputs.push_back(uniform_tensor(state, 6));
  if (what.peephole) {
    inputs.resize(7);
    inputs.push_back(uniform_tensor({directions, 3 * kHidden}, 7));
  }
  while (inputs.back().empty()) inputs.pop_back();
  return operator_case(what.name, what.attrs, std::move(inputs), what.num_results, "", what.used);
}

void expect_right(const RecurrentCase& what) {
  const auto test = layer_case(what);
  ASSERT_TRUE(test) << test.error().message;
  expect_finite_differences(*test);
}

TEST(RecurrentGradients, OfEveryDirectionAndLayout) {
  for (const char* const name : {"RNN", "GRU", "LSTM"})
    for (const char* const direction : {"forward", "reverse", "bidirectional"})
      for (const int64_t layout : {0, 1}) {
        SCOPED_TRACE(fmt::format("{} {} layout {}", name, direction, layout));
        const size_t results = std::string(name) == "LSTM" ? 3 : 2;
        expect_right({.name = name,
                      .attrs = {{"direction", std::string(direction)}, {"layout", layout}},
                      .num_results = results});
      }
}

TEST(RecurrentGradients, WithoutOptionalOperands) {
  for (const char* const name : {"RNN", "GRU", "LSTM"})
    for (const int64_t steps : {1, 3}) {
      SCOPED_TRACE(name);
      expect_right({.name = name, .steps = steps, .bias = false, .initial = false});
      expect_right({.name = name, .steps = steps, .initial = false, .num_results = 2});
    }
}

TEST(RecurrentGradients, OfVariants) {
  for (const int64_t flag : {0, 1})
    for (const char* const direction : {"forward", "reverse"}) {
      const Attrs attrs({{"direction", std::string(direction)}});
      expect_right({.name = "GRU", .attrs = attrs.with("linear_before_reset", flag), .num_results = 2});
      expect_right({.name = "LSTM", .attrs = attrs.with("input_forget", flag), .num_results = 3});
      expect_right({.name = "LSTM", .attrs = attrs.with("input_forget", flag), .peephole = true, .num_results = 3});
      expect_right({.name = "LSTM",
                    .attrs = attrs.with("input_forget", flag),
                    .initial = false,
                    .peephole = true,
                    .num_results = 3});
    }
}

TEST(RecurrentGradients, OfActivations) {
  expect_right({.name = "RNN", .attrs = {{"activations", Strings{"Relu"}}}});
  expect_right({.name = "GRU", .attrs = {{"activations", Strings{"Sigmoid", "Relu"}}}});
  expect_right({.name = "LSTM", .attrs = {{"activations", Strings{"Sigmoid", "Relu", "Tanh"}}}});
  expect_right({.name = "LSTM",
                .attrs = {{"activations", Strings{"Tanh", "Affine", "Sigmoid"}}, {"activation_alpha", Floats{0.5F}}}});
}

TEST(RecurrentGradients, OfSingleResults) {
  for (const char* const name : {"RNN", "GRU", "LSTM"})
    for (const uint32_t used : {0U, 1U, 2U}) {
      SCOPED_TRACE(fmt::format("{} {}", name, used));
      const size_t results = std::string(name) == "LSTM" ? 3 : 2;
      if (used < results) expect_right({.name = name, .num_results = results, .used = {used}});
    }
}

/// With linear activations, states are polynomials. Each step at least triples their degree.
TEST(RecurrentGradients, FormalDerivatives) {
  const auto affine = [](size_t count) {
    return Attrs({{"activations", Strings(count, "Affine")},
                  {"activation_alpha", Floats(count, 0.5F)},
                  {"activation_beta", Floats(count, 2)}});
  };
  const std::string both = "bidirectional", reverse = "reverse";
  for (const RecurrentCase& what :
       {RecurrentCase{.name = "RNN", .attrs = affine(1), .num_results = 2},
        {.name = "GRU", .attrs = affine(2), .steps = 2, .num_results = 2},
        {.name = "GRU", .attrs = affine(4).with("direction", both), .steps = 2, .num_results = 2},
        {.name = "GRU", .attrs = affine(2).with("linear_before_reset", int64_t{1}), .steps = 2, .num_results = 2},
        {.name = "LSTM", .attrs = affine(3), .steps = 2, .num_results = 3},
        {.name = "LSTM", .attrs = affine(6).with("direction", both), .steps = 2, .num_results = 3},
        {.name = "LSTM", .attrs = affine(3).with("input_forget", int64_t{1}), .steps = 2, .num_results = 3},
        {.name = "LSTM",
        .attrs = affine(3).with("direction", reverse),
        .steps = 2,
        .peephole = true,
        .num_results = 3}}) {
    SCOPED_TRACE(what.name);
    const auto test = layer_case(what);
    ASSERT_TRUE(test) << test.error().message;
    expect_formal_derivative(*test, 1, 80);
  }
}

/// The reason why a layer has no gradient.
std::string refusal(const GradientCase& test) {
  const auto gradients = with_gradients(test.graph, test.loss, {test.graph.inputs().begin(), 1});
  return gradients ? "" : gradients.error().message;
}

TEST(RecurrentGradients, RefusesWhatHasNone) {
  EXPECT_THAT(refusal(*layer_case({.name = "RNN", .attrs = {{"clip", 1.0F}}})),
              HasSubstr("(RNN): no gradient: it clips"));
  EXPECT_THAT(refusal(*layer_case({.name = "RNN", .steps = 0})), HasSubstr("(RNN): no gradient: it has no steps"));
  for (const char* const activation : {"Elu", "LeakyRelu", "ScaledTanh", "HardSigmoid", "Softsign", "Softplus"})
    for (const auto& [name, count] : {std::pair{"RNN", size_t{1}}, {"GRU", size_t{2}}, {"LSTM", size_t{3}}})
      for (size_t i = 0; i < count; ++i) {
        Strings activations(count, "Tanh");
        activations[i] = activation;
        EXPECT_THAT(refusal(*layer_case({.name = name, .attrs = {{"activations", activations}}})),
                    HasSubstr("no gradient: only the activations Tanh, Sigmoid, Relu and Affine"))
            << name << " " << i;
      }
}

TEST(RecurrentGradients, AcceptsLengthsThatAreAllSteps) {
  const auto with_lengths = [](const std::vector<int32_t>& lengths) {
    GraphBuilder builder;
    const auto input = [&](std::vector<int64_t> dims) {
      return builder.input({DType::Double, Shape(dims.begin(), dims.end())});
    };
    const ValueId x = input({3, 2, 1}), w = input({1, 2, 1}), r = input({1, 2, 2});
    const ValueId known = builder.constant(Tensor::of<int32_t>(DType::Int32, {2}, lengths));
    const auto y = builder.add(op("RNN"), {}, {x, w, r, kNoValue, known});
    const auto loss = builder.add(op("ReduceSum"), {{"axes", Ints{0, 1, 2, 3}}, {"keepdims", int64_t{0}}}, {*y});
    Graph graph = builder.finish({&*loss, 1});
    const ValueId output = graph.outputs()[0];
    return GradientCase{std::move(graph),
                        output,
                        {uniform_tensor({3, 2, 1}, 1), uniform_tensor({1, 2, 1}, 2), uniform_tensor({1, 2, 2}, 3)}};
  };
  expect_finite_differences(with_lengths({3, 3}));
  EXPECT_THAT(refusal(with_lengths({3, 2})), HasSubstr("(RNN): no gradient: its sequences have lengths"));
}

}  // namespace
}  // namespace isomer::testing
