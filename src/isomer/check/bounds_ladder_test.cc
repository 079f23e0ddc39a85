#include "isomer/check/bounds_ladder.h"

#include <gtest/gtest.h>

#include "isomer/check/coverage.h"

namespace isomer {
namespace {

std::vector<Ladder> of(const std::string& text) {
  const auto rules = parse_rules("rule r\n" + text);
  EXPECT_TRUE(rules.has_value()) << (rules ? "" : rules.error().message);
  return rules ? ladders(rules->at(0)) : std::vector<Ladder>();
}

TEST(BoundsLadder, BoundsOnlyWhatThePatternHas) {
  const auto plain = of("(Add ?x ?y) => (Add ?y ?x)");
  ASSERT_EQ(plain.size(), 2U);
  EXPECT_EQ(bounds_text(plain[0].rungs[0]), "extents <= 3");
  EXPECT_EQ(bounds_text(plain[0].rungs[1]), "extents <= 2");
  EXPECT_EQ(bounds_text(plain[1].rungs[0]), "extents 0 or 1 or 2");
  const auto joined = of("(Concat axis=?a @x) => (Concat axis=?a @x)");
  ASSERT_EQ(joined.size(), 3U);
  EXPECT_TRUE(joined[1].for_attributes);
  EXPECT_EQ(bounds_text(joined[0].rungs[1]), "extents <= 3, lengths <= 3, odd attributes <= 2");
}

TEST(BoundsLadder, GroupsWantExtentsToDivide) {
  const auto grouped = of("(Conv ..c ?x ?w) => (Conv ..c ?x ?w)");
  ASSERT_EQ(grouped.size(), 7U);
  EXPECT_EQ(bounds_text(grouped[2].rungs[0]), "extents 2 or 4 but for broadcasting");
}

TEST(BoundsLadder, RulesThatBindGroupsGetManyChannels) {
  const auto grouped = of("(Conv group=?g ..c ?x ?w) => (Conv group=?g ..c ?x ?w)");
  ASSERT_EQ(grouped.size(), 8U);
  EXPECT_EQ(grouped[3].rungs[0].extents, (Ints{2, 6, 8}));
}

TEST(BoundsLadder, WindowsAreTriedWithoutChannelsAndChannelsWithoutWindows) {
  const auto pooled = of("(MaxPool ..p ?x) => (MaxPool ..p ?x)");
  ASSERT_EQ(pooled.size(), 6U);
  EXPECT_EQ(bounds_text(pooled[2].rungs[0]), "extents <= 3, spatial <= 1, plain windows");
  EXPECT_EQ(bounds_text(pooled[2].rungs[2]), "extents 1 or 3, spatial <= 1, plain windows, odd attributes <= 1");
  EXPECT_EQ(bounds_text(pooled[3].rungs[0]), "extents <= 1, spatial <= 3, odd attributes <= 2");
}

TEST(BoundsLadder, RungsDiffer) {
  for (const Ladder& ladder : of("(Conv ..c ?x @w)... => (Conv ..c ?x @w)..."))
    for (size_t i = 1; i < ladder.rungs.size(); ++i) EXPECT_FALSE(ladder.rungs[i - 1] == ladder.rungs[i]);
}

TEST(Coverage, NeighbouringRanksStandTogether) {
  Coverage coverage;
  EXPECT_EQ(coverage.str(), "");
  const InstanceBounds wide{.rank = 0, .max_sequence = 1};
  const InstanceBounds narrow{.rank = 2, .extents = {1, 2}, .max_sequence = 1, .max_others = 1};
  coverage.add(wide, 1);
  coverage.add({.rank = 1, .max_sequence = 1}, 3);
  coverage.add(narrow, 4);
  coverage.leave_out(DType::Double, 3);
  coverage.add({.element = DType::Int64, .rank = 0, .max_sequence = 1}, 1);
  EXPECT_EQ(coverage.str(),
            "f64 rank 0-1 (extents <= 3, all 4), rank 2 (extents <= 2, other than 2 <= 1, all 4), rank 3 left out; i64 "
            "rank 0 (extents <= 3, all 1)");
}

}  // namespace
}  // namespace isomer
