#include "isomer/base/printable.h"

#include <gtest/gtest.h>

namespace isomer {
namespace {

using namespace std::string_literals;

TEST(Printable, OrdinaryNamesStayAsTheyAre) {
  for (const std::string name : {"", "conv1/weight:0", "a b", "C:\\models", "größe", "层", "\U0001F642"})
    EXPECT_EQ(printable(name), name);
}

TEST(Printable, WhatATerminalObeysIsEscaped) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable("a\0b"s), "a\\x00b");
  EXPECT_EQ(printable("a\nb\r\tc\x7f"), "a\\nb\\r\\tc\\x7f");
  EXPECT_EQ(printable("\u009b"
                      "2J"),
            "\\u009b2J");
  EXPECT_EQ(printable("\u202e"
                      "evil\u2028"),
            "\\u202eevil\\u2028");
}

TEST(Printable, BytesThatAreNotUtf8AreEscaped) {
  EXPECT_EQ(printable("a\xff"), "a\\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                    // truncated
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");           // NUL in an overlong encoding
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
}

TEST(Printable, EscapingTwiceChangesNothing) {
  const std::string once = printable("\x1b\n\xff\\");
  EXPECT_EQ(printable(once), once);
}

TEST(Printable, LinesMayStay) { EXPECT_EQ(printable_lines("a\x1b\nb\r\n"), "a\\x1b\nb\\r\n"); }

}  // namespace
}  // namespace isomer
