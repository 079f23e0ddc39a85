// Tests the plots on made-up figures.

#include "isomer/repro/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/repro/ticks.h"

namespace isomer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

const Chart kCurves{.title = "Time & cost",
                    .x = {"alpha"},
                    .y = {"time", "s", true},
                    .series = {{"<first>", {{1, 0.01}, {2, 1}}}, {"second", {{1, 10}, {2, 100}}}}};

TEST(Svg, ChartsHaveTitleAxesWithUnitsAndLegend) {
  const std::vector<Picture> pictures{kCurves};
  const std::string svg = svg_of(pictures);
  EXPECT_THAT(svg, HasSubstr("<svg xmlns="));
  for (const char* text :
       {">Time &amp; cost<", ">alpha<", ">time (s)<", ">&lt;first&gt;<", ">second<", ">0.01<", ">100<"})
    EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_EQ(count(svg, "<circle"), 4U);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(Svg, PlacesValuesOnTheAxes) {
  const std::vector<Picture> pictures{kCurves};
  // The plot is 480 wide from 80, and 260 high from 40. Its axis goes from 0.01 to 100.
  EXPECT_THAT(svg_of(pictures), HasSubstr(R"(<circle cx="80.0" cy="300.0")"));
  EXPECT_THAT(svg_of(pictures), HasSubstr(R"(<circle cx="560.0" cy="170.0")"));
  EXPECT_THAT(svg_of(pictures), HasSubstr(R"(<circle cx="560.0" cy="40.0")"));
}

TEST(Svg, PointsOfSearchesThatWereCutOffAreRings) {
  const std::vector<Picture> pictures{
      Chart{.title = "Cut off", .x = {"x"}, .y = {"y"}, .series = {{"some", {{1, 1}, {2, 3, true}}}}}};
  const std::string svg = svg_of(pictures);
  EXPECT_EQ(count(svg, "<circle"), 2U + 1U);
  EXPECT_THAT(svg, HasSubstr(">ring: the search was cut off<"));
  EXPECT_THAT(svg, HasSubstr("<title>some: 3 (cut off)</title>"));
  EXPECT_THAT(svg_of(std::vector<Picture>{kCurves}), Not(HasSubstr("ring")));
}

TEST(Svg, BarsStandOverTheirCategories) {
  const std::vector<Picture> pictures{Chart{.title = "Bars",
                                            .x = {"network"},
                                            .y = {"latency", "ms"},
                                            .series = {{"before", {{0, 4}, {1, 2}}}, {"after", {{0, 2}, {1, 1}}}},
                                            .categories = {"a", "b"},
                                            .bars = true}};
  const std::string svg = svg_of(pictures);
  EXPECT_EQ(count(svg, "<title>before: "), 2U);
  EXPECT_THAT(svg, HasSubstr("<title>before: 4 ms</title>"));
  EXPECT_THAT(svg, HasSubstr(R"(height="260.0")"));  // 4 of 4
  EXPECT_THAT(svg, HasSubstr(">a<"));
}

TEST(Svg, HeatMapsHaveANumberInEachCell) {
  const std::vector<Picture> pictures{
      HeatMap{"Uses", {"network"}, {"rule"}, {"fold", "merge"}, {"a", "b"}, {{3, std::nullopt}, {1, 0}}}};
  const std::string svg = svg_of(pictures);
  EXPECT_EQ(count(svg, "<rect"), 1U + 3U);  // the background, and no cell without a number
  EXPECT_THAT(svg, HasSubstr(">fold<"));
  EXPECT_THAT(svg, HasSubstr(R"(fill="#08306b")"));  // the largest
  EXPECT_THAT(svg, HasSubstr(R"(fill="#ffffff")"));  // 0
}

TEST(Svg, StacksPictures) {
  const std::vector<Picture> both{kCurves, kCurves};
  EXPECT_THAT(svg_of(both), HasSubstr(R"(height="720")"));
  EXPECT_EQ(svg_of(both), svg_of(both));
}

TEST(Svg, EmptyChartsHaveAxes) {
  const std::vector<Picture> pictures{Chart{.title = "Nothing", .x = {"x"}, .y = {"y"}}};
  EXPECT_THAT(svg_of(pictures), HasSubstr(">Nothing<"));
}

TEST(AxisScale, HasRoundNumbers) {
  EXPECT_THAT(AxisScale({0.3, 9.2}, false, true).ticks(), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(AxisScale({0.02, 7}, true, false).ticks(), ElementsAre(0.01, 0.1, 1, 10));
  EXPECT_THAT(AxisScale({5, 5}, false, false).ticks(), ElementsAre(5, 5.2, 5.4, 5.6, 5.8, 6));
  EXPECT_DOUBLE_EQ(AxisScale({0.01, 100}, true, false).place(1), 0.5);
  EXPECT_EQ(tick_text(0.05), "0.05");
}

}  // namespace
}  // namespace isomer
