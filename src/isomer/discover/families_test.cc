#include "isomer/discover/families.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "isomer/base/file.h"
#include "isomer/discover/rule_names.h"
#include "isomer/discover/testing.h"
#include "isomer/rules/builtin.h"

namespace isomer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Rule> canonical_rules(const std::vector<std::string>& texts) {
  std::vector<Rule> out;
  for (const std::string& text : texts) out.push_back(with_canonical_names(rule_of(text)));
  return out;
}

RuleFile file_in_families(const std::vector<Rule>& rules) {
  auto file = parse_rule_file(print_in_families(rules));
  EXPECT_TRUE(file.has_value()) << file.error().message;
  return file ? std::move(*file) : RuleFile();
}

/// The texts of rules, up to the names of variables and records and the order of conditions.
std::multiset<std::string> canonical_texts(const std::vector<Rule>& rules) {
  std::multiset<std::string> out;
  for (const Rule& rule : rules) out.insert(print_rule(with_canonical_names(rule, RecordNames::Numbered)));
  return out;
}

/// The operators of each family.
std::vector<std::string> family_operators(const RuleFile& file) {
  std::vector<std::string> out;
  for (const RuleFamily& family : file.families) {
    std::string& line = out.emplace_back();
    for (const OpDef* op : family.ops) line += (line.empty() ? "" : " ") + op->name;
  }
  return out;
}

TEST(Families, HaveOneTextForEachOperator) {
  const std::vector<Rule> rules = canonical_rules({
      "(Tanh (Concat axis=?k0 ?x ?y)) => (Concat axis=?k0 (Tanh ?x) (Tanh ?y)) where real(?x) and rank(?y) == 2",
      "(Abs (Abs ?x)) => (Abs ?x)",
      "(Relu (Concat axis=?k1 ?b ?a)) => (Concat axis=?k1 (Relu ?b) (Relu ?a)) where rank(?a) == 2 and real(?b)",
  });
  const RuleFile file = file_in_families(rules);
  ASSERT_THAT(file.families, SizeIs(1));
  const std::string text = print_family(file.families[0]);
  EXPECT_THAT(text, testing::StartsWith("rule discovered-"));
  EXPECT_THAT(text, HasSubstr("-{F}\n"
                              "  for F in Relu, Tanh\n"
                              "  (F (Concat axis=?k0 ?a ?b))\n"
                              "  => (Concat axis=?k0 (F ?a) (F ?b))\n"
                              "  where rank(?b) == 2\n"
                              "    and real(?a)\n"));
  EXPECT_EQ(canonical_texts(file.rules), canonical_texts(rules));
  EXPECT_THAT(rules_called(file.rules, rules[1].name), SizeIs(1)) << "it is written alone";
}

TEST(Families, MayHaveRecordsOfAttributes) {
  const std::vector<Rule> rules = canonical_rules({
      "(Relu (AveragePool ..averagepool pads=?q0 (Transpose ..transpose ?x)))"
      " => (AveragePool ..averagepool pads=?q0 (Relu (Transpose ..transpose ?x)))"
      " where ?transpose.perm == [0, 1] and ?averagepool.strides == [1]",
      "(Relu (MaxPool ..maxpool pads=?q0 (Transpose ..transpose ?x)))"
      " => (MaxPool ..maxpool pads=?q0 (Relu (Transpose ..transpose ?x)))"
      " where ?maxpool.strides == [1] and ?transpose.perm == [0, 1]",
  });
  const RuleFile file = file_in_families(rules);
  ASSERT_THAT(family_operators(file), ElementsAre("AveragePool MaxPool"));
  EXPECT_THAT(print_family(file.families[0]), HasSubstr("(Relu (F ..r0 pads=?q0 (Transpose ..r1 ?a)))\n"
                                                        "  => (F ..r0 pads=?q0 (Relu (Transpose ..r1 ?a)))\n"
                                                        "  where ?r0.strides == [1]\n"
                                                        "    and ?r1.perm == [0, 1]\n"));
  EXPECT_EQ(canonical_texts(file.rules), canonical_texts(rules));
}

TEST(Families, KeepTheirNamesWhenAnOperatorIsAdded) {
  const std::string relu = "(Relu (Neg ?x)) => (Neg ?x)", tanh = "(Tanh (Neg ?x)) => (Neg ?x)";
  const RuleFile two = file_in_families(canonical_rules({relu, tanh}));
  const RuleFile three = file_in_families(canonical_rules({relu, tanh, "(Erf (Neg ?x)) => (Neg ?x)"}));
  ASSERT_THAT(family_operators(two), ElementsAre("Relu Tanh"));
  ASSERT_THAT(family_operators(three), ElementsAre("Erf Relu Tanh"));
  EXPECT_EQ(two.families[0].written.name, three.families[0].written.name);
  EXPECT_EQ(two.rules[0].name, three.rules[1].name);
  EXPECT_EQ(two.rules[0].hash(), canonical_rules({relu})[0].hash())
      << "the verdict of a rule does not depend on its family";
}

TEST(Families, DoNotOverlapAndTheLargestIsFirst) {
  const std::vector<Rule> rules = canonical_rules({
      "(Relu (Neg ?x)) => (Neg ?x)",
      "(Relu (Abs ?x)) => (Abs ?x)",
      "(Tanh (Abs ?x)) => (Abs ?x)",
      "(Erf (Abs ?x)) => (Abs ?x)",
  });
  const RuleFile file = file_in_families(rules);
  EXPECT_THAT(family_operators(file), ElementsAre("Erf Relu Tanh"));
  EXPECT_THAT(rules_called(file.rules, rules[0].name), SizeIs(1)) << "it is written alone";
  EXPECT_EQ(canonical_texts(file.rules), canonical_texts(rules));
}

TEST(Families, DifferInAnOperatorOfTheSourceAndNothingElse) {
  const std::vector<Rule> rules = canonical_rules({
      "(Neg (Neg ?x)) => (Relu ?x)",
      "(Neg (Neg ?x)) => (Abs ?x)",
      "(Add ?x (Neg ?y)) => (Sub ?x ?y)",
      "(Mul ?x (Neg ?y)) => (Sub ?y ?x)",
      "(Tanh (Concat axis=0 ?x)) => (Tanh ?x)",
      "(Erf (Concat axis=1 ?x)) => (Erf ?x)",
      "(Sqrt ?x) => ?x where real(?x)",
      "(Exp ?x) => ?x",
  });
  const RuleFile file = file_in_families(rules);
  EXPECT_THAT(file.families, IsEmpty());
  EXPECT_EQ(canonical_texts(file.rules), canonical_texts(rules));
}

TEST(Families, DoNotDependOnTheOrderOfTheRules) {
  std::vector<Rule> rules = load_rules(ISOMER_SOURCE_DIR "/rulesets/discovered.rules").value();
  const std::string text = print_in_families(rules);
  std::ranges::reverse(rules);
  EXPECT_EQ(print_in_families(rules), text);
}

// A slow test generates the file again.
TEST(Families, AreThoseOfTheDiscoveredRules) {
  const std::string text = read_file(ISOMER_SOURCE_DIR "/rulesets/discovered.rules").value();
  const RuleFile file = parse_rule_file(text).value();
  EXPECT_THAT(file.families, testing::Not(IsEmpty()));
  EXPECT_EQ("# Found by isomer rules generate. Not edited by hand.\n\n" + print_in_families(file.rules), text);
}

}  // namespace
}  // namespace isomer
