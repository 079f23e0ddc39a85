#include "isomer/discover/rule_names.h"

#include <gtest/gtest.h>

#include "isomer/discover/testing.h"

namespace isomer {
namespace {

TEST(RuleNames, AreTheSameForTheSameRule) {
  const Rule one = with_canonical_names(rule_of(
      "(Concat axis=?k1 (Relu ?b) (Relu ?a)) => (Relu (Concat axis=?k1 ?b ?a)) where real(?b) and rank(?b) == 2"));
  const Rule other = with_canonical_names(rule_of(
      "(Concat axis=?k0 (Relu ?x) (Relu ?y)) => (Relu (Concat axis=?k0 ?x ?y)) where rank(?x) == 2 and real(?x)"));
  EXPECT_EQ(print_rule(one), print_rule(other));
  EXPECT_EQ(one.name, fmt::format("discovered-{:016x}", one.hash()));
}

TEST(RuleNames, TellVariablesApart) {
  const Rule swapped = with_canonical_names(rule_of("(Add ?b ?a) => (Add ?a ?b)"));
  EXPECT_EQ(print_term(swapped.sources[0]), "(Add ?a ?b)");
  EXPECT_EQ(print_term(swapped.targets[0]), "(Add ?b ?a)");
  const Rule records = with_canonical_names(rule_of("(MaxPool ..maxpool ?x) => (MaxPool ..maxpool ?x)"));
  EXPECT_EQ(records.sources[0].rest, "maxpool");
}

TEST(RuleNames, MayNumberRecords) {
  const Rule rule = rule_of(
      "(Relu (Conv ..conv (MaxPool ..r0 pads=?conv.pads ?x) ?w)) => (MaxPool ..r0 ?x) where ?r0.pads == [1, 1]");
  const Rule numbered = with_canonical_names(rule, RecordNames::Numbered);
  EXPECT_EQ(print_term(numbered.sources[0]), "(Relu (Conv ..r0 (MaxPool ..r1 pads=?r0.pads ?a) ?b))");
  EXPECT_EQ(print_term(numbered.targets[0]), "(MaxPool ..r1 ?a)");
  EXPECT_EQ(print_expr(numbered.conditions[0]), "?r1.pads == [1, 1]");
}

}  // namespace
}  // namespace isomer
