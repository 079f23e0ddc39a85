#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/base/file.h"
#include "isomer/rules/builtin.h"
#include "isomer/rules/functions.h"

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
  EXPECT_THAT(error_of("rule a (Conv ..c ?x ..w @b) => ?x"), HasSubstr("a second record of attributes next to '..c'"));
  EXPECT_THAT(error_of("rule a (Softmax axis=?k axis=1 ?x) => ?x"), HasSubstr("a second attribute 'axis'"));
  EXPECT_THAT(error_of("rule a (Relu ?x) => ?x where rank(?x) == 99999999999999999999"), HasSubstr("an integer"));
  EXPECT_THAT(error_of("rule a (Softmax axis=?k+1 ?x) => ?x"), HasSubstr("'k' is not bound by the source"));
  EXPECT_EQ(error_of("rule a (Softmax axis=?k (Softmax axis=?k+1 ?x)) => ?x"), "parsed");
  EXPECT_THAT(error_of("rule a (Sum @v (Relu @w)...)... => (Sum @v)..."),
              HasSubstr("a repeated term in a repeated term"));
  EXPECT_NE(error_of("rule"), "parsed");
  const auto repeated = [](const std::string& part, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += part;
    return out;
  };
  for (const char* deep : {"[", "(", "not ", "1[", "rank(?x)[", "dim("})
    EXPECT_THAT(error_of("rule a (Relu ?x) => ?x where " + repeated(deep, 100000)),
                HasSubstr("nested deeper than 128"));
  EXPECT_THAT(error_of("rule a " + repeated("(Relu ", 100000)), HasSubstr("nested deeper than 128"));
  for (const char* chain : {" + 1", " or 1", "[1]", " * 1", " and 1"})
    EXPECT_THAT(error_of("rule a (Relu ?x) => ?x where 1" + repeated(chain, 100000)),
                HasSubstr("more than 2000 parts"));
  EXPECT_EQ(error_of("rule a (Relu ?x) => ?x where 1" + repeated(" + 1", 900) + " == 901"), "parsed");
  EXPECT_NE(error_of("rule a (Relu ?x) => let ?x = (Abs ?x) ?x"), "parsed");
}

TEST(ParseRules, OperatorsTakeTheirNumberOfOperands) {
  EXPECT_THAT(error_of("rule a\n  (Relu ?x ?y) => ?x"), HasSubstr("line 2: Relu takes 1 operand, not 2"));
  EXPECT_THAT(error_of("rule a (Conv ?x) => ?x"), HasSubstr("Conv takes 2 to 3 operands, not 1"));
  EXPECT_THAT(error_of("rule a (Concat axis=0) => 1.0"), HasSubstr("Concat takes at least 1 operand, not 0"));
  EXPECT_THAT(error_of("rule a (Relu ?x ?y @z) => ?x"), HasSubstr("Relu takes 1 operand, not 2"));
  EXPECT_EQ(error_of("rule a (Relu @x) => (Concat axis=0 (Relu @x)...)"), "parsed");
}

TEST(ParseRules, BlocksAreListed) {
  const std::string text = "rule a\n  (Relu ?x)\n  choose block ?m in [8, 16]\n  => (Add ?x {[?m]})\n";
  const auto rules = parse_rules(text);
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  EXPECT_TRUE((*rules)[0].choices.at(0).block);
  EXPECT_EQ(print_rule((*rules)[0]), text);
  const auto plain = parse_rules("rule a (Relu ?x) choose ?m in [8, 16] => (Add ?x {[?m]})");
  ASSERT_TRUE(plain.has_value()) << plain.error().message;
  EXPECT_NE(print_rule((*plain)[0]), text);
  EXPECT_EQ((*plain)[0].hash(), (*rules)[0].hash()) << "one verdict: it covers all candidates";
  EXPECT_THAT(error_of("rule a (Relu ?x)\n  choose block ?m in divisors(8) => ?x"),
              HasSubstr("line 2: the candidates for the block ?m must be listed, such as [8, 16]"));
  EXPECT_THAT(error_of("rule a (Relu ?x) choose block ?m in [] => ?x"), HasSubstr("must be listed"));
  EXPECT_NE(error_of("rule a (Relu ?x) choose block in [8] => ?x"), "parsed");
}

TEST(ParseRules, EveryPrefixOfARuleIsAnErrorOrARule) {
  const std::string text =
      "rule a (Conv ..c ?x @w)... choose ?g in [1, 2] => let ?y = (Relu ?x) ?y where len(@w) >= 2 and not ?g == 1.5";
  for (size_t n = 0; n <= text.size(); ++n) parse_rules(text.substr(0, n));
  EXPECT_EQ(error_of(text), "parsed");
}

TEST(ParseRules, TacticsNameRulesOfTheFile) {
  const std::string rules = "rule a (Relu ?x) => ?x\nrule b (Abs ?x) => ?x\n";
  const auto file = parse_rule_file("# far away\n\n# all of it\ntactic t\n  seed a\n  then a, b\n  seed b\n" + rules);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  ASSERT_EQ(file->tactics.size(), 1U);
  EXPECT_EQ(file->tactics[0], (Tactic{"t", "all of it", {{{"a"}, {"a", "b"}}, {{"b"}, {}}}}));
  EXPECT_EQ(print_tactic(file->tactics[0]), "# all of it\ntactic t\n  seed a\n  then a,\n    b\n  seed b\n");
  EXPECT_EQ(file->rules.size(), 2U);
  const auto empty_lines = parse_rule_file("# a\n#\n# b\n#\ntactic t seed a\n" + rules);
  ASSERT_TRUE(empty_lines.has_value()) << empty_lines.error().message;
  EXPECT_EQ(empty_lines->tactics[0].doc, "a\n\nb\n");
  EXPECT_EQ(print_tactic(empty_lines->tactics[0]), "# a\n#\n# b\n#\ntactic t\n  seed a\n");
  EXPECT_THAT(error_of(rules + "tactic t seed a then c"), HasSubstr("tactic 't': there is no rule 'c'"));
  EXPECT_THAT(error_of(rules + "tactic t seed a\ntactic t seed b"), HasSubstr("a second tactic is called 't'"));
  EXPECT_THAT(error_of(rules + "tactic t then a"), HasSubstr("expected 'seed'"));
  EXPECT_NE(error_of(rules + "tactic t seed a,"), "parsed");
  EXPECT_NE(error_of(rules + "tactic"), "parsed");
}

TEST(ParseRules, BuiltInTacticsReadBackEqual) {
  const auto file = builtin_rule_file();
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_FALSE(file->tactics.empty());
  std::string text;
  for (const Rule& rule : file->rules) text += print_rule(rule);
  for (const Tactic& tactic : file->tactics) text += print_tactic(tactic);
  const auto again = parse_rule_file(text);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->tactics, file->tactics);
}

TEST(ParseRules, ListsOfIntegersBindInTheSourceAlone) {
  EXPECT_EQ(error_of("rule a (Gather axis=1 ?x {?i}) => (Gather axis=1 ?x {?i ++ [1]})"), "parsed");
  EXPECT_THAT(error_of("rule a (Gather axis=1 ?x {[1]}) => ?x"), HasSubstr("line 1"));
  EXPECT_THAT(error_of("rule a (Relu ?x) => (Gather axis=1 ?x {?i})"), HasSubstr("'i' is not bound"));
  EXPECT_NE(error_of("rule a (Gather axis=1 ?x {?i) => ?x"), "parsed");
  const auto odd = parse_rules("rule a (Relu ?x) => (Gather axis=(not ?x) ?x {(not (rank(?x) == 1))})");
  ASSERT_TRUE(odd.has_value()) << odd.error().message;
  EXPECT_TRUE(parse_rules(print_rule(odd->at(0))).has_value()) << print_rule(odd->at(0));
}

TEST(ParseRules, EveryFunctionIsDescribed) {
  const std::string page = read_file(ISOMER_SOURCE_DIR "/docs/reference/rules.md").value();
  for (const RuleFunction& function : all_rule_functions()) {
    EXPECT_THAT(page, HasSubstr(fmt::format("`{}(", function.name)));
    EXPECT_EQ(find_rule_function(function.name), &function);
  }
}

}  // namespace
}  // namespace isomer
