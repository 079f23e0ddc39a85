#include "isomer/check/rule_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "isomer/base/parallel.h"
#include "isomer/check/instances.h"
#include "isomer/rules/builtin.h"
#include "isomer/rules/rule_testing.h"

namespace isomer {
namespace {

using ::testing::HasSubstr;

size_t count_instances(const Rule& rule, const InstanceBounds& bounds) {
  size_t n = 0;
  EXPECT_TRUE(for_each_instance(rule, bounds, 1 << 20, [&](const Instance&) { return ++n > 0; }));
  return n;
}

TEST(RuleCheck, FalseRulesAreRefutedWithACounterexample) {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(ISOMER_SOURCE_DIR "/rulesets/false"))
    files.insert(entry.path());
  EXPECT_FALSE(files.empty());
  for (const auto& file : files) {
    const auto rules = load_rules(file.string());
    ASSERT_TRUE(rules.has_value()) << rules.error().message;
    std::vector<RuleVerdict> verdicts(rules->size());
    parallel_for(rules->size(), 2, 1, [&](size_t i, size_t) { verdicts[i] = check_rule((*rules)[i]); });
    for (size_t i = 0; i < rules->size(); ++i) {
      EXPECT_EQ(verdicts[i].verdict, Verdict::Refuted) << (*rules)[i].name << ": " << verdicts[i].how;
      EXPECT_THAT(verdicts[i].counterexample, HasSubstr("return")) << (*rules)[i].name;
    }
  }
}

TEST(RuleCheck, TrueRuleIsTestedAndStatesItsBounds) {
  const RuleVerdict verdict = check_rule(rule("(Relu (Relu ?x)) => (Relu ?x)"));
  EXPECT_EQ(verdict.verdict, Verdict::Tested);
  EXPECT_EQ(verdict.instances, 242U);  // 121 shapes, floating-point and integer
  EXPECT_THAT(verdict.how, HasSubstr("f64 rank 0-4 (extents <= 3, all 121), rank 0-4 (extents 0 or 1 or 2, all 121); "
                                     "i64 rank 0-4"));
}

TEST(RuleCheck, RuleThatNeverAppliesIsUnknown) {
  const RuleVerdict verdict = check_rule(rule("(Relu ?x) => ?x where rank(?x) == 9"));
  EXPECT_EQ(verdict.verdict, Verdict::Unknown);
  EXPECT_EQ(verdict.how, "no instance within bounds");
}

TEST(RuleCheck, RuleThatHardlyEverAppliesIsUnknown) {
  const RuleVerdict verdict = check_rule(rule("(Relu (Relu ?x)) => (Relu ?x) where shape(?x) == [2, 3]"));
  EXPECT_EQ(verdict.verdict, Verdict::Unknown);
  EXPECT_EQ(verdict.how, "only 2 instances within bounds");
}

TEST(RuleCheck, EverythingNotTrivialStandsTogetherInOneInstance) {
  const RuleVerdict verdict =
      check_rule(rule("(Neg (Conv ..c ?x ?w)) => (Conv ..c ?x (Neg ?w)) where weight(?w) and real(?x)"));
  EXPECT_EQ(verdict.verdict, Verdict::Tested) << verdict.how << verdict.counterexample;
  EXPECT_THAT(verdict.how, HasSubstr("at once Conv dilations, Conv group, Conv pads, Conv pads uneven, Conv strides, "
                                     "w wide, x wide;"));
}

TEST(RuleCheck, BoundsThatShowLessThanLargerInstancesAreTooNarrow) {
  const Rule negated = rule("(Neg (Conv ..c ?x ?w)) => (Conv ..c ?x (Neg ?w)) where weight(?w) and real(?x)");
  const RuleVerdict verdict = check_rule(negated, {.max_instances = 40});
  EXPECT_EQ(verdict.verdict, Verdict::Unknown);
  EXPECT_THAT(verdict.how, HasSubstr("too narrow"));
}

TEST(RuleCheck, SelectionsByConstantsAreTried) {
  const std::string relu = "(Relu (Gather axis=1 ?x ?i)) => (Gather axis=1 (Relu ?x) ?i)";
  EXPECT_EQ(check_rule(rule(relu + " where weight(?i)")).verdict, Verdict::Tested);
  EXPECT_EQ(check_rule(rule(relu)).verdict, Verdict::Tested);
  const RuleVerdict swapped = check_rule(
      rule("(Gather axis=0 (Gather axis=0 ?x ?i) ?j) => (Gather axis=0 (Gather axis=0 ?x ?j) ?i) where weight(?i) and "
           "weight(?j)"));
  EXPECT_EQ(swapped.verdict, Verdict::Refuted) << swapped.how;
}

TEST(RuleCheck, RuleThatHoldsForRealsAloneIsRefutedByIntegers) {
  const std::string text = "(Add (Div ?x ?z) (Div ?y ?z)) => (Div (Add ?x ?y) ?z)";
  EXPECT_EQ(check_rule(rule(text)).verdict, Verdict::Refuted);
  EXPECT_EQ(check_rule(rule(text + " where real(?x)")).verdict, Verdict::Tested);
}

TEST(RuleCheck, RuleThatIsAlmostTrueIsNotTested) {
  // Equal to seven digits, but not exactly.
  const RuleVerdict verdict = check_rule(rule("(Mul ?x 2.0) => (Mul ?x 2.0000000001) where real(?x)"));
  EXPECT_EQ(verdict.verdict, Verdict::Unknown);
  EXPECT_THAT(verdict.how, HasSubstr("not shown exactly"));
}

TEST(RuleCheck, RuleThatRoundsOtherwiseMustAskForReals) {
  const std::string text = "(Add (Add ?x ?y) ?z) => (Add ?x (Add ?y ?z))";
  const RuleVerdict verdict = check_rule(rule(text));
  EXPECT_EQ(verdict.verdict, Verdict::Unknown);
  EXPECT_THAT(verdict.how, HasSubstr("real(...)"));
  EXPECT_EQ(check_rule(rule(text + " where real(?x)")).verdict, Verdict::Tested);
}

// Double precision does not show it: the kernel of the one operator computes like those of its parts.
TEST(RuleCheck, RuleThatRoundsOnceForTwiceMustAskForReals) {
  for (const std::string text : {"(Mul ?x (Sigmoid ?x)) => (Swish ?x) where rank(?x) <= 2",
                                 "(Add (MatMul ?x ?w) ?b) => (Gemm ?x ?w ?b) where rank(?b) == 1",
                                 "(Sqrt (ReduceSumSquare ..r ?x)) => (ReduceL2 ..r ?x) where rank(?x) <= 2"}) {
    const RuleVerdict verdict = check_rule(rule(text));
    EXPECT_EQ(verdict.verdict, Verdict::Unknown) << text;
    EXPECT_THAT(verdict.how, HasSubstr("real(...)")) << text;
    EXPECT_EQ(check_rule(rule(text + " and real(?x)")).verdict, Verdict::Tested) << text;
  }
}

// Equal over the reals, but e^1000 is too large for any type.
TEST(RuleCheck, RuleMustNotOverflowWhereItsSourceDoesNot) {
  const std::string softmax = "(Softmax axis=-1 ?x)";
  const std::string parts = "(Div (Exp ?x) (ReduceSum axes=[rank(?x) - 1] keepdims=1 (Exp ?x)))";
  const RuleVerdict verdict = check_rule(rule(softmax + " => " + parts + " where real(?x)"));
  EXPECT_EQ(verdict.verdict, Verdict::Unknown);
  EXPECT_THAT(verdict.how, HasSubstr("overflows"));
  for (const std::string& text :
       std::vector<std::string>{"(Div (Exp ?x) (ReduceSum axes=?k keepdims=1 (Exp ?x))) => " + softmax +
                                    " where ?k == [rank(?x) - 1] and real(?x)",
                                "(Sigmoid ?x) => (Div 1.0 (Add 1.0 (Exp (Neg ?x)))) where real(?x)"})
    EXPECT_EQ(check_rule(rule(text)).verdict, Verdict::Tested) << text << check_rule(rule(text)).how;
}

TEST(RuleCheck, RuleMayGiveANumberForNaNButNotNaNForANumber) {
  const std::string root = "(Sub (Add (Relu ?x) (Sqrt ?x)) (Sqrt ?x))";
  const RuleVerdict number = check_rule(rule(root + " => (Relu ?x) where real(?x)"));
  EXPECT_EQ(number.verdict, Verdict::Tested) << number.how;
  EXPECT_EQ(check_rule(rule("(Relu ?x) => " + root + " where real(?x)")).verdict, Verdict::Refuted);
}

TEST(RuleCheck, RuleThatMovesOrChoosesNeedNotAskForReals) {
  for (const char* text : {"(Transpose ..t (Exp ?x)) => (Exp (Transpose ..t ?x))", "(Add ?x ?x) => (Mul ?x 2.0)",
                           "(Relu (MaxPool ..p ?x)) => (MaxPool ..p (Relu ?x)) where all(?p.pads, 0)"})
    EXPECT_EQ(check_rule(rule(text)).verdict, Verdict::Tested) << text << check_rule(rule(text)).how;
}

TEST(RuleCheck, UninterpretedFunctionsKeepTheirArguments) {
  EXPECT_EQ(check_rule(rule("(Exp (Add ?x ?y)) => (Exp (Add ?y ?x)) where real(?x)")).verdict, Verdict::Tested);
}

TEST(Instances, CoverEveryShapeOfTheirRank) {
  EXPECT_EQ(count_instances(rule("(Relu ?x) => ?x"), {.rank = 0}), 1U);
  EXPECT_EQ(count_instances(rule("(Relu ?x) => ?x"), {.rank = 3}), 27U);
  EXPECT_EQ(count_instances(rule("(Relu ?x) => ?x"), {.rank = 3, .extents = {1, 2}}), 8U);
}

TEST(Instances, HaveTheExtentsOfTheirAxes) {
  const InstanceBounds bounds{.rank = 4, .extents = {1, 3}, .spatial = {2}};
  EXPECT_EQ(count_instances(rule("(Relu ?x) => ?x"), bounds), 4U);
  InstanceBounds counted = bounds;
  counted.max_others = 1;  // no more of the first two axes; the spatial ones do not count
  counted.extents = {2, 3};
  counted.spatial = {1, 3};
  EXPECT_EQ(count_instances(rule("(Relu ?x) => ?x"), counted), 3U * 4U);
}

TEST(Instances, MayHavePlainWindows) {
  const InstanceBounds bounds{.rank = 3, .extents = {1}, .spatial = {2}};
  InstanceBounds plain = bounds;
  plain.plain_windows = true;
  const Rule pool = rule("(LpPool kernel_shape=[1] p=2 ..p ?x) => ?x");
  EXPECT_GT(count_instances(pool, bounds), 8 * count_instances(pool, plain));
  EXPECT_GT(count_instances(pool, plain), 0U);
}

TEST(Instances, AreEmptyOnlyWhereThatIsAllowed) {
  EXPECT_EQ(count_instances(rule("(Relu ?x) => ?x"), {.rank = 2, .extents = {0, 2}}), 4U);
  EXPECT_EQ(count_instances(rule("(Slice axes=[0] starts=[2] ends=[3] steps=[1] ?x) => ?x"), {.rank = 1}), 1U);
  EXPECT_EQ(
      count_instances(rule("(Slice axes=[0] starts=[2] ends=[3] steps=[1] ?x) => ?x"), {.rank = 1, .extents = {0, 2}}),
      2U);
}

TEST(Instances, CoverEveryAttributeAndCountThoseThatAreNotDefaults) {
  EXPECT_EQ(count_instances(rule("(Transpose perm=?p ?x) => ?x"), {.rank = 3, .extents = {1}}), 6U);
  const Rule concat = rule("(Concat axis=?a ?x ?y) => (Concat axis=?a ?x ?y)");
  EXPECT_EQ(count_instances(concat, {.rank = 2, .extents = {1}}), 4U);  // axes 0, 1, -2, -1
  EXPECT_EQ(count_instances(concat, {.rank = 2, .extents = {1}, .max_non_default = 0}), 2U);
}

TEST(Instances, CoverEveryListOfPositions) {
  const Rule gather = rule("(Gather axis=0 ?x ?i) => ?x where weight(?i)");
  EXPECT_EQ(count_instances(gather, {.rank = 1, .extents = {2}}), 4U + 16U);  // -2, -1, 0, 1, and pairs of them
  EXPECT_EQ(count_instances(gather, {.rank = 1, .extents = {2}, .max_non_default = 0}), 2U + 4U);
}

TEST(Instances, CountExtentsOtherThanTwo) {
  const Rule sum = rule("(Add ?x ?y) => ?x");
  EXPECT_EQ(count_instances(sum, {.rank = 1, .extents = {2}}), 3U);  // a vector with a vector or scalar
  EXPECT_EQ(count_instances(sum, {.rank = 1, .extents = {1, 2}, .max_others = 1}), 3U + 4U);
  EXPECT_EQ(count_instances(sum, {.rank = 1, .extents = {2}, .max_others = 0, .free_broadcasts = true}), 3U + 2U);
}

TEST(Instances, RepetitionsShareTheirLength) {
  const Rule concat = rule("(Concat axis=0 (Relu @x)...) => (Relu (Concat axis=0 @x))");
  EXPECT_EQ(count_instances(concat, {.rank = 1, .extents = {1, 2}}), 2U + 4U + 8U);
  EXPECT_EQ(count_instances(concat, {.rank = 1, .extents = {1, 2}, .max_sequence = 2}), 2U + 4U);
}

TEST(Instances, ConditionsChooseWeightsAndPrune) {
  size_t n = 0;
  const Rule product = rule("(MatMul ?x ?w) => (MatMul ?x ?w) where weight(?w) and rank(?x) == 2 and rank(?w) == 2");
  for_each_instance(product, {.rank = 2}, 1 << 20, [&](const Instance& instance) {
    const auto graph = instance.build(1);
    EXPECT_TRUE(graph.has_value());
    EXPECT_EQ(graph->inputs().size(), 1U);
    return ++n > 0;
  });
  EXPECT_EQ(n, 27U);
}

TEST(Instances, ListsOfIntegersArePositions) {
  // With 2 elements, counted from the front or the back: 4 lists of one, 16 of two.
  EXPECT_EQ(count_instances(rule("(Gather axis=0 ?x {?i}) => ?x"), {.rank = 1, .extents = {2}}), 16U);
  EXPECT_EQ(count_instances(rule("(Gather axis=0 ?x {?i}) => ?x where distinct(?i) and nonnegative(?i)"),
                            {.rank = 1, .extents = {2}}),
            2U);
}

TEST(RuleCheck, MergedGroupsAreTriedWhereGroupsAreLeft) {
  const std::string groups =
      "(Conv group=?g ..c ?x ?w) => (Conv group=(?g / 2) ..c ?x\n"
      "  (Reshape shape=[dim(?w, 0), 2 * dim(?w, 1), dim(?w, 2)]\n"
      "    (Mul (Reshape shape=[?g / 2, 2, dim(?w, 0) / ?g, 1, dim(?w, 1), dim(?w, 2)] ?w)\n"
      "      (Reshape shape=[1, 2, 1, 2, 1, 1] (EyeLike (ConstantOfShape shape=[2, 2] value=0.0))))))\n"
      "  where ?g % 2 == 0 and weight(?w) and rank(?w) == 3 and real(?x)";
  EXPECT_EQ(check_rule(rule(groups)).verdict, Verdict::Tested);
  EXPECT_GT(check_rule(rule(groups + " and ?g == 4 and dim(?w, 1) == 2")).instances, 0U);
}

}  // namespace
}  // namespace isomer
