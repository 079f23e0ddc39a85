// Candidates that are costed without being built, and what searches remember: the slow ways are the oracles.

#include "isomer/search/expansion.h"

#include <set>

#include "isomer/base/rng.h"
#include "isomer/cost/roofline.h"
#include "isomer/models/models.h"
#include "isomer/rules/builtin.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/backtrack.h"
#include "isomer/search/cost_evaluator.h"
#include "isomer/search/matches.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules = builtin_rules().value();
  return kRules;
}

/// Two cells, in which matches overlap and rewrites share nodes, close cycles and leave nodes that nothing reads.
Graph cells() {
  return parsed(
      "input x: f32[2,8]\ninput h: f32[2,8]\na = f32[8,8]{seed 1}\nb = f32[8,8]{seed 2}\nc = f32[8,8]{seed 3}\n"
      "p = MatMul(x, a)\nq = MatMul(x, b)\nr = MatMul(h, c)\ns = Add(p, r)\nt = Add(q, r)\nu = Relu(s)\n"
      "v = MatMul(u, a)\nw = MatMul(u, b)\nz = Add(v, w)\ny = Mul(z, t)\ng = Transpose(y) {perm=[1,0]}\n"
      "k = Transpose(g) {perm=[1,0]}\nreturn k, u\n");
}

/// Expects that the nodes are those of the graph that run, in the same order.
void expect_same_nodes(const RunNodes& nodes, const Graph& graph) {
  std::vector<NodeId> run;
  for (NodeId id = 0; id < graph.nodes().size(); ++id)
    if (graph.runs(graph.node(id))) run.push_back(id);
  ASSERT_EQ(nodes.nodes.size(), run.size());
  const auto hash = [&](ValueId value) { return value == kNoValue ? 0 : graph.value_hash(value); };
  for (size_t i = 0; i < run.size(); ++i) {
    const Node& node = graph.node(run[i]);
    const RunNodes::Run& one = nodes.nodes[i];
    ASSERT_EQ(one.node->op, node.op);
    ASSERT_TRUE(one.node->attrs == node.attrs);
    const auto operands = graph.operands(node);
    const auto have = nodes.operands_of(one);
    ASSERT_EQ(have.size(), operands.size());
    for (size_t k = 0; k < operands.size(); ++k)
      EXPECT_EQ(have[k] == kNoValue ? 0 : nodes.values[have[k]].hash, hash(operands[k]));
    for (uint32_t r = 0; r < node.num_results; ++r) {
      const RunNodes::Value& value = nodes.values[one.first_result + r];
      EXPECT_EQ(value.hash, hash(node.result(r)));
      EXPECT_EQ(value.producer, i);
      EXPECT_EQ(value.readers, graph.consumers(node.result(r)).size());
      EXPECT_EQ(value.output, graph.is_output(node.result(r)));
      EXPECT_EQ(value.weight, false);
      EXPECT_TRUE(*value.type == graph.type(node.result(r)));
    }
  }
}

/// Expects that targets of equal matches, wherever they are, are those that are instantiated anew.
void expect_same_targets(const Graph& graph, std::span<const Match> matches, TargetCache& targets) {
  for (const Match& match : matches) {
    const auto cached = targets.of(graph, match);
    const MatchTarget fresh(graph, match);
    ASSERT_EQ(cached->graph().has_value(), fresh.graph().has_value()) << match.rule->name;
    if (!fresh.graph()) continue;
    EXPECT_EQ(cached->graph()->hash(), fresh.graph()->hash()) << match.rule->name;
    EXPECT_EQ(cached->bound(match), fresh.bound(match)) << match.rule->name;
  }
}

struct Compared {
  int valid = 0;
  int shared = 0;  ///< matches whose target an earlier match had
  TargetCache targets = {};
};

/// Compares previews with the graphs that are built, along random walks.
void compare_previews(Graph graph, uint64_t seed, Compared& compared) {
  Rng rng(seed);
  RooflineCost costs;
  for (int step = 0; step < 6; ++step) {
    const std::vector<Match> matches = all_matches(graph, rules());
    if (matches.empty()) return;
    expect_same_targets(graph, matches, compared.targets);
    std::set<const MatchTarget*> different;
    for (const Match& match : matches)
      compared.shared += different.insert(compared.targets.of(graph, match).get()).second ? 0 : 1;
    RewritePreview preview(graph);
    const auto rewrites = costs.rewrites_of(graph);
    ASSERT_NE(rewrites, nullptr);
    std::optional<Graph> next;
    for (const Match& match : matches) {
      const auto built = apply_match(graph, match);
      const auto delta = delta_of(graph, match);
      const RunNodes* nodes = delta ? preview.after(match, *delta) : nullptr;
      ASSERT_EQ(nodes != nullptr, built.has_value()) << match.rule->name;
      if (!built) continue;
      ++compared.valid;
      expect_same_nodes(*nodes, *built);
      const auto quick = rewrites->metrics(*nodes);
      const auto slow = costs.metrics(*built);
      ASSERT_TRUE(quick && slow);
      EXPECT_EQ(quick->latency_us, slow->latency_us) << match.rule->name;
      EXPECT_EQ(quick->flops, slow->flops) << match.rule->name;
      EXPECT_EQ(quick->bytes, slow->bytes) << match.rule->name;
      EXPECT_EQ(quick->kernels, slow->kernels) << match.rule->name;
      if (!next || rng.below(4) == 0) next = *built;
    }
    if (!next) return;
    graph = std::move(*next);
  }
}

TEST(Preview, EqualsTheGraphThatIsBuiltAndCachedTargetsThoseMadeAnew) {
  Compared compared;
  for (uint64_t seed = 0; seed < 20; ++seed) compare_previews(cells(), seed, compared);
  for (const char* network : {"inception-e-1", "resnet-blocks-2", "sru-m10"})
    compare_previews(build_model(network).value(), 7, compared);
  EXPECT_GT(compared.valid, 500);
  EXPECT_GT(compared.shared, 0);
}

TEST(Preview, FailsWhereTheRewriteClosesACycle) {
  const Graph graph = parsed(
      "input x: f32[8,8]\na = f32[8,8]{seed 1}\nb = f32[8,8]{seed 2}\np = MatMul(x, a)\nr = Relu(p)\n"
      "q = MatMul(r, b)\nreturn q\n");
  const auto pair =
      rules_of("rule both\n(MatMul ?x ?a), (MatMul ?y ?b) => (MatMul (Add ?x ?y) ?a), (MatMul (Add ?x ?y) ?b)\n");
  Match match{.rule = &pair[0], .binding = {}, .roots = {}};
  std::vector<NodeId> products;
  for (NodeId id = 0; id < graph.nodes().size(); ++id)
    if (graph.node(id).op->name == "MatMul") products.push_back(id);
  ASSERT_EQ(products.size(), 2);
  match.binding.values = {{"x", graph.operands(graph.node(products[0]))[0]},
                          {"a", graph.operands(graph.node(products[0]))[1]},
                          {"y", graph.operands(graph.node(products[1]))[0]},
                          {"b", graph.operands(graph.node(products[1]))[1]}};
  match.roots = {graph.node(products[0]).result(), graph.node(products[1]).result()};
  EXPECT_FALSE(apply_match(graph, match).has_value());
  EXPECT_EQ(RewritePreview(graph).after(match, *delta_of(graph, match)), nullptr);
}

TEST(Preview, KeepsTheResultsThatAMatchDoesNotReplace) {
  // The split has another operand after the rewrite, and one of its results is replaced.
  const Graph graph = parsed(
      "input x: f32[4,8]\ninput z: f32[4,4]\nr = Relu(x)\np, q = Split(r) {axis=1, split=[4,4]}\ns = Neg(p)\n"
      "t = Add(s, q)\nreturn t\n");
  const auto rule = rules_of("rule two\n(Relu ?x), (Neg ?z) => (Relu (Relu ?x)), (Neg (Neg ?z))\n");
  const ValueId x = graph.inputs()[0], z = graph.inputs()[1];
  const ValueId r = graph.node(graph.consumers(x)[0]).result();
  const Node& split = graph.node(graph.consumers(r)[0]);
  Match match{.rule = &rule[0], .binding = {}, .roots = {r, split.result(0)}};
  match.binding.values = {{"x", x}, {"z", z}};
  const auto built = apply_match(graph, match);
  const auto delta = delta_of(graph, match);
  ASSERT_TRUE(built && delta);
  EXPECT_EQ(delta->hash, built->hash());
  RewritePreview preview(graph);
  const RunNodes* nodes = preview.after(match, *delta);
  ASSERT_NE(nodes, nullptr);
  expect_same_nodes(*nodes, *built);
}

TEST(Preview, NeedsExtents) {
  const Graph graph = parsed("input x: f32[N,8]\ny = Relu(x)\nreturn y\n");
  EXPECT_EQ(RooflineCost().rewrites_of(graph), nullptr);
}

TEST(Preview, FailsWhereAWeightIsRefused) {
  const Graph graph = cells();
  int refused = 0;
  for (const Match& match : all_matches(graph, rules())) {
    const auto built = apply_match(graph, match);
    if (!built) continue;
    RefusedWeights weights;
    for (ValueId value = 0; value < built->num_values(); ++value)
      if (built->is_constant_derived(value) && built->constant(value) == nullptr)
        weights[built->value_hash(value)] = "no";
    RewritePreview preview(graph);
    const RunNodes* nodes = preview.after(match, *delta_of(graph, match), &weights);
    EXPECT_EQ(nodes != nullptr, apply_match(graph, match, &weights).has_value());
    refused += weights.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 0);
}

void expect_same_search(const Result<FoundCandidate>& a, const Result<FoundCandidate>& b) {
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->graph.hash(), b->graph.hash());
  EXPECT_EQ(a->cost_after, b->cost_after);
  EXPECT_EQ(a->report.candidates, b->report.candidates);
  EXPECT_EQ(a->report.duplicates, b->report.duplicates);
  EXPECT_EQ(a->report.matches, b->report.matches);
  EXPECT_EQ(a->report.stop_reason, b->report.stop_reason);
  EXPECT_EQ(a->report.steps.size(), b->report.steps.size());
}

class SearchedTwice : public testing::Test {
 protected:
  Result<FoundCandidate> search(const Graph& graph, std::span<const Rule> some, bool build) {
    BacktrackOptions options{.limits = {.budget = {.candidates = 150}, .evaluator = &evaluator}};
    if (!build) options.limits.costs = &costs;
    return backtrack(graph, some, cost, options);
  }

  RooflineCost costs;
  Objective latency;
  CostEvaluator evaluator{costs, latency};
  CandidateCost cost = [this](const Candidate& candidate) -> Result<double> {
    ISOMER_TRY(const Metrics metrics, costs.metrics(candidate));
    return metrics.latency_us;
  };
};

TEST_F(SearchedTwice, BuildingWhatIsCostedChangesNothing) {
  for (const char* network : {"inception-e-1", "sru-m10"}) {
    const Graph graph = build_model(network).value();
    expect_same_search(search(graph, rules(), true), search(graph, rules(), false));
  }
  expect_same_search(search(cells(), rules(), true), search(cells(), rules(), false));
}

/// Costs that are asked for candidates before these are costed, as those that are measured in turn.
class AsksAhead : public RooflineCost {
 public:
  Result<Metrics> metrics(const Candidate& candidate, const Boundary& boundary) override {
    costed.push_back(candidate.hash());
    constexpr int kAhead = 3;
    for (int i = 0; i < kAhead && next_ != nullptr; ++i)
      if (const Candidate* next = next_()) expected.insert(next->hash());
    return RooflineCost::metrics(candidate, boundary);
  }
  void expect(NextCandidates next) override { next_ = std::move(next); }
  std::unique_ptr<RewriteCosts> rewrites_of(const Graph&) override { return nullptr; }

  std::vector<uint64_t> costed;
  std::set<uint64_t> expected;

 private:
  NextCandidates next_;
};

TEST_F(SearchedTwice, WhatIsExpectedIsCosted) {
  for (const Graph& graph : {cells(), build_model("inception-e-1").value(), build_model("sru-m10").value()}) {
    AsksAhead asks;
    CostEvaluator asking(asks, latency);
    const CandidateCost cost_of = [&](const Candidate& candidate) -> Result<double> {
      ISOMER_TRY(const Metrics metrics, asks.metrics(candidate, {}));
      return metrics.latency_us;
    };
    const BacktrackOptions options{.limits = {.budget = {.candidates = 150}, .evaluator = &asking}};
    expect_same_search(backtrack(graph, rules(), cost_of, options), search(graph, rules(), true));
    EXPECT_GT(asks.expected.size(), asks.costed.size() / 2);
    // The last ones come after the limit.
    size_t missing = 0;
    for (const uint64_t hash : asks.expected) missing += std::ranges::count(asks.costed, hash) == 0 ? 1 : 0;
    EXPECT_LE(missing, 3U);
    EXPECT_EQ(std::set<uint64_t>(asks.costed.begin(), asks.costed.end()).size(), asks.costed.size());
    asks.expected.clear();
    EXPECT_TRUE(asks.metrics(graph, {}).has_value());
    EXPECT_TRUE(asks.expected.empty()) << "after the search";
  }
}

/// A search that continues with what an earlier one learned equals one that has never heard of the rule.
TEST_F(SearchedTwice, WhatIsRememberedChangesNothing) {
  const Graph graph = build_model("inception-e-1").value();
  const BacktrackOptions options{.limits = {.budget = {.candidates = 150}, .evaluator = &evaluator, .costs = &costs}};
  const Candidate first = graph;
  Backtracking remembering(first, rules(), cost, options, true);
  const auto all = remembering.run({}, 150);
  expect_same_search(all, search(graph, rules(), true));
  ASSERT_FALSE(all->report.steps.empty());
  for (const SearchStep& step : all->report.steps) {
    std::vector<Rule> fewer;
    std::ranges::copy_if(rules(), std::back_inserter(fewer), [&](const Rule& rule) { return rule.name != step.rule; });
    expect_same_search(remembering.run({step.rule}, 150), search(graph, fewer, true));
  }
}

TEST(RuleIndex, LeavesOutOnlyRulesWithoutAMatch) {
  for (const Graph& graph : {cells(), build_model("inception-e-1").value(), build_model("sru-m10").value()}) {
    const OpIndex index(graph);
    const OpSet ops = ops_of(graph);
    const RuleIndex indexed(rules());
    int left_out = 0;
    for (const RuleIndex::Entry& entry : indexed.entries()) {
      if (ops.may_contain(entry.ops)) continue;
      ++left_out;
      EXPECT_TRUE(find_matches(graph, index, entry.plan).empty()) << entry.plan.rule().name;
    }
    EXPECT_GT(left_out, 0);
  }
}

}  // namespace
}  // namespace isomer
