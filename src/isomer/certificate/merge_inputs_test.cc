#include "isomer/certificate/merge_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/certificate/merge_inputs_testing.h"
#include "isomer/eval/compare.h"

namespace isomer::replay {
namespace {

using ::testing::HasSubstr;

std::vector<MergedInput> both() { return {{1, "p", {"a", "b"}}, {1, "m", {"ma", "mb"}}}; }

TEST(MergeInputs, StepsComputeTheSame) {
  const Model step = testing::small_step();
  const auto merged = merge_inputs(step, both());
  ASSERT_TRUE(merged.has_value()) << merged.error().message;
  ASSERT_EQ(merged->graph.inputs().size(), 3U);
  EXPECT_EQ(input_name(*merged, 1), "p");
  EXPECT_EQ(output_name(*merged, 2), "new/m");
  EXPECT_EQ(input_default(*merged, 1)->dims(), (std::vector<int64_t>{2, 8}));
  EXPECT_TRUE(merged->graph.is_weight(merged->graph.inputs()[1]));
  const auto before = testing::steps_of(step, 4), after = testing::steps_of(*merged, 4);
  for (size_t i = 0; i < before.size(); ++i) {
    const auto expected = merge_outputs(step, both(), before[i]);
    ASSERT_TRUE(expected.has_value()) << expected.error().message;
    const auto comparison = compare_outputs(after[i], *expected, {0, 0});
    ASSERT_TRUE(comparison.has_value()) << comparison.error().message;
    EXPECT_EQ(comparison->max_abs(), 0) << "step " << i;
  }
}

TEST(MergeInputs, PartsMayBeInAnyOrder) {
  const Model step = testing::small_step();
  std::vector<MergedInput> merged = both();
  for (MergedInput& one : merged) std::ranges::reverse(one.parts);
  const auto reversed = merge_inputs(step, merged);
  ASSERT_TRUE(reversed.has_value()) << reversed.error().message;
  EXPECT_EQ(input_name(*reversed, 1), "p");
  const auto expected = merge_outputs(step, merged, testing::steps_of(step, 1)[0]);
  ASSERT_TRUE(expected.has_value());
  EXPECT_EQ(compare_outputs(testing::steps_of(*reversed, 1)[0], *expected, {0, 0})->max_abs(), 0);
}

TEST(MergeInputs, NothingToMergeIsTheModel) {
  const Model step = testing::small_step();
  EXPECT_EQ(merge_inputs(step, {})->graph.hash(), step.graph.hash());
}

TEST(MergeInputs, RefusesWhatCannotBeMerged) {
  const Model step = testing::small_step();
  const auto problem = [&](const std::function<void(std::vector<MergedInput>&)>& change) -> std::string {
    std::vector<MergedInput> merged = both();
    change(merged);
    const auto out = merge_inputs(step, merged);
    return out ? "" : out.error().message;
  };
  EXPECT_EQ(problem([](auto&) {}), "");
  EXPECT_THAT(problem([](auto& m) { m[0].parts[1] = "c"; }), HasSubstr("input 'c' does not exist"));
  EXPECT_THAT(problem([](auto& m) { m[1].parts[0] = "a"; }), HasSubstr("'a' does not exist, or is merged twice"));
  EXPECT_THAT(problem([](auto& m) { m[0].parts.pop_back(); }), HasSubstr("fewer than two parts"));
  EXPECT_THAT(problem([](auto& m) { m[0].parts[1] = "x"; }), HasSubstr("output 'new/x' does not exist"));
  EXPECT_NE(problem([](auto& m) { m[0].axis = 0; }), "") << "extents differ along the other axis";
  EXPECT_NE(problem([](auto& m) { m[0].axis = 2; }), "");
  EXPECT_NE(problem([](auto& m) { m[0].axis = -1; }), "") << "axes are counted from the front";
  EXPECT_THAT(problem([](auto& m) { m[0].input = "x"; }), HasSubstr("'x'"));
  EXPECT_THAT(problem([](auto& m) { m[0].input = "ma"; }), HasSubstr("'ma'")) << "its value within the step";
  EXPECT_THAT(problem([](auto& m) { m[1].input = "p"; }), HasSubstr("'p'"));
}

TEST(MergeInputs, PartsNeedDefaults) {
  const Model step = testing::small_step();
  std::vector<Tensor> defaults(5);
  for (size_t i = 2; i < 5; ++i) defaults[i] = *input_default(step, i);
  const auto out = merge_inputs(with_defaults(step, defaults), both());
  ASSERT_FALSE(out.has_value());
  EXPECT_THAT(out.error().message, HasSubstr("input 'a' has no default"));
}

}  // namespace
}  // namespace isomer::replay
