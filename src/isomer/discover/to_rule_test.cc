#include "isomer/discover/to_rule.h"

#include <gmock/gmock.h>

#include "isomer/discover/builtin.h"
#include "isomer/discover/discover.h"

namespace isomer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

/// A pair over the matrices ?a, ?b, ... (inputs of kind 0), made node by node.
class PairBuilder {
 public:
  explicit PairBuilder(const Universe& universe) : universe_(universe) {}

  uint32_t input() { return add({.kind = PairNode::Kind::Input, .input = 0}); }
  /// Adds an operator, selected by the text of its first result.
  uint32_t apply(const std::string& form, uint32_t a, uint32_t b = PairNode::kNone, uint32_t result = 0) {
    for (uint32_t op = 0; op < universe_.ops.size(); ++op)
      if (print_term(universe_.ops[op].results[0]) == form)
        return add({.kind = PairNode::Kind::Apply, .op = op, .result = result, .a = a, .b = b});
    ADD_FAILURE() << "no operator " << form;
    return 0;
  }
  uint32_t constant(const std::string& name) {
    const auto at = std::ranges::find(universe_.inputs, name, &UniverseInput::name);
    return add({.kind = PairNode::Kind::Constant, .op = static_cast<uint32_t>(at - universe_.inputs.begin())});
  }
  TermPair pair(uint32_t left, uint32_t right) {
    TermPair out = pair_;
    out.left = {left};
    out.right = {right};
    return out;
  }

 private:
  uint32_t add(PairNode node) {
    pair_.nodes.push_back(node);
    return static_cast<uint32_t>(pair_.nodes.size() - 1);
  }
  const Universe& universe_;
  TermPair pair_;
};

class ToRule : public testing::Test {
 protected:
  explicit ToRule(const std::string& universe = "matrix") : universes_(load_universe(universe).value()) {
    for (const Universe& variant : universes_) banks_.push_back(TermBank::make(variant).value());
    for (size_t v = 0; v < universes_.size(); ++v) variants_.push_back({banks_[v].types(), kinds_, v});
  }

  std::vector<std::string> texts(const TermPair& pair) const {
    std::vector<std::string> out;
    for (const DiscoveredRule& found : rules_of(pair, universes_, variants_, checker_)) {
      EXPECT_EQ(found.verdict.verdict, Verdict::Tested) << print_rule(found.rule);
      EXPECT_TRUE(parse_rules(print_rule(found.rule)).has_value());
      out.push_back(print_rule(found.rule));
    }
    return out;
  }

  std::vector<Universe> universes_;
  std::vector<TermBank> banks_;
  InputKinds kinds_{universes_};
  mutable RuleChecker checker_;
  std::vector<PairContext> variants_;
  PairBuilder build_{universes_[0]};
};

TEST_F(ToRule, GoesBothWays) {
  const uint32_t a = build_.input(), b = build_.input(), c = build_.input();
  const uint32_t left = build_.apply("(MatMul ?x ?y)", build_.apply("(MatMul ?x ?y)", a, b), c);
  const uint32_t right = build_.apply("(MatMul ?x ?y)", a, build_.apply("(MatMul ?x ?y)", b, c));
  const auto rules = texts(build_.pair(left, right));
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_THAT(rules[0], HasSubstr("(MatMul (MatMul ?a ?b) ?c)\n  => (MatMul ?a (MatMul ?b ?c))"));
  EXPECT_THAT(rules[1], HasSubstr("(MatMul ?a (MatMul ?b ?c))\n  => (MatMul (MatMul ?a ?b) ?c)"));
}

TEST_F(ToRule, LeavesOutWhatBindsTooLittle) {
  const uint32_t a = build_.input();
  const uint32_t twice = build_.apply("(Transpose perm=[1, 0] ?x)", build_.apply("(Transpose perm=[1, 0] ?x)", a));
  EXPECT_EQ(texts(build_.pair(twice, a)).size(), 1U) << "?a => (Transpose (Transpose ?a)) would match everywhere";
}

TEST_F(ToRule, TurnsSizesIntoExtents) {
  const uint32_t a = build_.input(), b = build_.input();
  const std::string split = "(Slice axes=[0] starts=[0] ends=[3] steps=[1] ?x)";
  const uint32_t second = build_.apply(split, build_.apply("(Concat axis=0 ?x ?y)", a, b), PairNode::kNone, 1);
  const auto rules = texts(build_.pair(second, b));
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_THAT(rules[0], HasSubstr("starts=?n0 ends=?n1"));
  EXPECT_THAT(rules[0], HasSubstr("?n0 == [dim(?a, ?k0[0])]"));
  EXPECT_THAT(rules[0], HasSubstr("?n1 == [dim(?a, ?k0[0]) + dim(?b, ?k0[0])]"));
}

// add(concat(a, b), concat(c, d)) adds elements at the same position: this requires pieces of equal length.
TEST_F(ToRule, AsksForEqualShapesWhereNeeded) {
  const uint32_t a = build_.input(), b = build_.input(), c = build_.input(), d = build_.input();
  const std::string concat = "(Concat axis=0 ?x ?y)";
  const uint32_t left = build_.apply("(Add ?x ?y)", build_.apply(concat, a, b), build_.apply(concat, c, d));
  const uint32_t right = build_.apply(concat, build_.apply("(Add ?x ?y)", a, c), build_.apply("(Add ?x ?y)", b, d));
  const auto rules = texts(build_.pair(left, right));
  ASSERT_FALSE(rules.empty());
  EXPECT_THAT(rules, testing::Each(HasSubstr("(Concat "))) << "each holds, as texts() says";
}

TEST_F(ToRule, JoinsWhatSharesAnOperand) {
  const uint32_t a = build_.input(), b = build_.input(), c = build_.input();
  const std::string concat = "(Concat axis=1 ?x ?y)";
  const uint32_t apart =
      build_.apply(concat, build_.apply("(MatMul ?x ?y)", a, b), build_.apply("(MatMul ?x ?y)", a, c));
  const uint32_t joined = build_.apply("(MatMul ?x ?y)", a, build_.apply(concat, b, c));
  const auto rules = texts(build_.pair(apart, joined));
  EXPECT_THAT(rules, Contains(HasSubstr("  (MatMul ?a @b)...\n  => (Split ")));
}

TEST_F(ToRule, TakesConcatenationsApart) {
  const uint32_t both = build_.apply("(Concat axis=1 ?x ?y)", build_.input(), build_.input());
  const auto rules = texts(build_.pair(both, both));
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_THAT(rules[0], HasSubstr("(Split axis=?k0 split=?n0 (Concat axis=?k0 @a))\n  => @a\n"));
}

TEST_F(ToRule, HoldsForAnyAxisRankAndNumber) {
  const uint32_t a = build_.input(), b = build_.input();
  const std::string concat = "(Concat axis=0 ?x ?y)";
  const uint32_t left = build_.apply(concat, build_.apply("(Relu ?x)", a), build_.apply("(Relu ?x)", b));
  const uint32_t right = build_.apply("(Relu ?x)", build_.apply(concat, a, b));
  const auto rules = texts(build_.pair(left, right));
  ASSERT_FALSE(rules.empty());
  EXPECT_THAT(rules[0],
              HasSubstr("(Concat axis=?k0 (Relu @a)...)\n  => (Relu (Concat axis=?k0 @a))\n  where len(@a) >= 2\n"));
}

class ToRuleWithConstants : public ToRule {
 protected:
  ToRuleWithConstants() : ToRule("matrix-constants") {}
};

// ab + b = (a + 1) b
TEST_F(ToRuleWithConstants, WritesTheIdentityMatrix) {
  const uint32_t a = build_.input(), b = build_.input();
  const uint32_t left = build_.apply("(Add ?x ?y)", build_.apply("(MatMul ?x ?y)", a, b), b);
  const uint32_t right = build_.apply("(MatMul ?x ?y)", build_.apply("(Add ?x ?y)", a, build_.constant("identity")), b);
  EXPECT_THAT(texts(build_.pair(left, right)), Contains(HasSubstr("(MatMul (Add ?a (EyeLike (ConstantOfShape shape=")));
}

TEST_F(ToRuleWithConstants, MatchesTheIdentityMatrix) {
  const uint32_t a = build_.input();
  const uint32_t product = build_.apply("(MatMul ?x ?y)", a, build_.constant("identity"));
  const auto rules = texts(build_.pair(product, a));
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_THAT(rules[0], HasSubstr("(MatMul ?a (EyeLike (ConstantOfShape shape=?n0 value=0.0)))\n  => ?a"));
}

TEST_F(ToRuleWithConstants, MatchesConstantsOfEqualElements) {
  const uint32_t a = build_.input();
  const uint32_t sum = build_.apply("(Add ?x ?y)", a, build_.constant("zeros"));
  EXPECT_THAT(texts(build_.pair(sum, a)), Contains(HasSubstr("  (Add ?a 0.0)\n  => ?a\n")));
}

TEST_F(ToRule, MakesNothingOfWhatIsFalse) {
  const uint32_t a = build_.input(), b = build_.input();
  const uint32_t ab = build_.apply("(MatMul ?x ?y)", a, b);
  const uint32_t ba = build_.apply("(MatMul ?x ?y)", b, a);
  EXPECT_TRUE(texts(build_.pair(ab, ba)).empty());
}

TEST(Discovery, MakesRulesOfAllLaws) {
  constexpr const char* kText = R"(
let N = 3, 2
inputs ?a ?b ?c [N, N]
operator (MatMul ?x ?y)
operator (Transpose perm=[1, 0] ?x)
)";
  std::vector<Universe> variants;
  for (size_t v = 0; v < 2; ++v) variants.push_back(parse_universe(kText, v).value());
  const Discovery found = discover(variants, {.enumerate = {.max_nodes = 2}, .make_rules = true}).value();
  std::vector<std::string> rules;
  for (const DiscoveredRule& each : found.rules) rules.push_back(print_rule(each.rule));
  EXPECT_THAT(rules, Contains(HasSubstr("(MatMul (MatMul ?a ?b) ?c)\n  => (MatMul ?a (MatMul ?b ?c))")));
  EXPECT_THAT(rules, Contains(testing::AllOf(HasSubstr("(Transpose "), HasSubstr("?a))\n  => ?a"))));
  EXPECT_THAT(rules, testing::Each(StartsWith("rule discovered-")));
}

}  // namespace
}  // namespace isomer
