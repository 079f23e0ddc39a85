#include <gtest/gtest.h>

#include <set>

#include "isomer/proof/axiom_hash.h"
#include "isomer/proof/verify_rule.h"
#include "isomer/rules/builtin.h"

namespace isomer {
namespace {

TEST(BuiltinVerdicts, EveryRuleThatComesWithIsomerHasAVerdictOfThisChecker) {
  const auto lock = builtin_lock();
  ASSERT_TRUE(lock.has_value()) << lock.error().message;
  auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  const auto discovered = load_rules(ISOMER_SOURCE_DIR "/rulesets/discovered.rules");
  ASSERT_TRUE(discovered.has_value()) << discovered.error().message;
  rules->insert(rules->end(), discovered->begin(), discovered->end());
  for (const Rule& rule : *rules) {
    const LockEntry* entry = lock->find(rule);
    ASSERT_NE(entry, nullptr) << rule.name << " has changed: see docs/reference/rules.md, Verdicts";
    EXPECT_EQ(entry->name, rule.name);
    EXPECT_EQ(entry->axioms, axioms_hash(rule))
        << "an axiom that " << rule.name
        << " rests on has changed: run `isomer rules verify --write rulesets/verdicts.lock`";
    EXPECT_TRUE(entry->verdict == Verdict::Tested || entry->verdict == Verdict::Proved) << rule.name;
    const bool bounded = entry->verdict != Verdict::Tested || entry->how.find(", all ") != std::string::npos;
    EXPECT_TRUE(bounded) << rule.name << " states no bounds";
  }
  EXPECT_EQ(lock->entries.size(), rules->size()) << "the lock has verdicts of rules that are gone";
}

TEST(BuiltinVerdicts, QuickRulesHaveTheSameVerdictAgain) {
  const std::set<std::string> quick{"drop-identity",
                                    "drop-relu-of-relu",
                                    "transposed-product",
                                    "transpose-product",
                                    "product-with-transposed-left",
                                    "associate-product-left",
                                    "associate-product-right",
                                    "join-products",
                                    "product-with-bias",
                                    "drop-cast"};
  const auto lock = builtin_lock();
  ASSERT_TRUE(lock.has_value()) << lock.error().message;
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  size_t tried = 0;
  for (const Rule& rule : *rules) {
    const LockEntry* entry = lock->find(rule);
    if (!quick.contains(rule.name) || entry == nullptr) continue;
    ++tried;
    const RuleVerdict again = verify_rule(rule);
    EXPECT_EQ(entry->verdict, again.verdict) << rule.name;
    EXPECT_EQ(entry->how, again.how)
        << rule.name << ": the checker has changed: count kCheckerVersion up and run `isomer rules verify --write "
        << "rulesets/verdicts.lock`";
  }
  EXPECT_EQ(tried, quick.size());
}

TEST(BuiltinVerdicts, AnotherOperatorIsAnotherAxiom) {
  const auto rules = parse_rules(
      "rule a\n(Relu (Relu ?x))\n=> (Relu ?x)\n"
      "rule b\n(Relu ?x)\n=> (Relu (Relu ?x))\n"
      "rule c\n(Abs (Abs ?x))\n=> (Abs ?x)\n");
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  EXPECT_EQ(axioms_hash((*rules)[0]), axioms_hash((*rules)[1]));
  EXPECT_NE(axioms_hash((*rules)[0]), axioms_hash((*rules)[2]));
}

}  // namespace
}  // namespace isomer
