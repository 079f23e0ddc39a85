#include "isomer/rules/lock.h"

#include <gtest/gtest.h>
namespace isomer {
namespace {

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
