#include "isomer/search/saturate_search.h"

#include <gmock/gmock.h>

#include "isomer/eval/random_graph_testing.h"
#include "isomer/search/brute_force_testing.h"
#include "isomer/search/cost_evaluator.h"
#include "isomer/search/exhaustive.h"
#include "isomer/search/part_searches.h"
#include "isomer/search/sequences.h"
#include "isomer/search/sequences_testing.h"

namespace isomer {
namespace {

/// No limits but those of the e-graph.
SaturateOptions exactly(size_t nodes = 3000) {
  return {.nodes = nodes, .limits = {.budget = {.candidates = 10'000}, .max_growth = 1000}};
}

SaturateOptions greedily() {
  SaturateOptions options = exactly();
  options.exact = false;
  return options;
}

FoundCandidate saturated(const Graph& graph, std::span<const Rule> rules, const SaturateOptions& options = exactly(),
                         const CandidateCost& cost = unfused_us) {
  auto found = saturate_search(graph, rules, cost, options);
  if (!found) throw std::runtime_error(found.error().message);
  return std::move(*found);
}

/// Expects that the steps of a result lead from the first graph to it, and that it computes the same.
void expect_derived(const Graph& first, const FoundCandidate& found) {
  uint64_t at = first.hash();
  double change = 0;
  for (const SearchStep& step : found.report.steps) {
    ASSERT_EQ(step.moves.size(), 1U);
    EXPECT_EQ(step.moves[0].before, at);
    at = step.moves[0].after;
    change += step.delta;
  }
  EXPECT_EQ(at, found.graph.hash());
  EXPECT_NEAR(found.cost_before + change, found.cost_after, 1e-6);
  EXPECT_LE(found.cost_after, found.cost_before);
}

TEST(Saturate, CrossesARiseInCost) {
  const Graph graph = parsed(kGate);
  const FoundCandidate found = saturated(graph, rules_of(kSruRules));
  EXPECT_EQ(found.report.stop_reason, "exhausted");
  ASSERT_EQ(found.report.steps.size(), 3U);
  EXPECT_EQ(found.report.steps.back().rule, "factor");
  EXPECT_GT(found.report.steps.front().delta, 0);
  expect_derived(graph, found);
  expect_same_meaning(graph, found.graph);
}

TEST(Saturate, FindsTheOptimumOfBruteForce) {
  const Graph graph = parsed(kBranches);
  const auto rules = branch_rules();
  const FoundCandidate found = saturated(graph, rules);
  EXPECT_LE(found.cost_after, min_cost(graph, rules, unfused_us, 2000) + 1e-6);
  expect_derived(graph, found);
  expect_same_meaning(graph, found.graph);
}

/// The small steps with one root: saturation completes with them.
std::vector<Rule> single_root_steps() {
  std::vector<Rule> rules = rules_of(kSmallSteps);
  std::erase_if(rules, [](const Rule& rule) { return !MatchPlan(rule).single_root(); });
  return rules;
}

constexpr const char* kMergeProducts =
    "rule all (MatMul ?x @w)... => (Split axis=1 split=dims(@w, 1) (MatMul ?x (Concat axis=1 @w)))\n"
    "where len(@w) >= 2 and weight(@w) and rank(@w) == 2 and alike(@w, 1) and rank(?x) == 2\n";

/// Numbers of graphs.
struct Agreement {
  int compared = 0;  // graphs of which enumeration visited all sequences
  int complete = 0;  // of these: saturation completed
  int improved = 0;
  int merged = 0;   // with a step that replaced several operators at once
  int optimal = 0;  // as cheap as the result of enumeration
};

/// Compares with all sequences of substitutions on random graphs. The cost must be the sum of the costs of operators.
Agreement compare_with_enumeration(const std::function<Graph(uint64_t)>& random_graph, std::span<const Rule> rules,
                                   const CandidateCost& cost) {
  constexpr uint64_t kSeeds = 400;
  Agreement out;
  for (uint64_t seed = 1; seed <= kSeeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed);
    const auto all =
        enumerate_sequences(graph, rules, cost, {.limits = {.budget = {.candidates = 1000}, .max_growth = 1000}});
    if (all->report.stop_reason != "exhausted") continue;
    const FoundCandidate found = saturated(graph, rules, exactly(), cost);
    expect_derived(graph, found);
    ++out.compared;
    out.complete += found.report.stop_reason == "exhausted" ? 1 : 0;
    out.improved += found.cost_after < found.cost_before - 1e-6 ? 1 : 0;
    out.merged +=
        std::ranges::any_of(found.report.steps, [](const auto& step) { return step.nodes.size() > 1; }) ? 1 : 0;
    out.optimal += found.cost_after < all->cost_after + 1e-6 ? 1 : 0;
    EXPECT_GE(found.cost_after, all->cost_after - 1e-6) << print_graph(graph);
    if (found.report.stop_reason != "exhausted") continue;
    EXPECT_NEAR(found.cost_after, all->cost_after, 1e-6) << print_graph(graph);
  }
  return out;
}

TEST(Saturate, AgreesWithEnumerationWhereItCompletes) {
  const auto random_graph = [](uint64_t seed) {
    return RandomMatrixGraph(seed, 5 + static_cast<int>(seed % 8)).build();
  };
  const Agreement agreement = compare_with_enumeration(random_graph, single_root_steps(), unfused_us);
  EXPECT_GT(agreement.complete, 300);
  EXPECT_GT(agreement.improved, 50);
}

/// Products and other operators over few 2 x 2 matrices, so that many products share an input.
Graph random_products(uint64_t seed) {
  Rng rng(seed);
  GraphBuilder builder;
  const TensorType type{DType::Double, {2, 2}};
  std::vector<ValueId> values{builder.input(type), builder.input(type)};
  const auto pick = [&] { return values[rng.below(values.size())]; };
  for (uint64_t i = 4 + rng.below(4); i > 0; --i) {
    const ValueId left = pick();
    const ValueId right = pick();
    switch (rng.below(4)) {
      case 0:
        values.push_back(*builder.add(*find_op("Relu"), {}, {left}));
        break;
      case 1:
        values.push_back(*builder.add(*find_op("Add"), {}, {left, right}));
        break;
      default:
        values.push_back(*builder.add(*find_op("MatMul"), {}, {left, right}));
    }
  }
  const std::vector<ValueId> outputs(values.begin() + 2, values.end());
  return builder.finish(outputs);
}

TEST(Saturate, AgreesWithEnumerationForRulesWithSeveralRoots) {
  // A product costs more than the concatenation and the split of merged products.
  const CandidateCost cost = [](const Candidate& candidate) -> Result<double> {
    double sum = 0;
    for (const Node& node : candidate.graph.nodes())
      if (candidate.graph.runs(node)) sum += node.op->has(Trait::Product) ? 10 : 1;
    return sum;
  };
  const auto rules = rules_of(
      "rule merge (MatMul ?x @w)... => (Split axis=1 split=dims(@w, 1) (MatMul ?x (Concat axis=1 @w)))\n"
      "where len(@w) >= 2 and rank(@w) == 2 and alike(@w, 1) and rank(?x) == 2\n"
      "rule factor (Add (MatMul ?x ?a) (MatMul ?x ?b)) => (MatMul ?x (Add ?a ?b)) where shape(?a) == shape(?b)\n"
      "rule twice (Add ?x ?x) => (Mul ?x 2.0)\n");
  const Agreement agreement = compare_with_enumeration(random_products, rules, cost);
  EXPECT_GT(agreement.compared, 300);
  EXPECT_GT(agreement.complete, 50);
  EXPECT_GT(agreement.merged, 50);
  EXPECT_GT(agreement.optimal, 350);
}

TEST(Saturate, ResultsComputeTheSame) {
  const auto rules = rules_of(kSmallSteps);
  for (uint64_t seed = 200; seed < 230; ++seed) {
    const Graph graph = RandomMatrixGraph(seed, 10).build();
    for (const SaturateOptions& options : {exactly(400), greedily()}) {
      const FoundCandidate found = saturated(graph, rules, options);
      SCOPED_TRACE(seed);
      expect_derived(graph, found);
      expect_same_meaning(graph, found.graph);
    }
  }
}

TEST(Saturate, ExactIsNeverAboveGreedyExtraction) {
  const auto rules = single_root_steps();
  for (uint64_t seed = 300; seed < 330; ++seed) {
    const Graph graph = RandomMatrixGraph(seed, 7).build();
    const FoundCandidate exact = saturated(graph, rules);
    const FoundCandidate greedy = saturated(graph, rules, greedily());
    if (exact.report.stop_reason != "exhausted") continue;
    EXPECT_LE(exact.cost_after, greedy.cost_after + 1e-6) << seed;
  }
}

/// Two reductions that may each be computed from one shared product.
constexpr std::string_view kSharing = R"(
  input x: f64[64,64]
  a = Neg(x)
  b = Tanh(x)
  u = Neg(a)
  v = Tanh(b)
  return u, v)";

TEST(Saturate, PaysForWhatIsSharedOnce) {
  // Each output by itself is as cheap without the shared relu: greedy extraction sees no gain.
  const auto rules = rules_of(
      "rule one (Neg (Neg ?x)) => (Sigmoid (Relu ?x))\n"
      "rule two (Tanh (Tanh ?x)) => (Floor (Relu ?x))\n");
  const Graph graph = parsed(kSharing);
  const FoundCandidate exact = saturated(graph, rules);
  EXPECT_EQ(exact.report.steps.size(), 2U);
  EXPECT_LT(exact.cost_after, exact.cost_before);
  EXPECT_GT(saturated(graph, rules, greedily()).cost_after, exact.cost_after);
}

TEST(Saturate, CyclesInTheEGraphDoNoHarm) {
  const auto rules = rules_of(
      "rule wrap (Relu ?x) => (Relu (Relu ?x))\nrule unwrap (Relu (Relu ?x)) => (Relu ?x)\n"
      "rule turn (Transpose perm=[1, 0] (Transpose perm=[1, 0] ?x)) => ?x\n");
  const Graph graph = parsed(R"(
    input x: f64[8,8]
    a = Relu(x)
    b = Relu(a)
    c = Transpose(b) {perm=[1,0]}
    d = Transpose(c) {perm=[1,0]}
    return d)");
  const FoundCandidate found = saturated(graph, rules);
  EXPECT_EQ(found.report.stop_reason, "exhausted");
  EXPECT_EQ(run_time_ops(found.graph), 1U);
  expect_derived(graph, found);
}

TEST(Saturate, MergesProductsThatShareAnInput) {
  const Graph graph = parsed(R"(
    input x: f32[2,3]
    a = f32[3,4]{seed 1}
    b = f32[3,5]{seed 2}
    u = MatMul(x, a)
    v = MatMul(x, b)
    s = Relu(u)
    t = Relu(v)
    return s, t)");
  const std::string conditions = "rank(?x) == 2 and rank(?a) == 2 and rank(?b) == 2 and dim(?a, 0) == dim(?b, 0)\n";
  const std::string two =
      "rule two (MatMul ?x ?a), (MatMul ?x ?b)\n"
      "=> (Split axis=1 split=[dim(?a, 1), dim(?b, 1)] (MatMul ?x (Concat axis=1 ?a ?b))) where ?a != ?b and " +
      conditions;
  for (const std::string& rule : {two, std::string(kMergeProducts)}) {
    // A product costs as much as the split that it needs; the objective is the number of products.
    const CandidateCost products = [](const Candidate& candidate) -> Result<double> {
      double count = 0;
      for (const Node& node : candidate.graph.nodes()) count += node.op->has(Trait::Product) ? 10 : 1;
      return count;
    };
    const FoundCandidate found = saturated(graph, rules_of(rule), exactly(), products);
    ASSERT_EQ(found.report.steps.size(), 1U) << rule;
    EXPECT_EQ(found.report.steps[0].nodes.size(), 2U);
    expect_derived(graph, found);
    expect_same_meaning(graph, found.graph);
  }
}

TEST(Saturate, ReturnsNothingThatStepsDoNotLeadTo) {
  // One rule matches only a form of the shared value that nothing leads to from the form that the other rule needs.
  const auto rules = rules_of(
      "rule to-floor (Neg ?x) => (Floor ?x)\nrule to-ceil (Neg ?x) => (Ceil ?x)\n"
      "rule floor (Tanh (Floor ?x)) => (Relu ?x)\nrule ceil (Sigmoid (Ceil ?x)) => (Abs ?x)\n");
  const Graph graph = parsed(R"(
    input x: f64[64,64]
    a = Neg(x)
    b = Tanh(a)
    c = Sigmoid(a)
    return b, c)");
  const FoundCandidate found = saturated(graph, rules);
  EXPECT_EQ(found.report.stop_reason, "no derivation");
  ASSERT_EQ(found.report.notes.size(), 1U);
  EXPECT_THAT(found.report.notes[0], testing::StartsWith("No steps from the model lead to 1 of"));
  EXPECT_TRUE(found.report.steps.empty());
  EXPECT_EQ(found.graph.hash(), graph.hash());
}

TEST(Saturate, ReachesOutputsInTheOrderThatWorks) {
  // The second rule replaces the value that the third one matches.
  const auto rules = rules_of(
      "rule to-floor (Neg ?x) => (Floor ?x)\nrule floor (Sigmoid (Floor ?x)) => (Abs ?x)\n"
      "rule neg (Tanh (Neg ?x)) => (Relu ?x)\n");
  const std::string text = "input x: f64[64,64]\na = Neg(x)\nb = Tanh(a)\nc = Sigmoid(a)\nreturn ";
  for (const char* outputs : {"b, c", "c, b"}) {
    const Graph graph = parsed(text + outputs);
    const FoundCandidate found = saturated(graph, rules);
    EXPECT_EQ(found.report.stop_reason, "exhausted") << outputs;
    EXPECT_EQ(run_time_ops(found.graph), 2U) << outputs;
    EXPECT_EQ(found.report.steps.size(), 3U) << outputs;
    expect_derived(graph, found);
  }
}

TEST(Saturate, LimitsAreStopReasons) {
  const Graph graph = parsed(kBranches);
  const auto rules = branch_rules();
  EXPECT_EQ(saturated(graph, rules, {.nodes = 5}).report.stop_reason, "node limit");
  EXPECT_EQ(saturated(graph, rules, {.iterations = 1}).report.stop_reason, "iteration limit");
  EXPECT_EQ(saturated(graph, rules, {.limits = {.budget = {.bytes = 1000}}}).report.stop_reason, "memory");
  const FoundCandidate late = saturated(graph, rules, {.limits = {.budget = {.end = Deadline::after(0)}}});
  EXPECT_EQ(late.report.stop_reason, "time budget");
  EXPECT_EQ(late.graph.hash(), graph.hash());
  const FoundCandidate few = saturated(graph, rules, {.limits = {.budget = {.candidates = 1}}});
  EXPECT_EQ(few.report.stop_reason, "candidate budget");
  EXPECT_EQ(few.report.candidates, 1);
}

TEST(Saturate, AnExtractionThatIsCutOffTellsItsGap) {
  SaturateOptions options = exactly();
  options.extract_seconds = 0;
  for (const Deadline& end : {Deadline::never(), Deadline::never().undivided()}) {
    options.limits.budget.end = end;
    const FoundCandidate found = saturated(parsed(kSharing), rules_of("rule r (Neg (Neg ?x)) => ?x"), options);
    EXPECT_EQ(found.report.stop_reason, "extraction limit");
    ASSERT_EQ(found.report.notes.size(), 1U);
    EXPECT_THAT(found.report.notes[0], testing::HasSubstr("cut off"));
    EXPECT_EQ(found.report.steps.size(), 1U) << "the greedy extraction is used";
  }
}

TEST(Saturate, KeepsOnlyWhatIsAdmitted) {
  AdmitsNothing evaluator;
  const Graph graph = parsed(kGate);
  const FoundCandidate found = saturated(graph, rules_of(kSruRules), {.limits = {.evaluator = &evaluator}});
  EXPECT_EQ(found.graph.hash(), graph.hash());
  EXPECT_TRUE(found.report.steps.empty());
}

TEST(Saturate, OpaqueNodesStay) {
  GraphBuilder builder;
  const TensorType type{DType::Double, {4, 4}};
  const ValueId x = builder.input(type);
  const ValueId negated = *builder.add(*find_op("Neg"), {}, {x});
  const ValueId again = *builder.add(*find_op("Neg"), {}, {negated});
  const ValueId unknown =
      builder.at(builder.opaque({{"@op_type", std::string("Unknown")}}, {&again, 1}, {type})).result();
  const ValueId relu = *builder.add(*find_op("Relu"), {}, {unknown});
  const Graph graph = builder.finish({&relu, 1});
  const FoundCandidate found = saturated(graph, rules_of("rule r (Neg (Neg ?x)) => ?x"));
  EXPECT_EQ(run_time_ops(found.graph), 2U);
  expect_derived(graph, found);
}

TEST(Saturate, SameInputSameResult) {
  const Graph graph = parsed(kBranches);
  const auto rules = branch_rules();
  const FoundCandidate first = saturated(graph, rules);
  const FoundCandidate again = saturated(graph, rules);
  EXPECT_EQ(first.graph.hash(), again.graph.hash());
  EXPECT_EQ(first.report.candidates, again.report.candidates);
  EXPECT_EQ(first.report.matches, again.report.matches);
}

TEST(Saturate, SearchesParts) {
  const Graph graph = parsed(kBranches);
  const auto rules = branch_rules();
  RooflineCost costs;
  const Objective latency;
  CostEvaluator evaluator(costs, latency);
  for (const char* extract : {"greedy", "exact"}) {
    const auto found = search_by_parts(
        graph, rules, evaluator,
        {.algorithm = "saturate", .search = part_search("saturate").make({.extract = extract}), .split = 4});
    ASSERT_TRUE(found.has_value());
    EXPECT_LE(costs.metrics(found->graph)->latency_us, costs.metrics(graph)->latency_us) << extract;
    expect_same_meaning(graph, found->graph);
  }
}

}  // namespace
}  // namespace isomer
