#include "isomer/search/restarts.h"

#include "isomer/search/testing.h"

namespace isomer {
namespace {

/// Five gates tanh(x v + s w).
Graph gates() {
  std::string text = "input x: f32[1,8]\ninput s: f32[1,8]\n";
  std::string results;
  for (int i = 0; i < 5; ++i) {
    text += fmt::format(
        "v{0} = f32[8,8]{{seed {1}}}\nw{0} = f32[8,8]{{seed {2}}}\na{0} = MatMul(x, v{0})\nb{0} = MatMul(s, w{0})\n"
        "c{0} = Add(a{0}, b{0})\nt{0} = Tanh(c{0})\n",
        i, 2 * i + 1, 2 * i + 2);
    results += (i > 0 ? ", t" : "t") + std::to_string(i);
  }
  return parsed(text + "return " + results + "\n");
}

const char* const kRules =
    "rule merge\n(MatMul ?x @w)... => (Split axis=(rank(?x) - 1) split=dims(@w, 1) (MatMul ?x (Concat axis=1 @w)))\n"
    "where len(@w) >= 2 and weight(@w) and rank(@w) == 2 and alike(@w, 1) and rank(?x) >= 2\n"
    "rule join\n(Add (MatMul ?x ?v) (MatMul ?y ?w)) => (MatMul (Concat axis=1 ?x ?y) (Concat axis=0 ?v ?w))\n"
    "where real(?x) and weight(?v) and weight(?w) and rank(?x) == 2 and rank(?y) == 2 and rank(?v) == 2\n"
    "and rank(?w) == 2\n";

/// Merging five products gains more at first than joining two, but leaves nothing to join.
TEST(Restarts, FindWhatARuleStandsInTheWayOf) {
  const Graph graph = gates();
  const auto rules = rules_of(kRules);
  const auto once = backtrack(graph, rules, unfused_us, {});
  const auto again = backtrack_with_restarts(graph, rules, unfused_us, {});
  ASSERT_TRUE(once && again);
  EXPECT_LT(again->cost_after, once->cost_after);
  EXPECT_EQ(again->report.steps.front().rule, "join");
  EXPECT_GT(again->report.candidates, once->report.candidates);
  double change = 0;
  for (const SearchStep& step : again->report.steps) change += step.delta;
  EXPECT_NEAR(again->cost_before + change, again->cost_after, 1e-9);
  expect_same_meaning(graph, again->graph);
}

TEST(Restarts, ShareOneBudget) {
  const Graph graph = gates();
  const auto rules = rules_of(kRules);
  for (const int64_t budget : {1, 2, 9, 30}) {
    const auto found =
        backtrack_with_restarts(graph, rules, unfused_us, {.limits = {.budget = {.candidates = budget}}});
    ASSERT_TRUE(found.has_value());
    EXPECT_LE(found->report.candidates, budget);
    EXPECT_LE(found->cost_after, found->cost_before);
  }
}

}  // namespace
}  // namespace isomer
