#include "isomer/search/greedy.h"

#include "isomer/cost/roofline.h"
#include "isomer/eval/fold_testing.h"
#include "isomer/rules/builtin.h"
#include "isomer/search/exhaustive.h"
#include "isomer/search/simplify.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

constexpr std::string_view kSteps = R"(
  input a: f32[1,8]
  input b: f32[1,8]
  w = f32[8,8]{seed 1}
  u = f32[8,8]{seed 2}
  aw = MatMul(a, w)
  t = Tanh(aw)
  tu = MatMul(t, u)
  bw = MatMul(b, w)
  s = Add(tu, bw)
  y = Tanh(s)
  yu = MatMul(y, u)
  z = Tanh(yu)
  return z)";

TEST(ExhaustiveRewrite, LeavesOutStepsThatReadEachOther) {
  const Graph graph = parsed(kSteps);
  const auto rules = rules_of(
      "rule batch (MatMul @x ?w)... => (Split axis=0 split=dims(@x, 0) (MatMul (Concat axis=0 @x) ?w)) "
      "where len(@x) >= 2 and weight(?w)");
  const ExhaustiveRewrite out = apply_exhaustively(graph, rules[0]);
  ASSERT_TRUE(out.after.has_value());
  EXPECT_TRUE(verify_graph(out.after->graph).has_value());
  // a w and b w become one product; t u and y u stay two, since y depends on t u.
  EXPECT_EQ(out.step.nodes, (std::vector<std::string>{"aw", "bw"}));
  expect_same_meaning(graph, out.after->graph);
}

TEST(ExhaustiveRewrite, EndsWhereARuleGoesOnGrowing) {
  const auto rules = parse_rules("rule twice (Relu ?x) => (Relu (Relu ?x))").value();
  const ExhaustiveRewrite out = apply_exhaustively(parsed("input x: f32[4]\n y = Relu(x)\n return y"), rules[0]);
  ASSERT_TRUE(out.after.has_value());
  EXPECT_LT(out.after->graph.nodes().size(), 2000U) << "2^30 without a limit";
}

TEST(Simplify, OnlyRemoves) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  const Graph graph = parsed(R"(
    input x: f32[1,3,8,8]
    w = f32[4,3,3,3]{seed 1}
    s = f32[4]{seed 2}
    b = f32[4]{seed 3}
    m = f32[4]{seed 4}
    v = f32[4]{fill 0.5}
    c = Conv(x, w) {strides=[1,1], dilations=[1,1], pads=[1,1,1,1]}
    n = BatchNormalization(c, s, b, m, v)
    i = Identity(n)
    y = Relu(i)
    return y)");
  ExhaustiveRewriter rewriter(*rules);
  const SearchResult out = simplify(graph, rewriter, {});
  EXPECT_TRUE(verify_graph(out.graph).has_value());
  EXPECT_TRUE(only_removes(graph, out.graph, {}));
  EXPECT_EQ(run_time_ops(out.graph), 2U) << print_graph(out.graph);
  expect_same_meaning(graph, out.graph);
  EXPECT_EQ(simplify(out.graph, rewriter, {}).graph.hash(), out.graph.hash());
}

TEST(Greedy, FindsTheGateOfAnSruUnderTheRooflineModel) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value());
  const Graph graph = parsed(R"(
    input f: f32[4,16]
    input c: f32[4,16]
    input z: f32[4,16]
    one = f32[]{1.0}
    fc = Mul(f, c)
    g = Sub(one, f)
    gz = Mul(g, z)
    y = Add(fc, gz)
    return y)");
  class ByRoofline : public Evaluator {
    Result<Interval> measure(const Candidate& current, const Candidate& candidate) override {
      const double ratio = cost_.metrics(current)->latency_us / cost_.metrics(candidate)->latency_us;
      return Interval{ratio, ratio, ratio};
    }
    Result<Candidate> prepare(const Candidate& candidate) override {
      ISOMER_TRY(Graph folded, fold_constants(candidate.graph));
      return Candidate(std::move(folded));
    }
    RooflineCost cost_;
  } evaluator;
  const GreedyOptions options;
  const auto found = greedy_search(graph, *rules, evaluator, options);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(run_time_ops(found->graph), 3U);
  expect_same_meaning(graph, found->graph);
  ASSERT_FALSE(found->report.steps.empty());
  EXPECT_EQ(found->report.steps[0].rule, "factor-gate");
  const auto again = greedy_search(graph, *rules, evaluator, options);
  EXPECT_EQ(again->graph.hash(), found->graph.hash());
}

TEST(Greedy, TellsWhatItsStepsChange) {
  class Fewer : public Evaluator {
    Result<Interval> measure(const Candidate& current, const Candidate& candidate) override {
      const double ratio =
          static_cast<double>(run_time_ops(current.graph)) / static_cast<double>(run_time_ops(candidate.graph));
      return Interval{ratio, ratio, ratio};
    }
    std::optional<double> cost(const Candidate& candidate) override {
      return 10.0 * static_cast<double>(run_time_ops(candidate.graph));
    }
  } evaluator;
  const auto rules = rules_of("rule gone (Abs (Relu ?x)) => (Relu ?x)\nrule same (Neg (Neg ?x)) => ?x\n");
  const Graph graph = parsed("input x: f32[8]\na = Relu(x)\nb = Abs(a)\nc = Neg(b)\nd = Neg(c)\nreturn d");
  const GreedyOptions options;
  const auto found = greedy_search(graph, rules, evaluator, options);
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->report.steps.size(), 2U);
  EXPECT_FALSE(found->report.steps[0].joined);
  EXPECT_EQ(found->report.steps[0].delta, -30);
  EXPECT_TRUE(found->report.steps[1].joined) << "both only remove, and were taken as one";
  EXPECT_EQ(found->report.steps[1].delta, 0);
}

TEST(Greedy, StopsWhenNothingMeasuresFaster) {
  class Refusing : public Evaluator {
    Result<Interval> measure(const Candidate&, const Candidate&) override { return Interval{0.9, 0.8, 1.0}; }
  } evaluator;
  const auto rules = rules_of("rule r (Tanh ?x) => (Sub (Mul 2.0 (Sigmoid (Mul 2.0 ?x))) 1.0)");
  const Graph graph = parsed(kSteps);
  const GreedyOptions options;
  const auto found = greedy_search(graph, rules, evaluator, options);
  EXPECT_EQ(found->graph.hash(), graph.hash());
  EXPECT_GT(found->report.candidates, 0);
  EXPECT_TRUE(found->report.steps.empty());
}

TEST(Greedy, MeasuresOnlyWhatIsPredictedToBeFaster) {
  struct Slower : Evaluator {
    explicit Slower(std::optional<double> promised) : promised(promised) {}
    std::optional<double> estimate(const Candidate&, const Candidate&) override { return promised; }
    Result<Interval> measure(const Candidate&, const Candidate&) override {
      ++measured;
      return Interval{0.9, 0.8, 0.95};
    }
    std::optional<double> promised;
    int measured = 0;
  };
  const auto rules = rules_of("rule r (Tanh ?x) => (Sub (Mul 2.0 (Sigmoid (Mul 2.0 ?x))) 1.0)");
  const Graph graph = parsed("input x: f32[2]\ninput y: f32[3]\na = Tanh(x)\nb = Tanh(y)\nreturn a, b");
  const GreedyOptions options;
  Slower slower(1.001), faster(1.01), unknown(std::nullopt);
  for (Slower* evaluator : {&slower, &faster, &unknown})
    ASSERT_TRUE(greedy_search(graph, rules, *evaluator, options).has_value());
  EXPECT_EQ(slower.measured, 0);
  EXPECT_EQ(faster.measured, 3) << "everywhere, and at two places that differ";
  EXPECT_EQ(unknown.measured, 3);
}

TEST(Greedy, KeepsTheBestThatItHasSeenWhereCostsDecide) {
  struct EndsAtAGain : Evaluator {
    explicit EndsAtAGain(bool costs_decide) : decide(costs_decide) {}
    std::optional<double> estimate(const Candidate&, const Candidate&) override {
      ended = true;
      return 1.5;
    }
    Result<Interval> measure(const Candidate&, const Candidate&) override { return Interval{1.5, 1.4, 1.6}; }
    bool costs_decide() const override { return decide; }
    const bool decide;
    bool ended = false;
  };
  const auto rules = rules_of("rule r (Tanh ?x) => (Sub (Mul 2.0 (Sigmoid (Mul 2.0 ?x))) 1.0)");
  const Graph graph = parsed(kSteps);
  for (const bool costs_decide : {true, false}) {
    EndsAtAGain evaluator(costs_decide);
    const GreedyOptions options{.deadline = Deadline::after(1000, [&] { return evaluator.ended; })};
    const auto found = greedy_search(graph, rules, evaluator, options);
    EXPECT_EQ(found->report.steps.size(), costs_decide ? 1U : 0U) << "a run would take time that is over";
    EXPECT_EQ(found->graph.hash() != graph.hash(), costs_decide);
    EXPECT_EQ(found->report.stop_reason, "interrupted");
  }
}

TEST(Greedy, SaysWhichCandidatesItRejected) {
  class Failing : public Evaluator {
    Result<Interval> measure(const Candidate&, const Candidate&) override { return fail("the outputs differ"); }
    Result<Candidate> prepare(const Candidate& candidate) override {
      for (const Node& node : candidate.graph.nodes())
        if (node.op != nullptr && node.op->name == "Softsign") return fail("not in this opset");
      return candidate;
    }
  } evaluator;
  const auto rules = rules_of(
      "rule twice (Tanh ?x) => (Sub (Mul 2.0 (Sigmoid (Mul 2.0 ?x))) 1.0)\n"
      "rule soft (Tanh ?x) => (Softsign ?x)\n");
  const Graph graph = parsed(kSteps);
  const GreedyOptions options;
  const auto found = greedy_search(graph, rules, evaluator, options);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->graph.hash(), graph.hash());
  EXPECT_EQ(found->report.rejected,
            (std::vector<Rejection>{{"twice", "the outputs differ"}, {"soft", "not in this opset"}}));
}

TEST(Greedy, TriesTacticsAndLikePlaces) {
  // Abs is expensive, so that lifting pays only together with merging; a product is cheap only on the larger tensor.
  class ByOperator : public Evaluator {
    Result<Interval> measure(const Candidate& current, const Candidate& candidate) override {
      const double ratio = price(current.graph) / price(candidate.graph);
      return Interval{ratio, ratio, ratio};
    }
    static double price(const Graph& graph) {
      double sum = 1;
      for (const Node& node : graph.nodes()) {
        const std::string& op = node.op->name;
        if (op == "Mul") sum += (*graph.type(node.result()).shape)[0].is(8) ? 1 : 10;
        sum += op == "Abs" ? 9 : op == "Relu" ? 5 : op == "Tanh" ? 2 : op == "Sigmoid" ? 1 : 0;
      }
      return sum;
    }
  } evaluator;
  const auto file = parse_rule_file(
      "rule lift (Tanh ?x) => (Abs (Abs ?x))\n"
      "rule merge (Abs (Abs ?x)) => (Sigmoid ?x)\n"
      "rule twice (Relu ?x) => (Mul ?x ?x)\n"
      "tactic both seed lift then merge");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const Graph graph = parsed(
      "input x: f32[8]\ninput z: f32[4]\na = Relu(x)\nb = Relu(z)\nc = Tanh(a)\nd = Tanh(b)\ne = Neg(c)\nreturn e, d");
  const GreedyOptions options{.tactics = file->tactics};
  const auto found = greedy_search(graph, file->rules, evaluator, options);
  ASSERT_TRUE(found.has_value());
  std::vector<std::string> taken;
  for (const SearchStep& step : found->report.steps) taken.push_back(step.rule + " " + step.nodes[0]);
  EXPECT_EQ(taken, (std::vector<std::string>{"lift c", "merge c", "twice a"}));
}

TEST(Greedy, LooksTwiceWhereAnIntervalIsWide) {
  class Unsure : public Evaluator {
   public:
    int asked = 0;

   private:
    Result<Interval> measure(const Candidate&, const Candidate&) override {
      return ++asked == 1 ? Interval{1.3, 0.9, 1.7} : asked == 2 ? Interval{1.3, 1.2, 1.4} : Interval{1, 0.9, 1.1};
    }
  } evaluator;
  const auto rules = rules_of("rule twice (Relu ?x) => (Mul ?x ?x)");
  const GreedyOptions options;
  const auto found = greedy_search(parsed("input x: f32[8]\na = Relu(x)\nreturn a"), rules, evaluator, options);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->report.steps.size(), 1U);
  EXPECT_EQ(evaluator.asked, 2);
}

}  // namespace
}  // namespace isomer
