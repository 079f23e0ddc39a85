#include "isomer/verify/lock.h"

#include <gtest/gtest.h>

#include <set>

#include "isomer/rules/builtin.h"
#include "isomer/verify/axiom_hash.h"
#include "isomer/verify/verify_rule.h"

namespace isomer {
namespace {

TEST(Lock, EveryRuleThatComesWithIsomerHasAVerdictOfThisChecker) {
  const auto lock = builtin_lock();
  ASSERT_TRUE(lock.has_value()) << lock.error().message;
  auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  const auto discovered = load_rules(ISOMER_SOURCE_DIR "/rulesets/discovered.rules");
  ASSERT_TRUE(discovered.has_value()) << discovered.error().message;
  rules->insert(rules->end(), discovered->begin(), discovered->end());
  for (const Rule& rule : *rules) {
    const LockEntry* entry = lock->find(rule.hash());
    ASSERT_NE(entry, nullptr) << rule.name << " has changed: see docs/rules.md, Verdicts";
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

TEST(Lock, QuickRulesHaveTheSameVerdictAgain) {
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
    const LockEntry* entry = lock->find(rule.hash());
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

TEST(Lock, AnotherOperatorIsAnotherAxiom) {
  const auto rules = parse_rules(
      "rule a\n(Relu (Relu ?x))\n=> (Relu ?x)\n"
      "rule b\n(Relu ?x)\n=> (Relu (Relu ?x))\n"
      "rule c\n(Abs (Abs ?x))\n=> (Abs ?x)\n");
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  EXPECT_EQ(axioms_hash((*rules)[0]), axioms_hash((*rules)[1]));
  EXPECT_NE(axioms_hash((*rules)[0]), axioms_hash((*rules)[2]));
}

TEST(Lock, TextRoundTrip) {
  Lock lock;
  lock.entries.push_back({0xabc, "second", Verdict::Unknown, kCheckerVersion, 1, ""});
  lock.entries.push_back(
      {0x1234567890abcdef, "first", Verdict::Tested, kCheckerVersion, 0xfedc, "9 instances: f64 rank 2"});
  const std::string text = print_lock(lock);
  const auto again = parse_lock(text);
  ASSERT_TRUE(again.has_value());
  ASSERT_EQ(again->entries.size(), 2U);
  EXPECT_EQ(again->entries[0].name, "first");
  EXPECT_EQ(again->entries[0].how, "9 instances: f64 rank 2");
  EXPECT_EQ(again->find(0x1234567890abcdef)->verdict, Verdict::Tested);
  EXPECT_EQ(again->find(0x1234567890abcdef)->axioms, 0xfedcU);
  EXPECT_EQ(again->find(1), nullptr);
  EXPECT_EQ(print_lock(*again), text);
}

TEST(Lock, AnEntryTakesThePlaceOfItsNamesake) {
  Lock lock;
  for (const char* name : {"b", "a", "c"}) lock.put({1, name, Verdict::Tested, kCheckerVersion, 1, "old"});
  lock.put({2, "a", Verdict::Proved, kCheckerVersion, 1, "new"});
  lock.put({3, "d", Verdict::Proved, kCheckerVersion, 1, "new"});
  std::vector<std::string> lines;
  const Lock again = parse_lock(print_lock(lock)).value();
  for (const LockEntry& entry : again.entries) lines.push_back(entry.name + " " + entry.how);
  EXPECT_EQ(lines, (std::vector<std::string>{"a new", "b old", "c old", "d new"}));
  EXPECT_EQ(lock.find(1)->name, "b") << "the old verdict of a is gone";
}

TEST(Lock, VerdictsOfAnotherCheckerAreVoid) {
  Lock lock;
  lock.entries.push_back({7, "old", Verdict::Tested, kCheckerVersion + 1, 0, ""});
  EXPECT_EQ(lock.find(7), nullptr);
}

TEST(Lock, BadTextIsAnErrorWithItsLine) {
  for (const char* line : {"12 name tested 1 how", "00000000000000zz name tested 1 how", "0000000000000001",
                           "0000000000000001 name maybe 1 how", "0000000000000001 name tested one 0000000000000001 how",
                           "0000000000000001 name tested 1 how"}) {
    const auto lock = parse_lock("# comment\n" + std::string(line) + "\n");
    ASSERT_FALSE(lock.has_value()) << line;
    EXPECT_EQ(lock.error().message.substr(0, 7), "line 2:") << lock.error().message;
  }
}

}  // namespace
}  // namespace isomer
