#include "isomer/base/deadline.h"

#include <gtest/gtest.h>

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
  for (const Deadline& one : {asked, asked.within(1e4), asked.undivided(), asked.extended(1, 0)}) {
    stop = false;
    EXPECT_FALSE(one.passed());
    stop = true;
    EXPECT_TRUE(one.passed());
    EXPECT_STREQ(one.reason(), "interrupted");
  }
}

}  // namespace
}  // namespace isomer
