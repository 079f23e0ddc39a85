#include "isomer/cost/objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

using testing::HasSubstr;

constexpr Metrics kMetrics{
    .latency_us = 100, .flops = 2e9, .bytes = 4e6, .kernels = 25, .critical_path_us = 60, .peak_bytes = 1000};

/// Returns the value of an expression, which (unlike an objective) may be a constant.
double value(const std::string& text) {
  const auto objective = Objective::parse("0 * kernels + " + text);
  EXPECT_TRUE(objective.has_value()) << (objective ? "" : objective.error().message);
  return objective ? (*objective)(kMetrics) : NAN;
}

std::string refusal(std::string_view text) {
  const auto objective = Objective::parse(text);
  return objective ? "(parsed)" : objective.error().message;
}

TEST(Objective, NamesEveryDimension) {
  EXPECT_EQ(value("latency_us"), 100);
  EXPECT_EQ(value("latency"), 100);
  EXPECT_EQ(value("flops"), 2e9);
  EXPECT_EQ(value("bytes"), 4e6);
  EXPECT_EQ(value("kernels"), 25);
  EXPECT_EQ(value("critical_path_us"), 60);
  EXPECT_EQ(value("peak_bytes"), 1000);
  EXPECT_EQ(value("memory"), 1000);
  EXPECT_EQ(Objective()(kMetrics), 100);
  EXPECT_EQ(Objective::parse("memory + 1")->text(), "memory + 1");
}

TEST(Objective, CalculatesAsUsual) {
  EXPECT_EQ(value("latency_us + 0.1*kernels"), 102.5);
  EXPECT_EQ(value("1 + 2 * 3 - 4 / 2"), 5);
  EXPECT_EQ(value("10 - 3 - 2"), 5);
  EXPECT_EQ(value("16 / 4 / 2"), 2);
  EXPECT_EQ(value("(1 + 2) * -(3 - 5)"), 6);
  EXPECT_EQ(value("--3"), 3);
  EXPECT_EQ(value(" \t1e-3*memory+.5 "), 1.5);
}

TEST(Objective, WhatIsNotFiniteCostsInfinitelyMuch) {
  EXPECT_EQ(value("1 / (kernels - 25)"), INFINITY);
  EXPECT_EQ(value("-1 / (kernels - 25)"), INFINITY);
  EXPECT_EQ(value("(kernels - 25) / (kernels - 25)"), INFINITY);
}

TEST(Objective, WhatNeverHasAValueOrNeverDiffersIsRefused) {
  for (const char* wrong : {"1/0", "0 / 0", "latency / 0", "latency * (1 / 0)", "-(1/0)", "kernels / (bytes - bytes)"})
    EXPECT_THAT(refusal(wrong), HasSubstr("has no finite value")) << wrong;
  for (const char* wrong : {"1", "(1 + 2) * 3"}) EXPECT_THAT(refusal(wrong), HasSubstr("the same for all graphs"));
  for (const char* wrong : {"memory <= 1/0", "1/0 >= memory", "memory/0 <= 1", "1 <= 2"})
    EXPECT_FALSE(Objective().add_limit(wrong).has_value()) << wrong;
}

TEST(Objective, LimitsAreHard) {
  Objective objective;
  ASSERT_TRUE(objective.add_limit("peak_bytes <= 1000").has_value());
  EXPECT_EQ(objective(kMetrics), 100);
  ASSERT_TRUE(objective.add_limit("kernels >= latency / 4").has_value());
  EXPECT_EQ(objective(kMetrics), 100);
  ASSERT_TRUE(objective.add_limit("memory<=999.5").has_value());
  EXPECT_EQ(objective(kMetrics), INFINITY);
  for (const char* wrong : {"", "=", "peak_bytes", "peak_bytes < 5", "peak_bytes = 5", "<= 5", "5 <=", "1 <= 2 <= 3"})
    EXPECT_FALSE(objective.add_limit(wrong).has_value()) << wrong;
}

TEST(Objective, GuidesFromBeyondALimitToWithin) {
  Objective objective;
  ASSERT_TRUE(objective.add_limit("peak_bytes <= 100").has_value());
  const auto penalized = [&](double peak, double us) {
    return objective.penalized({.latency_us = us, .peak_bytes = peak});
  };
  EXPECT_EQ(penalized(100, 7), 7);
  EXPECT_TRUE(objective.within_limits({.peak_bytes = 100}));
  EXPECT_FALSE(objective.within_limits({.peak_bytes = 101}));
  EXPECT_GT(penalized(101, 7), kBeyondLimits);
  EXPECT_GT(penalized(102, 1), penalized(101, 7)) << "what is nearer to the limit comes first, whatever it costs";
  EXPECT_TRUE(std::isfinite(penalized(1e15, 7)));
  EXPECT_EQ(objective.limits(), std::vector<std::string>{"peak_bytes <= 100"});
}

TEST(Objective, SaysWhichLimitsAreExceeded) {
  Objective objective;
  for (const char* limit : {"peak_bytes <= 1000000", "2 * kernels >= latency_us", "flops <= 5"})
    ASSERT_TRUE(objective.add_limit(limit).has_value());
  EXPECT_EQ(objective.exceeded({}), "");
  EXPECT_EQ(objective.exceeded({.latency_us = 7.5, .kernels = 3, .peak_bytes = 171798691841}),
            "peak_bytes <= 1000000: 171798691841 > 1000000, 2 * kernels >= latency_us: 6 < 7.5");
}

TEST(Objective, ErrorsSayWhere) {
  EXPECT_THAT(refusal(""), HasSubstr("column 1: something is missing"));
  EXPECT_THAT(refusal("latency +"), HasSubstr("column 10: something is missing"));
  EXPECT_THAT(refusal("latency + speed"), HasSubstr("column 11: unknown 'speed'; there are: latency_us"));
  EXPECT_THAT(refusal("(flops"), HasSubstr("missing ')'"));
  EXPECT_THAT(refusal("flops)"), HasSubstr("column 6: unexpected ')'"));
  EXPECT_THAT(refusal("2 flops"), HasSubstr("column 3: unexpected 'f'"));
  EXPECT_THAT(refusal("1 ++ 2"), HasSubstr("unexpected '+'"));
  EXPECT_THAT(refusal("."), HasSubstr("not a number"));
  EXPECT_THAT(refusal("1e999"), HasSubstr("not a number"));
  EXPECT_THAT(refusal(std::string(100000, '(')), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal(std::string(100000, '-') + "1"), HasSubstr("nested too deeply"));
}

TEST(Objective, AnyTextIsParsedOrRefused) {
  constexpr std::string_view kPieces[] = {"latency", "kernels", "1", "2.5e3", "+", "-", "*",  "/",   "(",
                                          ")",       " ",       ".", "e",     "_", "x", "\n", "\xff"};
  Rng rng(7);
  int parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (uint64_t n = rng.below(8); n > 0; --n) text += kPieces[rng.below(std::size(kPieces))];
    const auto objective = Objective::parse(text);
    if (!objective) continue;
    ++parsed;
    EXPECT_FALSE(std::isnan((*objective)(kMetrics))) << text;
  }
  EXPECT_GT(parsed, 100);
}

TEST(Objective, KnowsWhetherMemoryOrPathsMatter) {
  EXPECT_FALSE(Objective().uses_paths());
  EXPECT_TRUE(Objective::parse("latency + critical_path_us / 4").value().uses_paths());
  EXPECT_FALSE(Objective().uses_memory());
  EXPECT_TRUE(Objective::parse("memory").value().uses_memory());
  EXPECT_TRUE(Objective::parse("latency + peak_bytes / 1000").value().uses_memory());
  Objective limited;
  ASSERT_TRUE(limited.add_limit("kernels <= 9").has_value());
  EXPECT_FALSE(limited.uses_memory());
  ASSERT_TRUE(limited.add_limit("2 * peak_bytes <= 1e6").has_value());
  EXPECT_TRUE(limited.uses_memory());
}

}  // namespace
}  // namespace isomer
