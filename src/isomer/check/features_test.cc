#include "isomer/check/features.h"

#include <gtest/gtest.h>

#include "isomer/rules/rule.h"

namespace isomer {
namespace {

/// Returns the features of all instances of a pattern within bounds.
std::set<Features> shown(const std::string& pattern, const InstanceBounds& bounds) {
  const auto rules = parse_rules("rule r\n" + pattern);
  EXPECT_TRUE(rules.has_value()) << (rules ? "" : rules.error().message);
  std::set<Features> out;
  if (rules)
    for_each_instance(rules->at(0), bounds, 1 << 20, [&](const Instance& instance) {
      out.insert(features_of(instance));
      return true;
    });
  return out;
}

TEST(Features, NameWhatIsNotTrivial) {
  const auto transposed = shown("(Transpose perm=?p ?x) => ?x", {.rank = 2, .extents = {1, 2}});
  EXPECT_EQ(transposed, (std::set<Features>{{}, {"x wide"}, {"Transpose perm"}, {"Transpose perm", "x wide"}}));
  const auto padded =
      shown("(MaxPool pads=?p kernel_shape=?k strides=[1] dilations=[1] ?x) => ?x", {.rank = 3, .extents = {2}});
  EXPECT_TRUE(padded.contains({"MaxPool kernel_shape", "MaxPool pads", "MaxPool pads uneven", "x wide"}));
  EXPECT_TRUE(padded.contains({"MaxPool kernel_shape", "x wide"}));
}

TEST(Features, SequenceIsWideWhenAllOfItAre) {
  const auto joined = shown("(Concat axis=0 @x) => @x", {.rank = 1, .extents = {1, 2}, .max_sequence = 2});
  EXPECT_EQ(joined, (std::set<Features>{{"Concat axis"}, {"Concat axis", "x wide"}}));
}

TEST(Features, PairsThatOnlyOthersShowAreLacking) {
  ShownFeatures shown;
  shown.add({"a", "b"});
  shown.add({"c"});
  ShownFeatures other;
  other.add({"a"});
  other.add({"a", "b"});
  EXPECT_FALSE(shown.lacks(other).has_value());
  other.add({"b", "c"});
  EXPECT_EQ(shown.lacks(other), (std::pair<std::string, std::string>("b", "c")));
  EXPECT_EQ(shown.largest(), (Features{"a", "b"}));
}

}  // namespace
}  // namespace isomer
