#include "isomer/optimize/explain.h"

#include <gmock/gmock.h>

#include "isomer/cost/roofline.h"
#include "isomer/rules/builtin.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kTwoProducts = R"(
  input x: f32[64,3]
  input v: f32[3,4]
  w = f32[3,4]{seed 1}
  a = MatMul(x, v)
  b = MatMul(x, w)
  y = Add(a, b)
  return y)";

Result<std::vector<Place>> places(const std::string& rule, const std::string& node = "") {
  RooflineCost costs;
  return explain(parsed(kTwoProducts), builtin_rules().value(), costs, {.rule = rule, .node = node});
}

TEST(Explain, TellsWhatARewriteWouldCost) {
  const auto found = places("factor-product-left");
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->at(0).node, "y");
  EXPECT_TRUE(found->at(0).applies) << found->at(0).reason;
  RooflineCost costs;
  EXPECT_LT(found->at(0).cost_us.value_or(1e9), costs.metrics(parsed(kTwoProducts))->latency_us);
}

TEST(Explain, NamesTheConditionThatFails) {
  const auto found = places("merge-products-shared-left");
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 2U);
  for (const Place& place : *found) {
    EXPECT_FALSE(place.applies);
    EXPECT_THAT(place.reason, HasSubstr("does not hold"));
  }
}

TEST(Explain, NamesWhatStandsInTheWay) {
  const auto found = places("factor-add", "y");
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->at(0).reason, "there is a MatMul where Mul is expected");
}

TEST(Explain, FindsANodeByAnyOfItsResults) {
  const Graph graph = parsed(
      "input x: f32[4]\n a, b = Split(x) {axis=0, split=[2,2]}\n u, v = Split(a) {axis=0, split=[1,1]}\n"
      " return b, u, v");
  RooflineCost costs;
  for (const char* name : {"a", "b", "v"})
    EXPECT_TRUE(explain(graph, builtin_rules().value(), costs, {.node = name}).has_value()) << name;
}

TEST(Explain, SaysThatAWeightCannotBeStored) {
  RooflineCost costs;
  const Graph graph = parsed(
      "input x: f32[4]\n a = f32[4]{fill 1e30}\n b = f32[4]{fill 1e30}\n p = Mul(x, a)\n y = Mul(p, b)\n return y");
  const auto found = explain(graph, builtin_rules().value(), costs, {.node = "y"});
  ASSERT_TRUE(found.has_value());
  size_t refused = 0;
  for (const Place& place : *found) {
    if (place.reason.find("would be stored as inf") == std::string::npos) continue;
    EXPECT_FALSE(place.applies) << place.rule;
    ++refused;
  }
  EXPECT_GT(refused, 0U);
}

TEST(Explain, KnowsTheBlocksThatTheDevicePrefers) {
  const Graph graph = parsed(
      "input x: f32[1,3,4,4]\n w = f32[20,3,1,1]{seed 1}\n"
      " y = Conv(x, w) {strides=[1,1], dilations=[1,1], pads=[0,0,0,0]}\n return y");
  const auto flops = [&](const std::vector<int64_t>& blocks) {
    RooflineCost costs({}, {.flops_per_second = 1e6, .kernel_overhead_us = 0, .channel_blocks = blocks});
    std::vector<double> out;
    const auto found = explain(graph, builtin_rules().value(), costs, {.rule = "pad-output-channels"});
    for (const Place& place : found.value())
      if (place.applies) out.push_back(place.cost_us.value_or(0));
    return out;
  };
  const auto both = flops({});
  ASSERT_EQ(both.size(), 2U);
  EXPECT_LT(both[0], both[1]) << "24 and 32 channels";
  EXPECT_EQ(flops({8}), std::vector{both[0]});
  EXPECT_EQ(flops({16}), std::vector{both[1]});
}

TEST(Explain, RefusesUnknownNames) {
  EXPECT_THAT(places("no-such-rule").error().message, HasSubstr("no-such-rule"));
  EXPECT_THAT(places("factor-add", "nowhere").error().message, HasSubstr("nowhere"));
}

}  // namespace
}  // namespace isomer
