#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

constexpr int64_t kMax = INT64_MAX;

Attrs slice(Ints starts, Ints ends, Ints axes, Ints steps) {
  return {
      {"starts", std::move(starts)}, {"ends", std::move(ends)}, {"axes", std::move(axes)}, {"steps", std::move(steps)}};
}

TEST(Concat, AddsExtents) {
  EXPECT_EQ(infer("Concat", {{"axis", int64_t{-1}}}, {f32({kN, 3}), f32({kN, kN})}), "f32[N,N+3]");
  EXPECT_EQ(infer("Concat", {{"axis", int64_t{0}}}, {f32({1, kN}), f32({2, 5})}), "f32[3,5]");
  EXPECT_EQ(run_to<float>("Concat", {{"axis", int64_t{1}}},
                          {Tensor::floats({2, 1}, {1, 2}), Tensor::floats({2, 2}, {3, 4, 5, 6})}),
            (std::vector<float>{1, 3, 4, 2, 5, 6}));
  EXPECT_TRUE(refused("Concat", {{"axis", int64_t{0}}}, {f32({1, 2}), f32({1, 3})}));
  EXPECT_TRUE(refused("Concat", {{"axis", int64_t{0}}}, {f32({1}), i64({1})}));
  EXPECT_TRUE(refused("Concat", {{"axis", int64_t{2}}}, {f32({1, 2})}));
}

TEST(Split, GivesOneResultAPart) {
  const Attrs attrs{{"axis", int64_t{1}}, {"split", Ints{1, 2}}};
  EXPECT_EQ(infer("Split", attrs, {f32({kN, 3})}), "f32[N,1] f32[N,2]");
  EXPECT_TRUE(refused("Split", attrs, {f32({kN, 4})}));
  EXPECT_TRUE(refused("Split", {{"split", Ints{-1, 4}}}, {f32({3})}));
  const auto parts = run("Split", attrs, {Tensor::floats({2, 3}, {1, 2, 3, 4, 5, 6})});
  ASSERT_TRUE(parts);
  EXPECT_EQ((*parts)[1], Tensor::floats({2, 2}, {2, 3, 5, 6}));
}

TEST(Split, FillsInEqualParts) {
  EXPECT_EQ(normalized({.op_type = "Split", .opset = 13, .operands = {f32({6})}, .num_results = 3}),
            "Split {axis=0, split=[2,2,2]}");
  EXPECT_EQ(normalized({.op_type = "Split",
                        .opset = 18,
                        .attrs = {{"num_outputs", int64_t{3}}},
                        .operands = {f32({7})},
                        .num_results = 3}),
            "Split {axis=0, split=[3,3,1]}");
  EXPECT_EQ(normalized({.op_type = "Split", .opset = 13, .operands = {f32({kN})}, .num_results = 2}),
            "opaque: it splits an extent that is not known");
}

TEST(Slice, KeepsSymbols) {
  EXPECT_EQ(infer("Slice", slice({0}, {kMax}, {0}, {1}), {f32({kN, 3})}), "f32[N,3]");
  EXPECT_EQ(infer("Slice", slice({0}, {kMax}, {0}, {2}), {f32({kN * Dim(2)})}), "f32[N]");
  EXPECT_EQ(infer("Slice", slice({1}, {3}, {0}, {1}), {f32({kN + Dim(3)})}), "f32[2]");
  EXPECT_EQ(infer("Slice", slice({0}, {-1}, {0}, {1}), {f32({kN + Dim(1)})}), "f32[N]");
  // An extent that depends on the value of N is a symbol whose name shows why.
  EXPECT_EQ(infer("Slice", slice({1}, {kMax}, {0}, {1}), {f32({kN})}), "f32[slice(N:1:max:1)]");
}

TEST(Slice, ClampsLikeOnnx) {
  const Tensor x = Tensor::floats({5}, {0, 1, 2, 3, 4});
  EXPECT_EQ(run_to<float>("Slice", slice({-3}, {100}, {0}, {1}), {x}), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(run_to<float>("Slice", slice({100}, {INT64_MIN}, {0}, {-2}), {x}), (std::vector<float>{4, 2, 0}));
  EXPECT_EQ(run_to<float>("Slice", slice({3}, {1}, {0}, {1}), {x}), (std::vector<float>{}));
  EXPECT_EQ(run_to<float>("Slice", slice({4}, {INT64_MIN}, {0}, {INT64_MIN}), {x}), (std::vector<float>{4}));
  EXPECT_TRUE(refused("Slice", slice({0}, {1}, {0}, {0}), {f32({5})}));
  EXPECT_TRUE(refused("Slice", slice({0, 0}, {1, 1}, {0, 0}, {1, 1}), {f32({5})}));
  EXPECT_TRUE(refused("Slice", slice({0}, {1, 1}, {0}, {1}), {f32({5})}));
}

TEST(Slice, EqualSlicesLookEqual) {
  const auto form = [](Ints starts, Ints ends, Ints axes) {
    return normalized({.op_type = "Slice",
                       .opset = 9,
                       .attrs = {{"starts", std::move(starts)}, {"ends", std::move(ends)}, {"axes", std::move(axes)}},
                       .operands = {f32({4, 6})}});
  };
  EXPECT_EQ(form({2}, {6}, {1}), "Slice {axes=[1], ends=[6], starts=[2], steps=[1]}");
  EXPECT_EQ(form({-4}, {kMax}, {-1}), form({2}, {6}, {1}));
  EXPECT_EQ(form({2, 0}, {100, 4}, {1, 0}), form({2}, {6}, {1}));
  const std::vector<TensorType> operands = {f32({6}), i64({1}), i64({1}), i64({1}), i64({1})};
  EXPECT_EQ(normalized({.op_type = "Slice",
                        .opset = 13,
                        .operands = operands,
                        .constants = {{1, Tensor::ints({1}, {-1})},
                                      {2, Tensor::ints({1}, {-100})},
                                      {3, Tensor::ints({1}, {0})},
                                      {4, Tensor::ints({1}, {-5})}}}),
            "Slice {axes=[0], ends=[-7], starts=[5], steps=[-5]}");
  EXPECT_EQ(normalized({.op_type = "Slice", .opset = 13, .operands = operands}),
            "opaque: its parameter 'starts' is computed at run time");
}

TEST(Pad, AddsAndCrops) {
  EXPECT_EQ(infer("Pad", {{"pads", Ints{1, 0, 2, -1}}}, {f32({kN, 3})}), "f32[N+3,2]");
  EXPECT_TRUE(refused("Pad", {{"pads", Ints{-4, 4}}}, {f32({3})}));
  EXPECT_TRUE(refused("Pad", {{"pads", Ints{INT64_MIN, 0}}}, {f32({3})}));
  EXPECT_TRUE(refused("Pad", {{"pads", Ints{kMax, kMax}}}, {f32({3})}));
  EXPECT_TRUE(refused("Pad", {{"pads", Ints{1}}}, {f32({3})}));
  EXPECT_TRUE(refused("Pad", {{"mode", std::string("mirror")}, {"pads", Ints{1, 1}}}, {f32({3})}));
  const Tensor x = Tensor::floats({3}, {1, 2, 3});
  const auto pad = [&](const char* mode) {
    return run_to<float>("Pad", {{"mode", std::string(mode)}, {"pads", Ints{2, 1}}}, {x});
  };
  EXPECT_EQ(pad("constant"), (std::vector<float>{0, 0, 1, 2, 3, 0}));
  EXPECT_EQ(pad("reflect"), (std::vector<float>{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(pad("edge"), (std::vector<float>{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(pad("wrap"), (std::vector<float>{2, 3, 1, 2, 3, 1}));
  EXPECT_FALSE(run("Pad", {{"mode", std::string("edge")}, {"pads", Ints{1, 0}}}, {Tensor::floats({0}, {})}));
}

TEST(Pad, ReadsEveryForm) {
  EXPECT_EQ(
      normalized(
          {.op_type = "Pad", .opset = 2, .attrs = {{"pads", Ints{1, 1}}, {"value", 2.0F}}, .operands = {f32({3})}}),
      "Pad {constant_value=f32[]{2.0}, mode=\"constant\", pads=[1,1]}");
  EXPECT_EQ(
      normalized(
          {.op_type = "Pad",
           .opset = 18,
           .operands = {f32({kN, 3}), i64({2}), f32({}), i64({1})},
           .constants = {{1, Tensor::ints({2}, {1, 2})}, {2, Tensor::floats({}, {0})}, {3, Tensor::ints({1}, {-1})}}}),
      "Pad {mode=\"constant\", pads=[0,1,0,2]}");
}

TEST(CenterCropPad, KeepsTheMiddle) {
  EXPECT_EQ(infer("CenterCropPad", {{"shape", Ints{4}}, {"axes", Ints{1}}}, {f32({kN, 3})}), "f32[N,4]");
  EXPECT_EQ(run_to<float>("CenterCropPad", {{"shape", Ints{2}}}, {Tensor::floats({5}, {1, 2, 3, 4, 5})}),
            (std::vector<float>{2, 3}));
  EXPECT_EQ(run_to<float>("CenterCropPad", {{"shape", Ints{4}}}, {Tensor::floats({1}, {7})}),
            (std::vector<float>{0, 7, 0, 0}));
  EXPECT_TRUE(refused("CenterCropPad", {{"shape", Ints{-1}}}, {f32({3})}));
}

}  // namespace
}  // namespace isomer::testing
