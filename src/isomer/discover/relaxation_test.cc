#include "isomer/discover/relaxation.h"

#include <gmock/gmock.h>

#include "isomer/discover/generalize.h"
#include "isomer/discover/testing.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Returns the rule after a relaxation; "nothing" if it does not apply.
std::string relaxed(const std::string& text, const Relaxation& relaxation) {
  const auto rule = relaxation(rule_of(text));
  return rule ? print_rule(*rule) : "nothing";
}

constexpr const char* kConvolutions = R"(
  (Add (Conv group=1 dilations=[1, 1] strides=[1, 1] pads=[1, 1, 1, 1] ?x ?w)
       (Conv group=1 dilations=[1, 1] strides=[1, 1] pads=[1, 1, 1, 1] ?y ?w))
  => (Conv group=1 dilations=[1, 1] strides=[1, 1] pads=[1, 1, 1, 1] (Add ?x ?y) ?w)
  where rank(?x) == 4 and rank(?y) == 4 and rank(?w) == 4 and real(?x) and shape(?x) == shape(?y)
)";

TEST(Relaxation, FreesAttributesOneByOne) {
  const std::string strides = relaxed(kConvolutions, free_attribute(op("Conv"), "strides"));
  EXPECT_THAT(strides, HasSubstr("..conv"));
  EXPECT_THAT(strides, Not(HasSubstr("strides")));
  EXPECT_THAT(strides, HasSubstr("pads=[1, 1, 1, 1]"));
  EXPECT_THAT(strides, HasSubstr("auto_pad=\"NOTSET\"")) << "a preset that went without saying is said";
  EXPECT_TRUE(parse_rules(strides).has_value());
  EXPECT_EQ(relaxed(kConvolutions, free_attribute(op("Conv"), "axis")), "nothing");
  EXPECT_EQ(relaxed(kConvolutions, free_attribute(op("MaxPool"), "pads")), "nothing");
}

TEST(Relaxation, LeavesAttributesThatDiffer) {
  constexpr const char* kPads = R"(
  (Add (Conv pads=[1, 1, 1, 1] ?x ?w) (Conv pads=[0, 0, 0, 0] ?x ?v))
  => (Conv pads=[1, 1, 1, 1] ?x (Add ?w (Pad mode="constant" pads=[0, 0, 1, 1, 0, 0, 1, 1] ?v)))
)";
  EXPECT_EQ(relaxed(kPads, free_attribute(op("Conv"), "pads")), "nothing");
}

TEST(Relaxation, LeavesAttributesThatTheTargetSaysOtherwise) {
  EXPECT_EQ(
      relaxed("(Conv group=2 ?x ?w) => (Conv group=1 ?x (Concat axis=0 ?w ?w))", free_attribute(op("Conv"), "group")),
      "nothing");
}

TEST(Relaxation, FreesNumbersWithAttributes) {
  constexpr const char* kDeviation = R"(
  (LayerNormalization epsilon=0.25 ?x ?g)
  => (Mul ?g (Div ?x (Sqrt (Add ?x 0.25))))
)";
  EXPECT_THAT(relaxed(kDeviation, free_attribute(op("LayerNormalization"), "epsilon")),
              HasSubstr("(Add ?x (ConstantOfShape shape=[] value=?layernormalization.epsilon))"));
}

TEST(Relaxation, ShiftsLists) {
  constexpr const char* kEnlarged = R"(
  (Conv pads=[0, 1, 0, 1] ?x ?w)
  => (Conv pads=[1, 1, 1, 1] ?x (Pad mode="constant" pads=[0, 0, 1, 0, 0, 0, 1, 0] ?w))
)";
  const std::string shifted = relaxed(kEnlarged, shift_attribute(op("Conv"), "pads", "q1"));
  EXPECT_THAT(shifted, HasSubstr("(Conv pads=?q1 ?x ?w)"));
  EXPECT_THAT(shifted, HasSubstr("(Conv pads=(?q1 + [1, 0, 1, 0]) ?x (Pad"));
  EXPECT_TRUE(parse_rules(shifted).has_value());
  EXPECT_EQ(relaxed(kConvolutions, shift_attribute(op("Conv"), "pads", "q1")), "nothing") << "they are the same";
}

TEST(Relaxation, FreesWindows) {
  constexpr const char* kPool = R"(
  (AveragePool kernel_shape=[3, 2] count_include_pad=1 ?x)
  => (Conv group=dim(?x, 1) ?x (Div (ConstantOfShape shape=[dim(?x, 1), 1, 3, 2] value=1.0) 6.0))
)";
  const std::string free = relaxed(kPool, free_window(op("AveragePool")));
  EXPECT_THAT(free, HasSubstr("(AveragePool kernel_shape=?q0 count_include_pad=1 ?x)"));
  EXPECT_THAT(free, HasSubstr("shape=([dim(?x, 1), 1] ++ ?q0)"));
  EXPECT_THAT(free, HasSubstr("(ConstantOfShape shape=[] value=prod(?q0))"));
  EXPECT_TRUE(parse_rules(free).has_value());
  EXPECT_EQ(relaxed(kConvolutions, free_window(op("Conv"))), "nothing");
}

TEST(Relaxation, FreesAxes) {
  constexpr const char* kRelu = R"(
  (Concat axis=1 (Relu ?x) (Relu ?y))
  => (Relu (Concat axis=1 ?x ?y))
  where rank(?x) == 2 and rank(?y) == 2 and dim(?x, 1) == dim(?y, 1)
)";
  const std::string free = relaxed(kRelu, free_axis(1));
  EXPECT_THAT(free, HasSubstr("(Concat axis=?k1 (Relu ?x) (Relu ?y))"));
  EXPECT_THAT(free, HasSubstr("(Relu (Concat axis=?k1 ?x ?y))"));
  EXPECT_THAT(free, HasSubstr("dim(?x, ?k1) == dim(?y, ?k1)"));
  EXPECT_EQ(relaxed(kRelu, free_axis(0)), "nothing");
  const std::string back = relaxed(kRelu, axis_from_back(1));
  EXPECT_THAT(back, HasSubstr("(Concat axis=?k100 (Relu ?x) (Relu ?y))"));
  EXPECT_THAT(back, HasSubstr("(Relu (Concat axis=(rank(?x) - 1) ?x ?y))"));
  EXPECT_THAT(back, HasSubstr("normal(?k100, rank(?x)) == (rank(?x) - 1)"));
  EXPECT_TRUE(parse_rules(back).has_value());
  EXPECT_THAT(back, HasSubstr("dim(?x, -1) == dim(?y, -1)"));
}

TEST(Relaxation, FreesListsOfOneAxis) {
  constexpr const char* kSum = R"(
  (Add (ReduceSum axes=[1] keepdims=1 ?x) (ReduceSum axes=[1] keepdims=1 ?y))
  => (ReduceSum axes=[1] keepdims=1 (Add ?x ?y))
  where rank(?x) == 2 and rank(?y) == 2 and real(?x) and shape(?x) == shape(?y)
)";
  EXPECT_THAT(relaxed(kSum, free_axis(1)), HasSubstr("(ReduceSum axes=?k1 keepdims=1 (Add ?x ?y))"));
}

TEST(Relaxation, WidensNoRankBeyondThoseThatAreTried) {
  const std::string form = "(Relu (Relu ?x)) => (Relu ?x) where rank(?x) == ";
  EXPECT_THAT(relaxed(form + "3", widen_rank("x")), HasSubstr("rank(?x) >= 3"));
  EXPECT_EQ(relaxed(form + "4", widen_rank("x")), "nothing");
}

TEST(Generalize, TakesWhatTheCheckerConfirms) {
  const Rule rule = rule_of(R"(
  (MaxPool kernel_shape=[3, 3] strides=[1, 1] pads=[1, 1, 1, 1] (Relu ?x))
  => (Relu (MaxPool kernel_shape=[3, 3] strides=[1, 1] pads=[1, 1, 1, 1] ?x))
  where rank(?x) == 4 and real(?x)
)");
  RuleChecker checker;
  const auto general = generalize(rule, relaxations(rule), checker);
  ASSERT_TRUE(general.has_value());
  EXPECT_EQ(general->verdict.verdict, Verdict::Tested);
  EXPECT_EQ(print_term(general->rule.targets[0]), "(Relu (MaxPool ..maxpool kernel_shape=[3, 3] ?x))")
      << "the maximum of a smaller window may be that of pads only";
  EXPECT_TRUE(general->rule.conditions.empty()) << "the window says the rank: " << print_rule(general->rule);
}

TEST(Generalize, AsksForRealsWhereSumsAreReordered) {
  const Rule rule = rule_of(
      "(Add (Add ?x ?y) ?z) => (Add ?x (Add ?y ?z)) where rank(?x) == 1 and rank(?y) == 1 and "
      "rank(?z) == 1 and real(?x)");
  RuleChecker checker;
  const auto general = generalize(rule, relaxations(rule), checker);
  ASSERT_TRUE(general.has_value());
  EXPECT_EQ(general->rule.conditions.size(), 1U) << print_rule(general->rule);
  EXPECT_EQ(general->rule.conditions[0].name, "real");
}

// In double precision the two are equal to the last bit.
TEST(Generalize, AsksForRealsWhereOneOperatorIsTheOthersParts) {
  const Rule rule = rule_of("(Mul ?x (Sigmoid ?x)) => (Swish ?x) where rank(?x) == 2 and real(?x)");
  RuleChecker checker;
  const auto general = generalize(rule, relaxations(rule), checker);
  ASSERT_TRUE(general.has_value());
  ASSERT_EQ(general->rule.conditions.size(), 1U) << print_rule(general->rule);
  EXPECT_EQ(print_expr(general->rule.conditions[0]), "real(?x)");
}

// Not every permutation is its own inverse.
TEST(Generalize, FallsBackWhereTheMostGeneralFormIsFalse) {
  const Rule rule = rule_of(R"(
  (Transpose perm=[1, 0] (Transpose perm=[1, 0] ?x))
  => ?x
  where rank(?x) == 2 and real(?x)
)");
  RuleChecker checker;
  const auto general = generalize(rule, relaxations(rule), checker);
  ASSERT_TRUE(general.has_value());
  const std::string text = print_rule(general->rule);
  EXPECT_THAT(text, HasSubstr("?p0 == (range(rank(?x) - 2) ++ [rank(?x) - 1, rank(?x) - 2])"));
  EXPECT_THAT(text, Not(HasSubstr("rank(?x) ==")));
  EXPECT_THAT(text, Not(HasSubstr("real"))) << "movements move any elements";
}

TEST(Generalize, MakesNothingOfWhatIsFalse) {
  const Rule rule = rule_of(R"(
  (MatMul ?x ?y)
  => (MatMul ?y ?x)
  where rank(?x) == 2 and rank(?y) == 2 and real(?x)
)");
  RuleChecker checker;
  EXPECT_FALSE(generalize(rule, relaxations(rule), checker).has_value());
}

}  // namespace
}  // namespace isomer
