// Tests the worked example of docs/reference/proofs.md: rules that become provable by declaring new operators.

#include <gmock/gmock.h>

#include "isomer/discover/builtin.h"
#include "isomer/discover/discover.h"
#include "isomer/proof/verify_rule.h"

namespace isomer {
namespace {

/// Returns a rule without its name.
std::string said(const Rule& rule) {
  const std::string text = print_rule(rule);
  return text.substr(text.find('\n') + 1);
}

TEST(NewOperators, GenerateFindsWhatTheyAreMadeOf) {
  const std::vector<Universe> variants = load_universe("gates-and-norms").value();
  const Discovery found = discover(variants, {.enumerate = {.max_nodes = 2}}).value();
  std::vector<std::string> laws;
  for (const TermPair& pair : found.equalities) laws.push_back(pair_text(pair, variants[0]));
  EXPECT_THAT(laws, testing::IsSupersetOf({
                        "(Mul ?a (Sigmoid ?a)) = (Swish ?a)",
                        "(Mul ?a (Swish ?b)) = (SwiGLU ?b ?a)",
                        "(Mul (SwiGLU ?a ?b) ?c) = (SwiGLU ?a (Mul ?b ?c))",
                        "(ReduceSum axes=[1] keepdims=1 (Mul ?a ?a)) = (ReduceSumSquare axes=[1] keepdims=1 ?a)",
                        "(Sqrt (ReduceSumSquare axes=[1] keepdims=1 ?a)) = (ReduceL2 axes=[1] keepdims=1 ?a)",
                        ("(Mul (Div ?a (Sqrt (Add (ReduceMean axes=[1] keepdims=1 (Mul ?a ?a)) 0.5))) ?b) = "
                         "(RMSNormalization axis=-1 epsilon=0.5 ?a ?b)"),
                    }));
}

// Takes half a minute, so the slow suites run it.
TEST(NewOperators, DISABLED_WhatTheyAreMadeOfGivesRulesThatAreProved) {
  const std::vector<Universe> variants = load_universe("gates-and-norms").value();
  const Discovery found = discover(variants, {.enumerate = {.max_nodes = 2}, .make_rules = true}).value();
  std::map<std::string, Rule> rules;
  for (const DiscoveredRule& rule : found.rules) rules.emplace(said(rule.rule), rule.rule);

  const std::string sum_of_squares =
      "  (ReduceSum ..reducesum axes=?k0 (Mul ?a ?a))\n"
      "  => (ReduceSumSquare axes=?k0 keepdims=?reducesum.keepdims ?a)\n"
      "  where real(?a)\n";
  const std::string root =
      "  (Sqrt (ReduceSumSquare ..reducesumsquare axes=?k0 ?a))\n"
      "  => (ReduceL2 axes=?k0 keepdims=?reducesumsquare.keepdims ?a)\n"
      "  where real(?a)\n";
  const std::string gate =
      "  (Mul ?a (Sigmoid ?a))\n"
      "  => (Swish ?a)\n"
      "  where real(?a)\n";
  const std::string norm =
      "  (Mul (Div ?a (Sqrt (Add (ReduceMean axes=?k0 keepdims=1 (Mul ?a ?a)) 0.5))) ?b)\n"
      "  => (RMSNormalization axis=-1 epsilon=0.5 ?a ?b)\n"
      "  where ?k0 == [rank(?a) - 1]\n    and real(?a)\n";
  const std::string scaled =
      "  (Mul (SwiGLU ..swiglu ?a ?b) ?c)\n"
      "  => (SwiGLU ..swiglu ?a (Mul ?b ?c))\n"
      "  where real(?a)\n";
  for (const std::string& text : {sum_of_squares, root, gate, norm, scaled}) EXPECT_TRUE(rules.contains(text)) << text;
  for (const auto& [text, rule] : rules) {
    const RuleVerdict verdict = verify_rule(rule);
    EXPECT_EQ(verdict.verdict, Verdict::Proved) << text << verdict.how;
  }
}

// The same, in another form. Over 16-bit types a gate and its parts round differently, so a rule must require real
// numbers. If a factor has more axes than the normalized value, the target is ill typed, and the instance is skipped.
TEST(NewOperators, GatesAndScalesAreProvedForReals) {
  const auto rules = parse_rules(R"(
rule gate
  (Mul ?x (Sigmoid ?x))
  => (Swish ?x)
  where real(?x)
rule gated
  (Mul ?y (Swish ?x))
  => (SwiGLU ?x ?y)
  where real(?x)
rule scaled-norm
  (Mul (RMSNormalization ..norm axis=-1 ?x ?g) ?c)
  => (RMSNormalization ..norm axis=-1 ?x (Mul ?g ?c))
  where real(?x)
)");
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  for (const Rule& rule : *rules) EXPECT_EQ(verify_rule(rule).verdict, Verdict::Proved) << rule.name;
}

}  // namespace
}  // namespace isomer
