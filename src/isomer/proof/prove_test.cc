// Rules that must be proved, and rules that must not.

#include "isomer/proof/prove.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "isomer/base/file.h"
#include "isomer/rules/rule.h"

namespace isomer {
namespace {

std::vector<Rule> rules_in(const std::filesystem::path& file) {
  const auto text = read_file(std::filesystem::path(ISOMER_SOURCE_DIR) / file);
  EXPECT_TRUE(text.has_value()) << file;
  auto rules = parse_rules(*text);
  EXPECT_TRUE(rules.has_value()) << file;
  return *std::move(rules);
}

Proof proof_of(const std::string& text) {
  const auto rules = parse_rules("rule it\n" + text);
  EXPECT_TRUE(rules.has_value()) << rules.error().message;
  return prove_rule(rules->front());
}

TEST(ProveRule, TasosPropertiesAreTheorems) {
  // Rules that take a second or more are left to `isomer rules verify`.
  const std::set<std::string> slow{"add-associates",      "mul-associates",       "mul-distributes",
                                   "scale-distributes",   "scale-of-product",     "scales-associate",
                                   "concat-of-concats",   "concat-of-scaled",     "transpose-of-scaled",
                                   "concat-of-max-pools", "product-with-identity"};
  // Adjacent average pools whose windows extend beyond the end: the counts are nonlinear.
  const std::set<std::string> unproved{"concat-of-average-pools", "average-pool-as-convolution"};
  size_t proved = 0;
  for (const Rule& rule : rules_in("tests/proofs/taso_properties.rules")) {
    if (slow.contains(rule.name) || unproved.contains(rule.name)) continue;
    const Proof proof = prove_rule(rule);
    EXPECT_TRUE(proof.proved) << rule.name << ": " << proof.how;
    ++proved;
  }
  EXPECT_GE(proved, 25U);
}

TEST(ProveRule, NoFalseRuleIsProved) {
  size_t tried = 0;
  for (const char* file : {"algebra", "channels", "convolutions", "movement"}) {
    for (const Rule& rule : rules_in("rulesets/false/" + std::string(file) + ".rules")) {
      ++tried;
      EXPECT_FALSE(prove_rule(rule).proved) << rule.name;
    }
  }
  EXPECT_GE(tried, 80U);
}

TEST(ProveRule, TargetsMayBeIllTypedAtSomeRanks) {
  for (const char* target : {"(GlobalAveragePool ?x)", "(GlobalMaxPool ?x)", "(Transpose perm=[0,2,1] ?x)"})
    EXPECT_FALSE(proof_of("(Neg ?x) => " + std::string(target)).proved) << target;
}

TEST(ProveRule, ItHoldsForEveryExtent) {
  // With extents up to 3, a product of two thousand rows looks like any other.
  EXPECT_FALSE(
      proof_of("(MatMul ?x ?a)\n=> (MatMul ?x (Add ?a ?a))\nwhere rank(?x) == 2 and rank(?a) == 2 and real(?x)")
          .proved);
  EXPECT_TRUE(proof_of("(MatMul ?x (Add ?a ?a))\n=> (Mul (MatMul ?x ?a) 2.0)\n"
                       "where rank(?x) == 2 and rank(?a) == 2 and real(?x)")
                  .proved);
}

TEST(ProveRule, SequencesOfDifferentLengthsAreNotRepeatedTogether) {
  const Proof proof = proof_of(
      "(Conv ..conv group=2 (Concat axis=1 @a) (Concat axis=0 @b))\n=> (Concat axis=1 (Conv ..conv group=1 @a @b)...)\n"
      "where rank(@a) == 3 and alike(@a) and alike(@b) and len(@a) >= 2 and len(@b) >= 2");
  EXPECT_TRUE(proof.proved) << proof.how;
}

TEST(ProveRule, OneWindowIsLargerThanAnotherByItsPads) {
  const Proof proof = proof_of(
      "(Concat axis=1 (Conv group=1 dilations=[1] strides=[1] pads=[0, 0] ?a ?b)\n"
      "  (Conv group=1 dilations=[1] strides=[1] pads=[1, 1] ?a ?c))\n"
      "=> (Conv group=1 dilations=[1] strides=[1] pads=[1, 1] ?a\n"
      "  (Concat axis=0 (Pad constant_value=0.0 mode=\"constant\" pads=[0, 0, 1, 0, 0, 1] ?b) ?c))");
  EXPECT_TRUE(proof.proved) << proof.how;
}

TEST(ProveRule, AConditionThatNothingSatisfiesProvesNothing) {
  const Proof proof = proof_of("(Relu ?x)\n=> ?x\nwhere rank(?x) == 2 and dim(?x, 0) < 0");
  EXPECT_FALSE(proof.proved);
  EXPECT_EQ(proof.structures, 0U);
}

TEST(ProveRule, IntegersDoNotDivide) {
  EXPECT_FALSE(proof_of("(Div (Mul ?x ?y) ?z)\n=> (Mul ?x (Div ?y ?z))\nwhere shape(?x) == shape(?y)").proved);
  EXPECT_TRUE(proof_of("(Div (Mul ?x ?y) ?z)\n=> (Mul ?x (Div ?y ?z))\nwhere shape(?x) == shape(?y) and shape(?y) == "
                       "shape(?z) and real(?x)")
                  .proved);
}

TEST(ProveRule, ConstantsMadeOfNothingAreRealOnlyWhereTheRuleIs) {
  const std::string text =
      "(Div (Mul (ConstantOfShape shape=?s value=?a) (ConstantOfShape shape=?s value=?b)) ?z)\n"
      "=> (Mul (ConstantOfShape shape=?s value=?a) (Div (ConstantOfShape shape=?s value=?b) ?z))\n";
  EXPECT_FALSE(proof_of(text + "where rank(?z) == 1").proved);
  const Proof reals = proof_of(text + "where rank(?z) == 1 and real(?z)");
  EXPECT_TRUE(reals.proved) << reals.how;
}

}  // namespace
}  // namespace isomer
