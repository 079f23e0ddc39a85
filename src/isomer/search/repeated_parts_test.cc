#include "isomer/search/repeated_parts.h"

#include "isomer/cost/roofline.h"
#include "isomer/models/models.h"
#include "isomer/rules/builtin.h"
#include "isomer/search/backtrack.h"
#include "isomer/search/by_parts.h"
#include "isomer/search/cost_evaluator.h"
#include "isomer/search/part.h"
#include "isomer/search/part_searches.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

/// The elements of a uniform matrix.
const std::string kOnes = [] {
  std::string ones = "1";
  for (int i = 1; i < 64; ++i) ones += ",1";
  return ones;
}();

/// Two products of one value, each scaled. `weights` are the elements of a, b and the scale.
Graph gate(std::string_view a, std::string_view b, std::string_view scale, std::string_view order = "ab") {
  const std::string products[] = {"p = MatMul(x, a)\n", "q = MatMul(x, b)\n"};
  return parsed(
      fmt::format("input x: f32[4,8]\na = f32[8,8]{{{}}}\nb = f32[8,8]{{{}}}\ns = f32[]{{{}}}\n{}{}"
                  "m = Mul(p, s)\ny = Add(m, q)\nreturn y\n",
                  a, b, scale, products[order == "ab" ? 0 : 1], products[order == "ab" ? 1 : 0]));
}

class RepeatedPartsTest : public testing::Test {
 protected:
  CandidateCost cost() {
    return [this](const Candidate& candidate) -> Result<double> {
      ++costed;
      ISOMER_TRY(const Metrics metrics, model.metrics(candidate));
      return metrics.latency_us;
    };
  }
  FoundCandidate search(const Graph& graph) { return backtrack(graph, rules, cost(), {.alpha = 1.1}).value(); }
  void store(const Graph& graph, const Boundary& boundary = {}) { repeated.store(graph, boundary, search(graph)); }

  std::vector<Rule> rules = builtin_rules().value();
  RooflineCost model;
  const Objective latency;
  CostEvaluator evaluator{model, latency};
  RepeatedParts repeated{rules, evaluator};
  int64_t costed = 0;
};

TEST_F(RepeatedPartsTest, OtherWeightsAndAnotherOrderOfNodesGetTheSameSteps) {
  const Graph first = gate("seed 1", "seed 2", "0.5");
  const FoundCandidate searched = search(first);
  ASSERT_FALSE(searched.report.steps.empty());
  repeated.store(first, {}, searched);
  for (const std::string_view order : {"ab", "ba"}) {
    const Graph second = gate("seed 3", "seed 4", "0.5", order);
    costed = 0;
    const auto found = repeated.find(second, {}, cost());
    ASSERT_TRUE(found.has_value()) << order;
    EXPECT_EQ(costed, 2);  // of the part and of the result
    EXPECT_EQ(found->cost_after, searched.cost_after);
    EXPECT_EQ(found->report.candidates, 0);
    ASSERT_EQ(found->report.steps.size(), searched.report.steps.size());
    for (size_t i = 0; i < searched.report.steps.size(); ++i) {
      EXPECT_EQ(found->report.steps[i].rule, searched.report.steps[i].rule);
      EXPECT_EQ(found->report.steps[i].delta, searched.report.steps[i].delta);
    }
    EXPECT_EQ(found->report.steps.front().moves[0].before, second.hash());
    EXPECT_EQ(found->report.steps.back().moves[0].after, found->graph.hash());
    expect_same_meaning(second, found->graph);
    EXPECT_EQ(found->graph.hash(), search(second).graph.hash());
  }
}

TEST_F(RepeatedPartsTest, WhatRulesSeeTellsPartsApart) {
  store(gate("seed 1", "seed 2", "0.5"));
  EXPECT_TRUE(repeated.find(gate("seed 3", "seed 4", "0.5"), {}, cost()).has_value());
  EXPECT_FALSE(repeated.find(gate("seed 3", "seed 4", "2"), {}, cost()).has_value());
  EXPECT_FALSE(repeated.find(gate("seed 3", "seed 3", "0.5"), {}, cost()).has_value());  // one weight, read twice
  EXPECT_FALSE(repeated.find(gate("seed 3", kOnes, "0.5"), {}, cost()).has_value());
  const Boundary blocked{.inputs = {Layout::Blocked}};
  EXPECT_FALSE(repeated.find(gate("seed 3", "seed 4", "0.5"), blocked, cost()).has_value());
}

TEST_F(RepeatedPartsTest, NothingIsTakenOverWhereTheCostDiffers) {
  store(gate("seed 1", "seed 2", "0.5"));
  const CandidateCost twice = [&](const Candidate& candidate) -> Result<double> { return 2 * *cost()(candidate); };
  EXPECT_FALSE(repeated.find(gate("seed 3", "seed 4", "0.5"), {}, twice).has_value());
}

TEST_F(RepeatedPartsTest, NothingIsTakenOverWhereMemoryCounts) {
  Objective limited;
  ASSERT_TRUE(limited.add_limit("peak_bytes <= 1000000").has_value());
  CostEvaluator by_memory(model, limited);
  RepeatedParts parts(rules, by_memory);
  const Graph graph = gate("seed 1", "seed 2", "0.5");
  parts.store(graph, {}, search(graph));
  EXPECT_FALSE(parts.find(graph, {}, cost()).has_value());
}

TEST_F(RepeatedPartsTest, ASearchThatTimeEndedIsNotStored) {
  const Graph graph = gate("seed 1", "seed 2", "0.5");
  FoundCandidate searched = search(graph);
  searched.report.stop_reason = "time budget";
  repeated.store(graph, {}, searched);
  EXPECT_FALSE(repeated.find(graph, {}, cost()).has_value());
}

/// The next best graphs of an equal part are derived, too.
TEST_F(RepeatedPartsTest, TheNextBestGraphsRepeat) {
  const Graph first = gate("seed 1", "seed 2", "0.5"), second = gate("seed 3", "seed 4", "0.5");
  const auto search_with_others = [&](const Graph& graph) {
    return backtrack(graph, rules, cost(), {.alpha = 2, .limits = {.evaluator = &evaluator, .others = 3}}).value();
  };
  const FoundCandidate searched = search_with_others(first), wanted = search_with_others(second);
  ASSERT_FALSE(wanted.others.empty());
  repeated.store(first, {}, searched);
  const auto derived = repeated.find(second, {}, cost());
  ASSERT_TRUE(derived.has_value());
  EXPECT_EQ(derived->hash(), wanted.hash());
  ASSERT_EQ(derived->others.size(), wanted.others.size());
  for (size_t i = 0; i < wanted.others.size(); ++i) {
    EXPECT_EQ(derived->others[i].hash(), wanted.others[i].hash());
    EXPECT_EQ(derived->others[i].report.steps.size(), wanted.others[i].report.steps.size());
  }
}

/// Of equal blocks one is searched, whatever their number, and the result is as if all were.
TEST_F(RepeatedPartsTest, EqualBlocksAreSearchedOnce) {
  const auto chain = [](int blocks) {
    std::string text = "input x0: f32[4,8]\n";
    for (int i = 0; i < blocks; ++i)
      text += fmt::format(
          "a{0} = f32[8,8]{{seed {1}}}\nb{0} = f32[8,8]{{seed {2}}}\np{0} = MatMul(x{0}, a{0})\n"
          "q{0} = MatMul(x{0}, b{0})\ns{0} = Add(p{0}, q{0})\nx{3} = Tanh(s{0})\n",
          i, 2 * i + 1, 2 * i + 2, i + 1);
    return parsed(text + fmt::format("return x{}\n", blocks));
  };
  const PartsOptions options = {.search = part_search("backtrack").make({.alpha = 1.1}), .split = 4};
  const auto found = [&](int blocks) { return search_by_parts(chain(blocks), rules, evaluator, options).value(); };
  const SearchResult eight = found(8);
  const SearchResult many = found(32);
  EXPECT_GT(eight.report.candidates, 0);
  EXPECT_EQ(many.report.candidates, eight.report.candidates);
  const auto saved = [&](int blocks, const SearchResult& result) {
    return model.metrics(chain(blocks))->latency_us - model.metrics(result)->latency_us;
  };
  EXPECT_GT(saved(8, eight), 0);
  EXPECT_NEAR(saved(32, many), 4 * saved(8, eight), 1e-6);
  expect_same_meaning(chain(32), many.graph);
}

}  // namespace
}  // namespace isomer
