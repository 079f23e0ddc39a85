// Tests rewrites whose weights cannot be stored, from end to end. The search skips these rewrites and no others.

#include <gmock/gmock.h>

#include "isomer/base/temp_dir.h"
#include "isomer/certificate/verify_files.h"
#include "isomer/eval/executor.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/ops/registry.h"
#include "isomer/optimize/optimize.h"
#include "isomer/rules/builtin.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/exhaustive.h"
#include "isomer/search/matches.h"
#include "isomer/search/part_searches.h"
#include "isomer/search/searches.h"

namespace isomer {
namespace {

class Weights : public ::testing::TestWithParam<std::string> {
 protected:
  /// Optimizes under the roofline model and checks the certificate.
  OptimizeReport optimized(const std::string& text) {
    const Graph graph = parse_graph(text, find_op).value();
    OptimizeOptions options;
    options.input = folder_.path() / "model.onnx";
    options.output = folder_.path() / "out.onnx";
    options.certificate = folder_.path() / "model.cert";
    options.force = true;
    options.costs.engine = "roofline";
    options.search.search = GetParam();
    options.search.max_candidates = 200;
    // Exact searches have no limit of candidates, and products of matrices can be written in endlessly many ways. So
    // they are ended after this many questions, however fast the machine is.
    constexpr int kQuestions = 100000;
    int asked = 0;
    const auto parts = std::ranges::find(part_searches(), GetParam(), &NamedPartSearch::name);
    if (parts != part_searches().end() && parts->exact) options.stop = [&asked] { return ++asked > kQuestions; };
    options.search.time_budget_seconds = 1e6;
    options.allow_tested = true;
    EXPECT_TRUE(export_model(make_model(graph, "model", 17), options.input).has_value());
    auto report = optimize(options);
    EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().message);
    before_ = import_model(options.input).value().graph;
    after_ = import_model(options.output).value().graph;
    const auto verified =
        replay::verify_certificate(options.certificate, options.input, options.output, builtin_lock().value());
    EXPECT_EQ(verified ? verified->problem : verified.error().message, "");
    return report.value_or(OptimizeReport{});
  }

  /// Returns the outputs before and after on inputs that are all `x`.
  void expect_same_outputs(float x) const {
    std::vector<Tensor> inputs;
    for (const ValueId input : before_.inputs()) {
      const auto dims = *concrete(*before_.type(input).shape);
      inputs.push_back(Tensor::zeros(DType::Float, dims));
      std::ranges::fill(inputs.back().mutable_data<float>(), x);
    }
    const auto expected = run_reference(before_, inputs).value();
    const auto got = run_reference(after_, inputs).value();
    for (size_t i = 0; i < expected.size(); ++i)
      for (size_t j = 0; j < expected[i].data<float>().size(); ++j)
        EXPECT_FLOAT_EQ(got[i].data<float>()[j], expected[i].data<float>()[j]) << "output " << i;
  }

  TempDir folder_ = TempDir::make().value();
  Graph before_;
  Graph after_;
};

bool says(const OptimizeReport& report, const std::string& reason) {
  return std::ranges::any_of(report.search.rejected,
                             [&](const Rejection& one) { return one.reason.find(reason) != std::string::npos; });
}

TEST_P(Weights, ProductsThatOverflowAreLeftAndOthersFolded) {
  const OptimizeReport report = optimized(R"(
    input x: f32[64,64]
    a = f32[64,64]{fill 1e30}
    b = f32[64,64]{fill 2e30}
    c = f32[64,64]{seed 1}
    d = f32[64,64]{seed 2}
    s = Relu(x)
    xa = Mul(s, a)
    y = Mul(xa, b)
    t = Tanh(x)
    xc = Mul(t, c)
    z = Mul(xc, d)
    return y, z)");
  EXPECT_EQ(run_time_ops(before_), 6U);
  EXPECT_EQ(run_time_ops(after_), 5U) << print_graph(after_);
  expect_same_outputs(1e-35F);
  EXPECT_TRUE(says(report, "would be stored as inf"));
}

TEST_P(Weights, ProductsOfMatricesThatOverflowAreLeft) {
  optimized(R"(
    input x: f32[64,16]
    a = f32[16,16]{fill 1e25}
    b = f32[16,16]{fill 1e25}
    xa = MatMul(x, a)
    y = MatMul(xa, b)
    return y)");
  expect_same_outputs(1e-35F);
}

TEST_P(Weights, SumsThatOverflowAreLeft) {
  optimized(R"(
    input x: f32[64,64]
    a = f32[64,64]{fill 3e38}
    b = f32[64,64]{fill 3e38}
    s = Relu(x)
    xa = Mul(s, a)
    xb = Mul(s, b)
    y = Add(xa, xb)
    return y)");
  expect_same_outputs(0.25F);
}

TEST_P(Weights, ProductsThatVanishAreLeft) {
  optimized(R"(
    input x: f32[64,64]
    a = f32[64,64]{fill 1e-30}
    b = f32[64,64]{fill 1e-30}
    s = Relu(x)
    xa = Mul(s, a)
    y = Mul(xa, b)
    return y)");
  expect_same_outputs(1e30F);
}

TEST_P(Weights, InfinitiesOfTheModelItselfAreFolded) {
  optimized(R"(
    input x: f32[64,64]
    a = f32[64,64]{fill 1e30}
    c = Mul(a, a)
    d = f32[64,64]{fill 2}
    s = Relu(x)
    xc = Mul(s, c)
    y = Mul(xc, d)
    return y)");
  EXPECT_LE(run_time_ops(after_), 2U) << print_graph(after_);
  expect_same_outputs(1);
}

/// Tells how often rules apply to a graph, and to what they make of it, up to so many in a row. All of these graphs
/// must have the first one's output for inputs of ones.
int check_steps(const Graph& graph, std::span<const Rule> rules, float output, int steps) {
  std::vector<Tensor> ones;
  for (const ValueId input : graph.inputs())
    ones.push_back(Tensor::floats(*concrete(*graph.type(input).shape), std::vector<float>(8, 1)));
  const Tensor got = run_reference(graph, ones).value()[0];
  EXPECT_FLOAT_EQ(got.data<float>()[0], output) << print_graph(graph);
  int applied = 0;
  if (steps == 0) return applied;
  for (const Match& match : all_matches(graph, rules))
    if (const auto next = apply_match(graph, match)) applied += 1 + check_steps(*next, rules, output, steps - 1);
  return applied;
}

// An attention mask, (1 - m) (-1e9), must not be split: a score of about 1 would be lost when it is added to -1e9.
TEST(Masks, AreNotTakenApart) {
  const std::string head =
      "input s: f32[8]\ninput m: f32[8]\nquarter = f32[]{0.25}\ntwo = f32[]{2}\none = f32[]{1}\nless = f32[]{-1}\n"
      "large = f32[]{-1e9}\nfirst = Mul(s, quarter)\nscaled = Mul(first, two)\noff = Sub(one, m)\n";
  const std::vector<Rule> rules = builtin_rules().value();
  for (const char* masked : {
           "mask = Mul(off, large)\nsum = Add(scaled, mask)",
           "on = Sub(m, one)\nmask = Mul(on, large)\nsum = Add(scaled, mask)",
           "on = Add(m, less)\nmask = Mul(large, on)\nsum = Add(scaled, mask)",
           "on = Mul(m, large)\nmask = Sub(large, on)\nsum = Add(scaled, mask)",
           "on = Mul(m, large)\nmask = Sub(large, on)\nmore = Add(mask, quarter)\nsum = Add(more, quarter)",
           "on = Mul(m, large)\na = Neg(on)\nmask = Add(a, large)\nb = Add(mask, quarter)\nsum = Add(b, quarter)",
           "kept = Mul(m, scaled)\nmask = Mul(off, large)\nsum = Add(kept, mask)",
       })
    EXPECT_GT(
        check_steps(parse_graph(fmt::format("{}{}\nreturn sum\n", head, masked), find_op).value(), rules, 0.5F, 3), 0)
        << masked;
}

INSTANTIATE_TEST_SUITE_P(Searches, Weights, ::testing::ValuesIn(search_names()));

}  // namespace
}  // namespace isomer
