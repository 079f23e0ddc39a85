#pragma once
// Helpers for the tests of searches.

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "isomer/eval/executor.h"
#include "isomer/eval/random.h"
#include "isomer/ir/verify_testing.h"
#include "isomer/ops/graph_testing.h"
#include "isomer/ops/work.h"
#include "isomer/plan/candidate.h"
#include "isomer/rules/rule.h"
#include "isomer/search/report.h"

namespace isomer {

inline std::vector<Rule> rules_of(std::string_view text) {
  auto rules = parse_rules(text);
  if (!rules) throw std::runtime_error(rules.error().message);
  return std::move(*rules);
}

/// Expects that both graphs compute the same field elements from the same random inputs.
inline void expect_same_meaning(const Graph& a, const Graph& b) {
  std::vector<Tensor> inputs;
  for (const ValueId input : a.inputs())
    inputs.push_back(random_tensor(DType::Field, *concrete(*a.type(input).shape), inputs.size() + 1));
  const auto expected = run_reference(a, inputs);
  const auto got = run_reference(b, inputs);
  ASSERT_TRUE(expected.has_value()) << expected.error().message;
  ASSERT_TRUE(got.has_value()) << got.error().message;
  for (size_t i = 0; i < expected->size(); ++i) EXPECT_TRUE((*expected)[i] == (*got)[i]) << "output " << i;
}

/// The cost in microseconds of a device that fuses nothing. Costs of operators add up, so what a search finds is easy
/// to see in a graph.
inline Result<double> unfused_us(const Candidate& candidate) {
  const Graph& graph = candidate.graph;
  const Extents extents = extents_of(graph, {});
  double us = 0;
  for (const Node& node : graph.nodes()) {
    if (!graph.runs(node) || node.op->has(Trait::View)) continue;
    const Work work = work_of(graph, node, extents);
    us += 5 + std::max(work.flops / 10e6, work.bytes / 500e3);
  }
  return us;
}

/// An SRU cell without biases in its textbook form: c' = f*c + (1-f)*z.
constexpr std::string_view kGate = R"(
  input f: f32[1,8]
  input c: f32[1,8]
  input z: f32[1,8]
  one = f32[]{1}
  p = Mul(f, c)
  n = Sub(one, f)
  q = Mul(n, z)
  y = Add(p, q)
  return y)";

/// Convolutions that share an input, side by side and then joined, twice.
constexpr std::string_view kBranches = R"(
  input x: f32[1,4,6,6]
  w1 = f32[4,4,3,3]{seed 1}
  w2 = f32[4,4,3,3]{seed 2}
  w3 = f32[4,8,3,3]{seed 3}
  w4 = f32[4,8,3,3]{seed 4}
  a = Conv(x, w1) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
  b = Conv(x, w2) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
  ra = Relu(a)
  rb = Relu(b)
  j = Concat(ra, rb) {axis=1}
  c = Conv(j, w3) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
  d = Conv(j, w4) {pads=[1,1,1,1], strides=[1,1], dilations=[1,1]}
  s = Add(c, d)
  y = Relu(s)
  return y)";

/// Everything that a search found, and what it counted.
inline std::string account(const SearchResult& found) {
  const SearchReport& report = found.report;
  std::string out = fmt::format("{:x}: {} candidates, {} duplicates, {} matches, {}\n", found.graph.hash(),
                                report.candidates, report.duplicates, report.matches, report.stop_reason);
  for (const SearchStep& step : report.steps) out += fmt::format("{} {}\n", step.rule, step.delta);
  return out;
}

/// The text of s = x v + x w. The names end with a number.
inline std::string sum_of_products(int number) {
  return fmt::format(
      "v{0} = f32[8,8]{{seed {1}}}\nw{0} = f32[8,8]{{seed {2}}}\na{0} = MatMul(x{0}, v{0})\nb{0} = MatMul(x{0}, w{0})\n"
      "s{0} = Add(a{0}, b{0})\n",
      number, 2 * number + 1, 2 * number + 2);
}

/// Products of constants that are infinite: a rewrite that multiplies them first is refused. Others are not.
inline Graph overflows() {
  std::string text = "input x0: f32[4,8]\n";
  for (int i = 0; i < 6; ++i)
    text += sum_of_products(i) +
            fmt::format(
                "k{0} = f32[]{{{1}e30}}\nl{0} = f32[]{{1e30}}\ny{0} = Mul(x{0}, k{0})\nz{0} = Mul(y{0}, l{0})\n"
                "t{0} = Add(s{0}, z{0})\nx{1} = Tanh(t{0})\n",
                i, i + 1);
  return parsed(text + "return x6\n");
}

}  // namespace isomer
