#include "isomer/base/deadline.h"

#include <gtest/gtest.h>

#include <thread>

namespace isomer {
namespace {

TEST(Deadline, PartsOfItPassEarlier) {
  const Deadline day = Deadline::after(86400);
  EXPECT_TRUE(day.within(0).passed());
  EXPECT_FALSE(day.within(1e6).within(1e5).passed());
  EXPECT_LE(day.within(1e6).left(), 86400);
  EXPECT_TRUE(day.precludes(1e5));
  EXPECT_FALSE(day.precludes(1));
  EXPECT_GT(day.extended(2, 10).left(), 2 * 86400);
}

TEST(Deadline, AnUndividedOneHasNoParts) {
  const Deadline day = Deadline::after(86400).undivided();
  EXPECT_FALSE(day.within(0).passed());
  EXPECT_FALSE(day.precludes(1e5)) << "work may begin that an estimate says is too long";
  EXPECT_FALSE(day.extended(2, 10).within(0).passed());
  EXPECT_TRUE(Deadline::after(0).undivided().passed());
  EXPECT_TRUE(Deadline::after(0).undivided().precludes(0));
}

TEST(Deadline, AStopPassesAllThatComeOfIt) {
  bool stop = false;
  const Deadline asked = Deadline::after(86400, [&] { return stop; });
  const Deadline derived[] = {asked, asked.within(1e4), asked.undivided(), asked.extended(1, 0)};
  for (const Deadline& one : derived) EXPECT_FALSE(one.passed());
  stop = true;
  for (const Deadline& one : derived) {
    EXPECT_TRUE(one.passed());
    EXPECT_STREQ(one.reason(), "interrupted");
  }
}

TEST(Deadline, OnlyItsThreadAsksWhetherToStop) {
  int asked = 0;
  const Deadline day = Deadline::after(86400, [&] { return ++asked > 1; });
  const auto passed_elsewhere = [](const Deadline& one) {
    bool passed = false;
    std::thread([&] { passed = one.passed(); }).join();
    return passed;
  };
  EXPECT_FALSE(day.passed());
  EXPECT_FALSE(passed_elsewhere(day.within(1e4)));
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(day.extended(1, 0).passed());
  EXPECT_TRUE(passed_elsewhere(day.within(1e4)));
  EXPECT_TRUE(passed_elsewhere(day));
  EXPECT_EQ(asked, 2) << "once it has stopped, nobody is asked";
}

}  // namespace
}  // namespace isomer
