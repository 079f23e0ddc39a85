#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/rules/builtin.h"
#include "isomer/rules/expr.h"

namespace isomer {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
  const auto rules = parse_rules(text);
  return rules ? "parsed" : rules.error().message;
}

TEST(ParseRules, PrintedRulesReadBackEqual) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  for (const Rule& rule : *rules) {
    const std::string text = print_rule(rule);
    const auto again = parse_rules(text);
    ASSERT_TRUE(again.has_value()) << again.error().message << "\n" << text;
    EXPECT_EQ(again->at(0).hash(), rule.hash()) << text;
    EXPECT_EQ(again->at(0).doc, rule.doc);
    EXPECT_EQ(print_rule(again->at(0)), text);
  }
}

TEST(ParseRules, HashIsOfWhatARuleSays) {
  const auto rules = parse_rules(
      "# doc\nrule a (Relu ?x) => ?x\n"
      "rule b\n  (Relu   ?x)  # comment\n  => ?x\n"
      "rule c (Abs ?x) => ?x\n");
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  EXPECT_EQ(rules->at(0).hash(), rules->at(1).hash());
  EXPECT_NE(rules->at(0).hash(), rules->at(2).hash());
  EXPECT_EQ(rules->at(0).doc, "doc");
  EXPECT_EQ(rules->at(1).doc, "");
}

TEST(ParseRules, CommentRightAboveIsTheDoc) {
  const auto rules = parse_rules(
      "# far\n\n# first\n# second\nrule a (Relu ?x) => ?x\n\n# of b\nrule b (Relu ?x)\n  # inside\n  => ?x\n"
      "rule c (Abs ?x) => ?x\n");
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  EXPECT_EQ(rules->at(0).doc, "first\nsecond");
  EXPECT_EQ(rules->at(1).doc, "of b");
  EXPECT_EQ(rules->at(2).doc, "");
}

TEST(ParseRules, ErrorsNameTheLine) {
  EXPECT_THAT(error_of("rule a (Relu ?x)\n  => ?x\n\nrule b\n  (Frobnicate ?x)\n  => ?x"), HasSubstr("line 5"));
  EXPECT_THAT(error_of("rule a (Frobnicate ?x) => ?x"), HasSubstr("unknown operator 'Frobnicate'"));
  EXPECT_THAT(error_of("rule a (Relu ?x)\n  => ?y"), HasSubstr("'y' is not bound by the source"));
  EXPECT_THAT(error_of("rule a (Relu slope=1 ?x) => ?x"), HasSubstr("Relu has no attribute 'slope'"));
  EXPECT_THAT(error_of("rule a (Relu ?x) => ?x where weird(?x)"), HasSubstr("unknown function 'weird'"));
  EXPECT_THAT(error_of("rule a (Relu ?x) => ?x\nrule a (Abs ?x) => ?x"), HasSubstr("a second rule is called 'a'"));
  EXPECT_THAT(error_of("rule a ?x => ?x"), HasSubstr("must be an operator"));
  EXPECT_THAT(error_of("rule a (Relu ?x => ?x"), HasSubstr("line 1"));
  EXPECT_THAT(error_of("rule a (Relu ?x) => ?x where rank(?x) == 99999999999999999999"), HasSubstr("an integer"));
  EXPECT_NE(error_of("rule"), "parsed");
  EXPECT_NE(error_of("rule a (Relu ?x) => let ?x = (Abs ?x) ?x"), "parsed");
}

TEST(ParseRules, EveryPrefixOfARuleIsAnErrorOrARule) {
  const std::string text =
      "rule a (Conv ..c ?x @w)... choose ?g in [1, 2] => let ?y = (Relu ?x) ?y where len(@w) >= 2 and not ?g == 1.5";
  for (size_t n = 0; n <= text.size(); ++n) parse_rules(text.substr(0, n));
  EXPECT_EQ(error_of(text), "parsed");
}

TEST(ParseRules, EveryFunctionHasADescriptionThatNamesIt) {
  for (const auto& [name, help] : rule_functions()) {
    EXPECT_THAT(help, HasSubstr(name));
    EXPECT_TRUE(is_rule_function(name));
  }
}

}  // namespace
}  // namespace isomer
