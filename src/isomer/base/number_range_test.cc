#include "isomer/base/number_range.h"

#include <gtest/gtest.h>

#include <cmath>

namespace isomer {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(NumberRange, HoldsFiniteNumbersBetweenItsBounds) {
  for (const NumberRange range :
       {NumberRange{.min = 1}, NumberRange{.min = 1, .max = 8}, NumberRange{.min = 1, .open = true}}) {
    EXPECT_TRUE(range.check(2)) << range.str();
    EXPECT_TRUE(range.check(8)) << range.str();
    EXPECT_EQ(range.check(1).has_value(), !range.open) << range.str();
    for (const double outside : {0.5, -1e300, kInfinity, -kInfinity, std::nan(""), -std::nan("")})
      EXPECT_FALSE(range.check(outside)) << range.str() << ": " << outside;
  }
  EXPECT_FALSE((NumberRange{.min = 1, .max = 8}.check(8.5)));
}

TEST(NumberRange, SaysWhatItHolds) {
  EXPECT_EQ(NumberRange{.min = 1}.check(0).error().message, "must be a finite number of at least 1");
  EXPECT_EQ((NumberRange{.min = 0, .max = 3600}.str()), "a number from 0 to 3600");
  EXPECT_EQ((NumberRange{.min = 0, .open = true}.str()), "a finite number above 0");
  EXPECT_EQ(IntegerRange{.min = 0}.check(-1).error().message, "must be an integer from 0 to 9223372036854775807");
  EXPECT_EQ((IntegerRange{.min = 1, .max = 1024}.str()), "an integer from 1 to 1024");
}

TEST(IntegerRange, HoldsItsBounds) {
  const IntegerRange range{.min = 1, .max = 4};
  for (const int64_t inside : {1, 2, 4}) EXPECT_TRUE(range.check(inside));
  for (const int64_t outside : {INT64_MIN, int64_t{0}, int64_t{5}, INT64_MAX}) EXPECT_FALSE(range.check(outside));
}

}  // namespace
}  // namespace isomer
