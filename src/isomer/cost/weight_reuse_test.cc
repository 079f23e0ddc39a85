#include "isomer/cost/weight_reuse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "isomer/engine/ort/planner.h"
#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;

constexpr double kMegabyte = 1 << 20;

/// Rounded to a half power of two, like the distances.
auto about(double megabytes) {
  return testing::DoubleNear(std::exp2(std::round(2 * std::log2(megabytes * kMegabyte)) / 2), 1);
}

/// Returns the results of `look` for each product in a chain, given by the names of its weights (16 MB each, except a,
/// which has 8 KB).
template <class Look>
auto by_product(const std::string& chain, double footprint_megabytes, const Look& look) {
  std::string text = "input x: f32[4,2048]\n a = f32[2048,1]{fill 1}\n x_a = MatMul(x, a)\n";
  for (const char weight : {'u', 'v', 'w'})
    if (chain.find(weight) != std::string::npos)
      text += fmt::format("{} = f32[2048,2048]{{seed {}}}\n", weight, int{weight});
  std::string last = "x";
  for (size_t i = 0; i < chain.size(); ++i) {
    text += fmt::format("y{} = MatMul({}, {})\n", i, last, chain[i]);
    last = fmt::format("y{}", i);
  }
  const auto graph = parse_graph(text + "return x_a, " + last, find_op);
  if (!graph) throw std::runtime_error(graph.error().message);
  const KernelPlan plan = OrtPlanner(16).plan(*graph).value();
  const ConcreteTypes types(*graph, {});
  const WeightReuse reuse(*graph, plan, types, footprint_megabytes * kMegabyte);
  std::vector<decltype(look(reuse, 0))> out;
  for (size_t kernel = 1; kernel < plan.size(); ++kernel) out.push_back(look(reuse, kernel));
  return out;
}

std::vector<WeightReads> reads(const std::string& chain, double footprint_megabytes) {
  return by_product(chain, footprint_megabytes,
                    [](const WeightReuse& reuse, size_t kernel) { return reuse.of(kernel); });
}

TEST(WeightReuse, OneReaderFindsWeightsAsFarAwayAsTheFootprint) {
  EXPECT_THAT(reads("w", 40), ElementsAre(FieldsAre(about(40), 1, 0)));
  EXPECT_THAT(reads("w", 1e6), ElementsAre(FieldsAre(kFarthestWeights, 1, 0)));
  EXPECT_THAT(reads("w", 1), ElementsAre(FieldsAre(kNearestWeights, 1, 0)));
}

TEST(WeightReuse, TheFirstReaderFindsWhatTheLastOneOfTheRunBeforeHasLeft) {
  // Everything but v is in between; the second reader has w and v after it.
  EXPECT_THAT(reads("wvw", 112), ElementsAre(FieldsAre(about(96), 2, about(32)), FieldsAre(about(112), 1, 0),
                                             FieldsAre(about(32), 2, about(96))));
  // Nothing else is read within v's own span.
  EXPECT_THAT(reads("wvvvw", 64), ElementsAre(FieldsAre(about(48), 2, about(32)), FieldsAre(about(64), 3, about(16)),
                                              FieldsAre(about(16), 3, about(64)), FieldsAre(about(16), 3, about(64)),
                                              FieldsAre(about(32), 2, about(48))));
}

TEST(WeightReuse, CountsWhatIsReadTwiceOnce) {
  // Each has another weight after its last reader too.
  const auto first = FieldsAre(about(48), 3, about(32));
  const auto again = FieldsAre(about(32), 3, about(48));
  EXPECT_THAT(reads("wvwvwv", 48), ElementsAre(first, first, again, again, again, again));
  EXPECT_EQ(reads("wvvvvw", 48).back().distance, reads("wvw", 48).back().distance);
}

TEST(WeightReuse, WeightsThatAreNeverLeftAreAlwaysAsFarAway) {
  for (const WeightReads& one : reads("uvwuvwuvw", 48)) EXPECT_THAT(one, FieldsAre(about(48), 1, 0));
}

TEST(WeightReuse, WeightsThatStayInACacheAreNotFar) {
  const auto far = [](const std::string& chain, double footprint) {
    return by_product(chain, footprint,
                      [](const WeightReuse& reuse, size_t kernel) { return reuse.far_bytes(kernel); });
  };
  EXPECT_THAT(far("wv", 40), ElementsAre(16 * kMegabyte, 16 * kMegabyte));
  EXPECT_THAT(far("w", 1), ElementsAre(0)) << "the model is small";
}

}  // namespace
}  // namespace isomer
