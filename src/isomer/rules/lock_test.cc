#include "isomer/rules/lock.h"

#include <gtest/gtest.h>

#include "isomer/rules/rule_testing.h"

namespace isomer {
namespace {

LockEntry entry_of(const Rule& rule, const std::string& name, Verdict verdict) {
  return {rule.hash(), name, verdict, kCheckerVersion, 1, "how", rule.content()};
}

TEST(Lock, TextRoundTrip) {
  const Rule first = rule("(Neg (Neg ?x)) => ?x where rank(?x) == 2 and real(?x)");
  const Rule second = rule("(Relu (Relu ?x)) => (Relu ?x)");
  Lock lock;
  lock.entries.push_back({second.hash(), "second", Verdict::Unknown, kCheckerVersion, 1, "", second.content()});
  lock.entries.push_back(
      {first.hash(), "first", Verdict::Tested, kCheckerVersion, 0xfedc, "9 instances: f64 rank 2", first.content()});
  const std::string text = print_lock(lock);
  const auto again = parse_lock(text);
  ASSERT_TRUE(again.has_value());
  ASSERT_EQ(again->entries.size(), 2U);
  EXPECT_EQ(again->entries[0].name, "first");
  EXPECT_EQ(again->entries[0].how, "9 instances: f64 rank 2");
  EXPECT_EQ(again->entries[0].content, "(Neg (Neg ?x)) => ?x where rank(?x) == 2 and real(?x)");
  EXPECT_EQ(again->find(first)->verdict, Verdict::Tested);
  EXPECT_EQ(again->find(first)->axioms, 0xfedcU);
  EXPECT_EQ(again->find(rule("(Neg ?x) => ?x")), nullptr);
  EXPECT_EQ(print_lock(*again), text);
}

TEST(Lock, AnotherRuleWithTheSameHashHasNoVerdict) {
  const Rule good = rule("(Neg (Neg ?x)) => ?x");
  const Rule bad = rule("(Neg ?x) => ?x");
  Lock lock;
  lock.entries.push_back(entry_of(good, "good", Verdict::Proved));
  lock.entries[0].hash = bad.hash();
  EXPECT_EQ(lock.find(bad), nullptr);
  EXPECT_NE(lock.find(good), nullptr);
}

TEST(Lock, AnEntryTakesThePlaceOfItsNamesake) {
  const Rule old = rule("(Neg (Neg ?x)) => ?x");
  const Rule fresh = rule("(Relu (Relu ?x)) => (Relu ?x)");
  Lock lock;
  for (const char* name : {"b", "a", "c"}) lock.put(entry_of(old, name, Verdict::Tested));
  lock.put(entry_of(fresh, "a", Verdict::Proved));
  lock.put(entry_of(fresh, "d", Verdict::Proved));
  std::vector<std::string> lines;
  const Lock again = parse_lock(print_lock(lock)).value();
  for (const LockEntry& entry : again.entries) lines.push_back(entry.name + " " + entry.content);
  const std::string neg = " (Neg (Neg ?x)) => ?x";
  const std::string relu = " (Relu (Relu ?x)) => (Relu ?x)";
  EXPECT_EQ(lines, (std::vector<std::string>{"a" + relu, "b" + neg, "c" + neg, "d" + relu}));
  EXPECT_EQ(lock.find(old)->name, "b") << "the old verdict of a is gone";
}

TEST(Lock, VerdictsOfAnotherCheckerAreVoid) {
  const Rule known = rule("(Neg (Neg ?x)) => ?x");
  Lock lock;
  lock.entries.push_back(entry_of(known, "old", Verdict::Tested));
  EXPECT_NE(lock.find(known), nullptr);
  ++lock.entries[0].checker;
  EXPECT_EQ(lock.find(known), nullptr);
}

TEST(Lock, EntriesWithoutContentMatchNoRule) {
  const Rule known = rule("(Neg (Neg ?x)) => ?x");
  const auto lock =
      parse_lock(fmt::format("{:016x} old proved {} 0000000000000001 how\n", known.hash(), kCheckerVersion));
  ASSERT_TRUE(lock.has_value()) << lock.error().message;
  EXPECT_EQ(lock->find(known), nullptr);
}

TEST(Lock, BadTextIsAnErrorWithItsLine) {
  for (const char* line : {"12 name tested 1 how", "00000000000000zz name tested 1 how", "0000000000000001",
                           "0000000000000001 name maybe 1 how", "0000000000000001 name tested one 0000000000000001 how",
                           "0000000000000001 name tested 1 how", "| (Neg (Neg ?x)) => ?x"}) {
    const auto lock = parse_lock("# comment\n" + std::string(line) + "\n");
    ASSERT_FALSE(lock.has_value()) << line;
    EXPECT_EQ(lock.error().message.substr(0, 7), "line 2:") << lock.error().message;
  }
}

}  // namespace
}  // namespace isomer
