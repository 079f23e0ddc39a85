#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

TEST(Reshape, InfersSymbolicExtents) {
  EXPECT_EQ(infer("Reshape", {{"shape", Ints{0, -1}}}, {f32({kN, 3, 4})}), "f32[N,12]");
  EXPECT_EQ(infer("Reshape", {{"shape", Ints{-1, 4}}}, {f32({kN, 2, 4})}), "f32[2*N,4]");
  EXPECT_TRUE(refused("Reshape", {{"shape", Ints{5}}}, {f32({2, 3})}));
  EXPECT_TRUE(refused("Reshape", {{"shape", Ints{-1, -1}}}, {f32({2, 3})}));
  EXPECT_TRUE(refused("Reshape", {{"shape", Ints{-2}}}, {f32({2, 3})}));
}

TEST(Transpose, MovesElements) {
  EXPECT_EQ(infer("Transpose", {{"perm", Ints{1, 0}}}, {f32({kN, 3})}), "f32[3,N]");
  EXPECT_EQ(run_to<float>("Transpose", {{"perm", Ints{1, 0}}}, {Tensor::floats({2, 2}, {1, 2, 3, 4})}),
            (std::vector<float>{1, 3, 2, 4}));
  EXPECT_TRUE(refused("Transpose", {{"perm", Ints{0, 0}}}, {f32({2, 3})}));
  EXPECT_EQ(normalized({.op_type = "Transpose", .opset = 13, .operands = {f32({2, 3, 4})}}),
            "Transpose {perm=[2,1,0]}");
}

TEST(Flatten, MultipliesExtents) {
  EXPECT_EQ(infer("Flatten", {{"axis", int64_t{2}}}, {f32({kN, 3, 4, 5})}), "f32[3*N,20]");
  EXPECT_EQ(infer("Flatten", {{"axis", int64_t{0}}}, {f32({kN})}), "f32[1,N]");
  EXPECT_TRUE(refused("Flatten", {{"axis", int64_t{3}}}, {f32({2, 3})}));
}

TEST(Squeeze, OfNoAxesIsWrittenAsIdentity) {
  const ValueId x = 0;
  const auto written = [&](const Ints& axes, int opset) {
    return denormalize(op("Squeeze"), {{"axes", axes}}, std::span(&x, 1), 1, opset)->op_type;
  };
  for (const int opset : {11, 21}) {
    EXPECT_EQ(written({}, opset), "Identity");
    EXPECT_EQ(written({0}, opset), "Squeeze");
  }
}

TEST(Squeeze, NormalizesAxes) {
  EXPECT_EQ(infer("Squeeze", {{"axes", Ints{-1}}}, {f32({kN, 3, 1})}), "f32[N,3]");
  EXPECT_TRUE(refused("Squeeze", {{"axes", Ints{0}}}, {f32({2, 1})}));
  EXPECT_EQ(normalized({.op_type = "Squeeze", .opset = 11, .operands = {f32({1, 3, 1})}}), "Squeeze {axes=[0,2]}");
  EXPECT_EQ(normalized({.op_type = "Squeeze", .opset = 11, .operands = {f32({1, kN})}}),
            "opaque: it squeezes axes that are not known");
  EXPECT_EQ(normalized({.op_type = "Squeeze",
                        .opset = 13,
                        .operands = {f32({1, kN, 1}), i64({2})},
                        .constants = {{1, Tensor::ints({2}, {-1, 0})}}}),
            "Squeeze {axes=[0,2]}");
}

TEST(Unsqueeze, AddsAxes) {
  EXPECT_EQ(infer("Unsqueeze", {{"axes", Ints{0, -1}}}, {f32({kN})}), "f32[1,N,1]");
  EXPECT_TRUE(refused("Unsqueeze", {{"axes", Ints{0, 0}}}, {f32({2})}));
  EXPECT_EQ(normalized({.op_type = "Unsqueeze", .opset = 11, .attrs = {{"axes", Ints{-1}}}, .operands = {f32({2, 3})}}),
            "Unsqueeze {axes=[2]}");
}

TEST(Expand, Broadcasts) {
  EXPECT_EQ(infer("Expand", {{"shape", Ints{2, 1, 1}}}, {f32({kN, 3})}), "f32[2,N,3]");
  EXPECT_EQ(run_to<float>("Expand", {{"shape", Ints{2, 2}}}, {Tensor::floats({2, 1}, {1, 2})}),
            (std::vector<float>{1, 1, 2, 2}));
  EXPECT_TRUE(refused("Expand", {{"shape", Ints{2}}}, {f32({3})}));
  EXPECT_TRUE(refused("Expand", {{"shape", Ints{-1}}}, {f32({1})}));
}

TEST(Tile, Repeats) {
  EXPECT_EQ(infer("Tile", {{"repeats", Ints{2, 3}}}, {f32({kN, 2})}), "f32[2*N,6]");
  EXPECT_EQ(run_to<float>("Tile", {{"repeats", Ints{2, 2}}}, {Tensor::floats({1, 2}, {1, 2})}),
            (std::vector<float>{1, 2, 1, 2, 1, 2, 1, 2}));
  EXPECT_TRUE(refused("Tile", {{"repeats", Ints{-1}}}, {f32({2})}));
  EXPECT_TRUE(refused("Tile", {{"repeats", Ints{int64_t{1} << 60, 8}}}, {f32({2, 2})}));
}

}  // namespace
}  // namespace isomer::testing
