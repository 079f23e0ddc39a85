#include "isomer/discover/generalize.h"

#include <gtest/gtest.h>

namespace isomer {
namespace {

std::string generalized(const std::string& text) {
  const Rule rule = parse_rules("rule r\n" + text).value()[0];
  RuleChecker checker;
  const auto general = generalize(rule, relaxations(rule), checker);
  return general ? print_rule(general->rule) : "nothing";
}

// Because of groups, the most general form does not hold. Batches and channels are the first two axes of images of any
// rank, so keeping axes applies to more graphs than counting them from the back.
TEST(Generalize, KeepsAxesThatAreTheSameAtAnyRank) {
  EXPECT_EQ(generalized(R"(
  (Concat axis=1
    (Conv group=1 dilations=[1, 1] strides=[1, 1] pads=[1, 1, 1, 1] ?x ?w)
    (Conv group=1 dilations=[1, 1] strides=[1, 1] pads=[1, 1, 1, 1] ?x ?v))
  => (Conv group=1 dilations=[1, 1] strides=[1, 1] pads=[1, 1, 1, 1] ?x (Concat axis=0 ?w ?v))
  where rank(?x) == 4 and rank(?w) == 4 and rank(?v) == 4 and real(?x)
)"),
            "rule r\n"
            "  (Concat axis=1 (Conv ..conv group=1 ?x ?w) (Conv ..conv group=1 ?x ?v))\n"
            "  => (Conv ..conv group=1 ?x (Concat axis=0 ?w ?v))\n");
}

// For images with three axes, the row of numbers would be broadcast along the first one.
TEST(Generalize, LeavesRanksBeyondThoseThatAreCheckedInFull) {
  EXPECT_EQ(generalized(R"(
  (Add (Conv group=1 dilations=[1, 1] strides=[1, 1] pads=[1, 1, 1, 1] ?a ?b) (Reshape shape=[-1, 1, 1] ?c))
  => (Conv group=1 dilations=[1, 1] strides=[1, 1] pads=[1, 1, 1, 1] ?a ?b ?c)
  where rank(?a) == 4 and rank(?b) == 4 and rank(?c) == 1 and real(?a)
)"),
            "rule r\n"
            "  (Add (Conv ..conv ?a ?b) (Reshape ..reshape shape=[-1, 1, 1] ?c))\n"
            "  => (Conv ..conv ?a ?b ?c)\n"
            "  where rank(?b) == 4\n"
            "    and real(?a)\n");
}

}  // namespace
}  // namespace isomer
