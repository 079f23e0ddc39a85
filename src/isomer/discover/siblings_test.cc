#include "isomer/discover/siblings.h"

#include <gmock/gmock.h>

#include "isomer/check/rule_check.h"
#include "isomer/discover/testing.h"

namespace isomer {
namespace {

using testing::HasSubstr;

/// Returns the rule for any number of siblings, which the checker confirms; "nothing" if it has another form.
std::string of_many(const std::string& text) {
  auto rule = for_any_number(rule_of(text));
  if (!rule) return "nothing";
  rule->name = "r";
  EXPECT_EQ(check_rule(*rule).verdict, Verdict::Tested) << print_rule(*rule);
  EXPECT_TRUE(parse_rules(print_rule(*rule)).has_value()) << print_rule(*rule);
  return print_rule(*rule);
}

TEST(Siblings, AreOperandsOfConcatenations) {
  EXPECT_THAT(of_many("(Concat axis=?k (Relu ?a) (Relu ?b)) => (Relu (Concat axis=?k ?a ?b))"),
              HasSubstr("(Concat axis=?k (Relu @a)...)\n  => (Relu (Concat axis=?k @a))"));
  EXPECT_THAT(of_many("(Relu (Concat axis=?k ?a ?b)) => (Concat axis=?k (Relu ?a) (Relu ?b))"),
              HasSubstr("(Relu (Concat axis=?k @a))\n  => (Concat axis=?k (Relu @a)...)"));
  EXPECT_THAT(of_many("(MatMul (Concat axis=1 ?a ?b) (Concat axis=0 ?c ?d)) => (Add (MatMul ?a ?c) (MatMul ?b ?d)) "
                      "where rank(?a) == 2 and rank(?b) == 2 and rank(?c) == 2 and rank(?d) == 2 and real(?a) and "
                      "dim(?a, 1) == dim(?c, 0)"),
              "nothing")
      << "sums are of two";
}

TEST(Siblings, AreSources) {
  const std::string rule = of_many(
      "(MatMul ?x ?a), (MatMul ?x ?b) => (Split axis=1 split=[dim(?a, 1), dim(?b, 1)] (MatMul ?x (Concat axis=1 ?a "
      "?b))) "
      "where rank(?x) == 2 and rank(?a) == 2 and rank(?b) == 2 and real(?x)");
  EXPECT_THAT(rule,
              HasSubstr("(MatMul ?x @a)...\n  => (Split axis=1 split=dims(@a, 1) (MatMul ?x (Concat axis=1 @a)))"));
  EXPECT_THAT(rule, HasSubstr("rank(@a) == 2"));
  EXPECT_THAT(rule, HasSubstr("alike(@a, 1)"));
}

TEST(Siblings, AreTheSameButForInputs) {
  EXPECT_EQ(of_many("(Concat axis=?k (Relu ?a) (Tanh ?b)) => (Concat axis=?k (Relu ?a) (Tanh ?b))"), "nothing");
  EXPECT_EQ(of_many("(Add ?a ?b) => (Add ?b ?a)"), "nothing");
}

}  // namespace
}  // namespace isomer
