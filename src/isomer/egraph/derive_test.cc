#include "isomer/egraph/derive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/egraph/replay.h"
#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

Graph graph(const std::string& text) {
  auto parsed = parse_graph(text, find_op);
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
  return parsed ? *parsed : Graph();
}

/// A query and its result.
class Question {
 public:
  Question(const std::string& rules, const std::string& before, const std::string& after,
           const DeriveLimits& limits = {}) {
    auto parsed = parse_rules(rules);
    EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
    directions_ = directions_of(*parsed);
    const Graph first = graph(before);
    std::map<uint64_t, std::string> weights;
    for (const Node& node : first.nodes())
      if (node.is_constant()) weights.emplace(node.attrs.tensor("value").hash(), first.name(node.result()));
    derivation_ = std::make_unique<Derivation>(directions_, limits, std::move(weights));
    const auto derived = derivation_->run(first, graph(after));
    EXPECT_TRUE(derived.has_value()) << (derived ? "" : derived.error().message);
    derived_ = derived && *derived;
    if (!derived_) return;
    const auto status = replay(*derivation_);
    EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().message);
  }

  bool derived() const { return derived_; }
  const Derivation& derivation() const { return *derivation_; }
  /// Returns "rule, rule'"; ' marks rules that were used backward.
  std::string chain() const {
    std::string out;
    for (const ChainStep& step : derivation_->chain())
      out += (out.empty() ? "" : ", ") + derivation_->rule(step).name + (derivation_->forward(step) ? "" : "'");
    return out;
  }

 private:
  std::vector<Direction> directions_;
  std::unique_ptr<Derivation> derivation_;
  bool derived_ = false;
};

const std::string kThree = "input a: f64[2,3]\n input b: f64[3,4]\n input c: f64[4,5]\n";
const std::string kAssociate =
    "rule associate (MatMul (MatMul ?a ?b) ?c) => (MatMul ?a (MatMul ?b ?c)) where rank(?b) == 2 and real(?a)\n";

TEST(Derive, AGraphEqualsItselfWithoutAStep) {
  const Question question("", "input x: f64[2]\n y = Relu(x)\n return y", "input x: f64[2]\n y = Relu(x)\n return y");
  EXPECT_TRUE(question.derived());
  EXPECT_EQ(question.chain(), "");
}

TEST(Derive, RulesWorkInBothDirections) {
  const std::string left = kThree + "u = MatMul(a, b)\n v = MatMul(u, c)\n return v";
  const std::string right = kThree + "u = MatMul(b, c)\n v = MatMul(a, u)\n return v";
  EXPECT_EQ(Question(kAssociate, left, right).chain(), "associate");
  const Question back(kAssociate, right, left);
  EXPECT_EQ(back.chain(), "associate'");
  EXPECT_EQ(term_text(back.derivation().terms(), *back.derivation().start()), "(MatMul ?a (MatMul ?b ?c))");
  EXPECT_EQ(term_text(back.derivation().terms(), *back.derivation().chain()[0].after), "(MatMul (MatMul ?a ?b) ?c)");
}

TEST(Derive, OperandsOfCommutativeOperatorsMayBeTurned) {
  const std::string inputs = "input x: f64[2]\n input y: f64[2]\n";
  EXPECT_TRUE(Question("", inputs + "z = Add(x, y)\n return z", inputs + "z = Add(y, x)\n return z").derived());
  EXPECT_FALSE(Question("", inputs + "z = Sub(x, y)\n return z", inputs + "z = Sub(y, x)\n return z").derived());
}

TEST(Derive, ChainsGoThroughTermsThatNeitherSideHas) {
  // One transposition moves next to the other, both become one, and that is the identity.
  const std::string rules =
      "rule move (Relu (Transpose perm=?p ?x)) => (Transpose perm=?p (Relu ?x))\n"
      "rule merge (Transpose perm=?p (Transpose perm=?q ?x)) => (Transpose perm=permute(?q, ?p) ?x)\n"
      "rule drop (Transpose perm=?p ?x) => ?x where ?p == range(rank(?x))\n";
  const Question question(rules,
                          "input x: f64[2,3]\n y = Transpose(x) {perm=[1,0]}\n z = Relu(y)\n"
                          "u = Transpose(z) {perm=[1,0]}\n return u",
                          "input x: f64[2,3]\n y = Relu(x)\n return y");
  EXPECT_THAT(question.chain(), testing::AnyOf("move, merge, drop", "move', merge, drop"));
}

TEST(Derive, ConditionsAreAskedOfClasses) {
  const std::string rules = kAssociate + "rule scale (Mul ?x ?c) => (Mul ?c ?x) where weight(?c)\n" +
                            "rule weights (Sub (Sub ?x ?c) ?d) => (Sub ?x (Add ?c ?d)) where weight(?c) and weight(?d)";
  const std::string body = "u = Sub(x, c)\n v = Sub(u, d)\n return v";
  const std::string wanted = "u = Add(c, d)\n v = Sub(x, u)\n return v";
  const std::string weights = "input x: f64[2]\n c = f64[2]{seed 1}\n d = f64[2]{seed 2}\n ";
  const std::string inputs = "input x: f64[2]\n input c: f64[2]\n input d: f64[2]\n ";
  EXPECT_EQ(Question(rules, weights + body, weights + wanted).chain(), "weights");
  const Question question(rules, inputs + body, inputs + wanted);
  EXPECT_FALSE(question.derived());
  EXPECT_EQ(question.derivation().stopped_by(), "nothing more follows");
}

TEST(Derive, SiblingsAreReplacedTogether) {
  const std::string rules =
      "rule merge (MatMul ?x @w)... => (Split axis=(rank(?x) - 1) split=dims(@w, 1) (MatMul ?x (Concat axis=1 @w)))\n"
      "where len(@w) >= 2 and weight(@w) and rank(@w) == 2 and alike(@w, 1) and rank(?x) >= 2";
  const std::string inputs = "input x: f64[2,3]\n a = f64[3,4]{seed 1}\n b = f64[3,5]{seed 2}\n ";
  const std::string apart = inputs + "u = MatMul(x, a)\n v = MatMul(x, b)\n return u, v";
  const std::string together =
      inputs + "w = Concat(a, b) {axis=1}\n m = MatMul(x, w)\n u, v = Split(m) {axis=1, split=[4,5]}\n return u, v";
  EXPECT_EQ(Question(rules, apart, together).chain(), "merge, merge");
  EXPECT_EQ(Question(rules, together, apart).chain(), "merge', merge'");
}

TEST(Derive, PartsOfATargetWithNamesAreFoundGoingBack) {
  const std::string rules =
      "rule groups (Conv group=?g ..c ?x ?w) choose ?n in divisors(?g)\n"
      "  => let @s = (Split axis=1 split=repeat(dim(?x, 1) / ?n, ?n) ?x)\n"
      "     let @v = (Split axis=0 split=repeat(dim(?w, 0) / ?n, ?n) ?w)\n"
      "     (Concat axis=1 (Conv group=(?g / ?n) ..c @s @v)...)\n"
      "  where ?n >= 2 and weight(?w)\n";
  const std::string inputs = "input x: f64[1,4,3]\n w = f64[6,2,1]{seed 1}\n ";
  const std::string grouped = inputs + "y = Conv(x, w) {group=2, strides=[1], dilations=[1], pads=[0,0]}\n return y";
  const std::string branches =
      inputs +
      "a, b = Split(x) {axis=1, split=[2,2]}\n u, v = Split(w) {axis=0, split=[3,3]}\n"
      "p = Conv(a, u) {group=1, strides=[1], dilations=[1], pads=[0,0]}\n"
      "q = Conv(b, v) {group=1, strides=[1], dilations=[1], pads=[0,0]}\n y = Concat(p, q) {axis=1}\n return y";
  EXPECT_EQ(Question(rules, grouped, branches).chain(), "groups");
}

TEST(Derive, AttributesThatMatchingLeavesOpenAreSolvedFor) {
  // Backward, ?a follows from the position of its axis in ?p.
  const std::string rules =
      "rule softmax (Softmax axis=?a (Transpose perm=?p ?x)) => (Transpose perm=?p (Softmax axis=(?p[?a]) ?x))";
  const std::string inputs = "input x: f64[2,3,4]\n ";
  const Question question(rules, inputs + "y = Softmax(x) {axis=2}\n z = Transpose(y) {perm=[0,2,1]}\n return z",
                          inputs + "y = Transpose(x) {perm=[0,2,1]}\n z = Softmax(y) {axis=1}\n return z");
  EXPECT_EQ(question.chain(), "softmax'");
}

TEST(Derive, OfBlocksThatNothingDeterminesTheFirstIsTaken) {
  const auto chain = [](const std::string& end, int64_t block) {
    const std::string rules =
        "rule cut (Relu (Relu ?x)) choose block ?m in [8, 16]\n"
        "  => (Slice axes=[0] starts=[0] ends=[" +
        end + "] steps=[1] (Relu ?x))";
    const Question question(rules, "input x: f64[4]\n a = Relu(x)\n b = Relu(a)\n return b",
                            fmt::format("input x: f64[4]\n a = Relu(x)\n"
                                        " b = Slice(a) {{axes=[0], starts=[0], ends=[{}], steps=[1]}}\n return b",
                                        block));
    return question.derived() ? question.chain() : "none";
  };
  EXPECT_NE(chain("?m", 8), "none");
  EXPECT_NE(chain("?m", 16), "none") << "the term determines it";
  EXPECT_EQ(chain("?m * ?m", 64), "cut");
  EXPECT_EQ(chain("?m * ?m", 256), "none");
}

TEST(Derive, LiteralsAreScalarsWhereARuleMakesThem) {
  const std::string rules = "rule twice (Add ?x ?x) => (Mul ?x 2.0) where real(?x)";
  const std::string input = "input x: f64[2,3]\n ";
  const std::string sum = input + "y = Add(x, x)\n return y";
  const std::string scalar = "input x: f64[2,3]\n c = f64[]{2}\n y = Mul(x, c)\n return y";
  // The constants of these graphs are known, so they have no names.
  auto parsed = parse_rules(rules);
  ASSERT_TRUE(parsed.has_value());
  const auto directions = directions_of(*parsed);
  for (const bool back : {false, true}) {
    Derivation derivation(directions, {}, {});
    const auto derived = derivation.run(graph(back ? scalar : sum), graph(back ? sum : scalar));
    ASSERT_TRUE(derived.has_value()) << derived.error().message;
    EXPECT_TRUE(*derived) << derivation.stopped_by();
    EXPECT_TRUE(replay(derivation).has_value());
    EXPECT_EQ(derivation.forward(derivation.chain()[0]), !back);
  }
}

TEST(Derive, WeightsMayBeRunTimeValuesWhereAllAreWeights) {
  const std::string inputs = "input x: f64[3,3]\n input s: f64[3]\n";
  const std::string outside = inputs + "p = MatMul(x, x)\n y = Mul(p, s)\n return y";
  const std::string inside = inputs + "q = Mul(x, s)\n y = MatMul(x, q)\n return y";
  const std::string rule =
      "rule scale (Mul (MatMul ?x ?w) ?s) => (MatMul ?x (Mul ?w ?s)) "
      "where weight(?w) and weight(?s) and rank(?s) == 1 and real(?x)";
  EXPECT_FALSE(Question(rule, outside, inside).derived());
  DeriveLimits limits;
  limits.all_weights = true;
  EXPECT_EQ(Question(rule, outside, inside, limits).chain(), "scale");
}

TEST(Derive, LimitsAreKeptAndNamed) {
  std::string inputs;
  std::string left;
  std::string right;
  for (int i = 0; i < 7; ++i) inputs += fmt::format("input x{}: f64[2,2]\n ", i);
  for (int i = 1; i < 7; ++i) {
    left += fmt::format("l{} = MatMul({}, x{})\n ", i, i == 1 ? "x0" : fmt::format("l{}", i - 1), i);
    right += fmt::format("r{} = MatMul(x{}, {})\n ", i, 6 - i, i == 1 ? "x6" : fmt::format("r{}", i - 1));
  }
  const std::string before = inputs + left + "return l6";
  const std::string after = inputs + right + "return r6";
  EXPECT_TRUE(Question(kAssociate, before, after).derived());
  const Question few_rounds(kAssociate, before, after, {.rounds = 1});
  EXPECT_FALSE(few_rounds.derived());
  EXPECT_EQ(few_rounds.derivation().stopped_by(), "after 1 rounds");
  const Question few_nodes(kAssociate, before, after, {.nodes = 25});
  EXPECT_FALSE(few_nodes.derived());
  EXPECT_TRUE(few_nodes.derivation().stopped_by().starts_with("at ")) << few_nodes.derivation().stopped_by();
}

}  // namespace
}  // namespace isomer
