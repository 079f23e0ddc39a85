// Rules with an operator variable.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/rules/builtin.h"
#include "isomer/rules/testing.h"

namespace isomer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kBelow =
    "# {F}(x^T) = {F}(x)^T\n"
    "rule below-{F}\n"
    "  for F in Relu, HardSwish\n"
    "  (F (Transpose perm=?p ?x))\n"
    "  => (Transpose perm=?p (F ?x))\n";

std::string family_error(const std::string& text) {
  const auto file = parse_rule_file(text);
  return file ? "parsed" : file.error().message;
}

RuleFile file_of(const std::string& text) {
  auto file = parse_rule_file(text);
  EXPECT_TRUE(file.has_value()) << file.error().message;
  return file ? std::move(*file) : RuleFile();
}

std::vector<std::string> rule_names(const RuleFile& file) {
  std::vector<std::string> out;
  for (const Rule& rule : file.rules) out.push_back(rule.name);
  return out;
}

TEST(RuleFamily, HasOneRuleForEachOperator) {
  const RuleFile file = file_of("rule before (Neg ?x) => ?x\n\n" + std::string(kBelow) + "rule after (Abs ?x) => ?x\n");
  EXPECT_THAT(rule_names(file), ElementsAre("before", "below-relu", "below-hard-swish", "after"));
  const Rule& rule = file.rules[2];
  EXPECT_EQ(print_rule(rule),
            "# hard-swish(x^T) = hard-swish(x)^T\n"
            "rule below-hard-swish\n"
            "  (HardSwish (Transpose perm=?p ?x))\n"
            "  => (Transpose perm=?p (HardSwish ?x))\n");
  EXPECT_EQ(rule.family, "below-{F}");
  EXPECT_EQ(file.rules[0].family, "");
  ASSERT_EQ(file.families.size(), 1U);
  EXPECT_EQ(print_family(file.families[0]), kBelow);
  EXPECT_THAT(rules_called(file.rules, "below-{F}"), ElementsAre("below-relu", "below-hard-swish"));
  EXPECT_THAT(rules_called(file.rules, "below-relu"), ElementsAre("below-relu"));
  EXPECT_THAT(rules_called(file.rules, ""), IsEmpty());
}

TEST(RuleFamily, RulesAreTheSameAsWrittenAlone) {
  const RuleFile file = file_of(kBelow);
  const RuleFile alone = file_of("rule relu (Relu (Transpose perm=?p ?x)) => (Transpose perm=?p (Relu ?x))");
  EXPECT_EQ(file.rules[0].hash(), alone.rules[0].hash());
  EXPECT_EQ(file.rules[0].sources, alone.rules[0].sources);
  EXPECT_EQ(file.rules[0].targets, alone.rules[0].targets);
}

TEST(RuleFamily, NamesOfOperatorsAreHyphenated) {
  EXPECT_THAT(rule_names(file_of(
                  "rule {F}-x for F in Relu, HardSwish, ReduceL2, LSTM, PRelu, MatMul (F ..c @x) => (F ..c @x)")),
              ElementsAre("relu-x", "hard-swish-x", "reduce-l2-x", "lstm-x", "p-relu-x", "mat-mul-x"));
}

TEST(RuleFamily, AttributesAreThoseOfEachOperator) {
  EXPECT_THAT(rule_names(file_of("rule {F} for F in Relu, Clip, MaxPool (F ..c (F ..c ?x)) => (F ..c ?x)")),
              ElementsAre("relu", "clip", "max-pool"));
  EXPECT_THAT(family_error("rule a-{F}\n  for F in Softmax, Relu\n  (F axis=?a ?x)\n  => ?x"),
              HasSubstr("rule 'a-{F}': F = Relu: line 3: Relu has no attribute 'axis'"));
}

TEST(RuleFamily, TacticsMayNameFamilies) {
  const RuleFile file = file_of("tactic t seed a then below-{F}, a\n" + std::string(kBelow) + "rule a (Abs ?x) => ?x");
  EXPECT_EQ(file.tactics[0].stages[0].then, (std::vector<std::string>{"below-relu", "below-hard-swish", "a"}));
  EXPECT_THAT(family_error("tactic t seed a-{F}\n" + std::string(kBelow)), HasSubstr("there is no rule 'a-{F}'"));
}

TEST(RuleFamily, ErrorsNameTheLineAndTheOperator) {
  const auto error = [](const std::string& operators, const std::string& body = "(F ?x) => ?x") {
    return family_error("\nrule a-{F}\n  for " + operators + "\n  " + body);
  };
  EXPECT_EQ(error("F in Relu, Abs"), "parsed");
  EXPECT_THAT(error("F in Relu, Frobnicate"), HasSubstr("rule 'a-{F}': line 3: unknown operator 'Frobnicate'"));
  EXPECT_THAT(error("F in"), HasSubstr("line 4: expected a name before '(F"));
  EXPECT_THAT(error("F in Relu,"), HasSubstr("line 4: expected a name before '(F"));
  EXPECT_THAT(error("F in Relu, Abs, Relu"), HasSubstr("line 3: the operator 'Relu' is listed twice"));
  EXPECT_THAT(error("F in Relu, Add"), HasSubstr("rule 'a-{F}': F = Add: line 4: Add takes 2 operands, not 1"));
  EXPECT_THAT(error("F Relu"), HasSubstr("line 3: expected 'in'"));
  EXPECT_THAT(error("G in Relu", "(G ?x) => ?x"), HasSubstr("line 3: the name 'a-{F}' lacks '{G}'"));
  EXPECT_THAT(error("F in Relu", "(Abs ?x) => (F ?x)"), HasSubstr("line 4: the source does not use the operator"));
  EXPECT_THAT(error("F in Relu", "(G ?x) => ?x"), HasSubstr("line 4: unknown operator 'G'"));
  EXPECT_THAT(family_error("rule {Abs} for Abs in Relu (Abs ?x) => ?x"), HasSubstr("has the name of an operator"));
  EXPECT_THAT(family_error("rule {F}-{F} for F in Relu (F ?x) => ?x"), HasSubstr("other braces"));
  EXPECT_THAT(family_error("rule {F}-{G for F in Relu (F ?x) => ?x"), HasSubstr("other braces"));
  EXPECT_THAT(family_error("rule a-{F} (F ?x) => ?x"), HasSubstr("no operator variable"));
  EXPECT_THAT(family_error("rule relu (Neg ?x) => ?x\nrule {F} for F in Relu (F ?x) => ?x"),
              HasSubstr("a second rule is called 'relu'"));
  EXPECT_THAT(family_error(std::string(kBelow) + kBelow), HasSubstr("a second rule is called 'below-{F}'"));
}

TEST(RuleFamily, EveryPrefixIsAnErrorOrAFile) {
  const std::string text = std::string(kBelow) + "tactic t seed below-{F}";
  for (size_t n = 0; n <= text.size(); ++n) parse_rule_file(text.substr(0, n));
  EXPECT_EQ(family_error(text), "parsed");
}

TEST(RuleFamily, BuiltInFilePrintsAndReadsBackEqual) {
  const RuleFile file = builtin_rule_file().value();
  EXPECT_FALSE(file.families.empty());
  const std::string text = print_rule_file(file);
  const RuleFile again = file_of(text);
  EXPECT_EQ(print_rule_file(again), text);
  EXPECT_EQ(rule_names(again), rule_names(file));
  ASSERT_EQ(again.rules.size(), file.rules.size());
  for (size_t i = 0; i < file.rules.size(); ++i) EXPECT_EQ(again.rules[i].hash(), file.rules[i].hash());
  EXPECT_EQ(again.tactics, file.tactics);
}

}  // namespace
}  // namespace isomer
