#include <cmath>

#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

TEST(Resize, InfersExtents) {
  EXPECT_EQ(infer("Resize", {{"scales", Floats{1, 2, 0.5F}}}, {f32({kN, kN, 8})}), "f32[N,2*N,4]");
  EXPECT_EQ(infer("Resize", {{"sizes", Ints{7}}}, {f32({kN})}), "f32[7]");
  EXPECT_TRUE(refused("Resize", {{"scales", Floats{2}}, {"sizes", Ints{7}}}, {f32({3})}));
  EXPECT_TRUE(refused("Resize", {{"scales", Floats{-1}}}, {f32({3})}));
  EXPECT_TRUE(refused("Resize", {{"scales", Floats{1, 1}}}, {f32({3})}));
  EXPECT_TRUE(refused("Resize", {{"scales", Floats{2}}, {"mode", std::string("cube")}}, {f32({3})}));
}

TEST(Resize, Interpolates) {
  const Tensor x = Tensor::floats({2}, {1, 3});
  EXPECT_EQ(run_to<float>("Resize", {{"scales", Floats{2}}}, {x}), (std::vector<float>{1, 1, 3, 3}));
  EXPECT_EQ(run_to<float>("Resize", {{"scales", Floats{2}}, {"mode", std::string("linear")}}, {x}),
            (std::vector<float>{1, 1.5F, 2.5F, 3}));
  EXPECT_FALSE(run("Resize", {{"sizes", Ints{2}}}, {Tensor::floats({0}, {})}));
  EXPECT_FALSE(run("Resize", {{"scales", Floats{1e-12F}}, {"mode", std::string("linear")}, {"antialias", int64_t{1}}},
                   {Tensor::floats({1}, {1})})
                   ->front()
                   .element_count());
}

TEST(Resize, OneElementOfHalfPixelsIsTheFirst) {
  const Attrs attrs{{"sizes", Ints{1}},
                    {"mode", std::string("cubic")},
                    {"coordinate_transformation_mode", std::string("pytorch_half_pixel")}};
  EXPECT_EQ(run_to<float>("Resize", attrs, {Tensor::floats({4}, {1, 5, 2, 7})}), std::vector<float>{1});
}

TEST(Resize, LeavesCoordinatesThatAreNotModelled) {
  EXPECT_EQ(normalized({.op_type = "Resize",
                        .opset = 11,
                        .attrs = {{"coordinate_transformation_mode", std::string("tf_half_pixel_for_nn")}},
                        .operands = {f32({4}), f32({0}), f32({1})}}),
            "opaque: coordinates 'tf_half_pixel_for_nn' are not modelled");
}

TEST(Resize, ReadsUpsample) {
  EXPECT_EQ(
      normalized({.op_type = "Upsample", .opset = 7, .attrs = {{"scales", Floats{1, 2}}}, .operands = {f32({2, 3})}})
          .substr(0, 6),
      "Resize");
  EXPECT_EQ(normalized({.op_type = "Upsample", .opset = 9, .operands = {f32({2}), f32({1})}}),
            "opaque: its parameter 'scales' is computed at run time");
}

TEST(Resize, LeavesShrinkingByTheNearestElementAtOpset10) {
  const auto read = [](const std::string& mode, const std::vector<float>& scales) {
    Written node{.op_type = "Resize", .opset = 10, .attrs = {{"mode", mode}}, .operands = {f32({4, 6}), f32({2})}};
    node.constants[1] = Tensor::floats({2}, scales);
    return normalized(node).substr(0, 6);
  };
  EXPECT_EQ(read("nearest", {1, 0.6F}), "opaque");
  EXPECT_EQ(read("nearest", {1, 2}), "Resize");
  EXPECT_EQ(read("linear", {1, 0.6F}), "Resize");
}

TEST(DepthToSpace, UndoesSpaceToDepth) {
  EXPECT_EQ(infer("DepthToSpace", {{"blocksize", int64_t{2}}}, {f32({kN, 8, kN, 3})}), "f32[N,2,2*N,6]");
  EXPECT_EQ(infer("SpaceToDepth", {{"blocksize", int64_t{2}}}, {f32({kN, 2, 4, 6})}), "f32[N,8,2,3]");
  EXPECT_TRUE(refused("DepthToSpace", {{"blocksize", int64_t{2}}}, {f32({1, 6, 1, 1})}));
  EXPECT_TRUE(refused("DepthToSpace", {{"blocksize", int64_t{0}}}, {f32({1, 4, 1, 1})}));
  const Tensor x = Tensor::floats({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
  for (const char* mode : {"DCR", "CRD"}) {
    const Attrs attrs{{"blocksize", int64_t{2}}, {"mode", std::string(mode)}};
    const auto space = run("DepthToSpace", attrs, {x});
    ASSERT_TRUE(space);
    const auto depth = run("SpaceToDepth", attrs, {space->front()});
    ASSERT_TRUE(depth);
    EXPECT_EQ(depth->front(), x) << mode;
  }
}

TEST(Col2Im, AddsOverlaps) {
  const Attrs attrs{{"image_shape", Ints{3}}, {"block_shape", Ints{2}}};
  EXPECT_EQ(infer("Col2Im", attrs, {f32({kN, 2, 2})}), "f32[N,1,3]");
  EXPECT_TRUE(refused("Col2Im", attrs, {f32({kN, 2, 3})}));
  EXPECT_TRUE(refused("Col2Im", {{"image_shape", Ints{1}}, {"block_shape", Ints{2}}}, {f32({kN, 2, 1})}));
  EXPECT_EQ(run_to<float>("Col2Im", attrs, {Tensor::floats({1, 2, 2}, {1, 2, 3, 4})}), (std::vector<float>{1, 5, 4}));
}

TEST(GridSample, ReadsPoints) {
  EXPECT_EQ(infer("GridSample", {}, {f32({kN, 3, 4, 4}), f32({kN, 2, kN, 2})}), "f32[N,3,2,N]");
  EXPECT_TRUE(refused("GridSample", {}, {f32({1, 3, 4, 4}), f32({1, 2, 2, 3})}));
  const Tensor x = Tensor::floats({1, 1, 1, 2}, {1, 3});
  const Tensor grid = Tensor::floats({1, 1, 2, 2}, {0, 0, NAN, 0});
  EXPECT_EQ(run_to<float>("GridSample", {}, {x, grid}), (std::vector<float>{2, 0}));
  // Half an element before the first, which is not beyond the border: the weights of cubic convolution count.
  const Attrs cubic{{"mode", std::string("cubic")}, {"padding_mode", std::string("border")}};
  EXPECT_FLOAT_EQ(run_to<float>("GridSample", cubic, {x, Tensor::floats({1, 1, 1, 2}, {-1, 0})}).at(0), 0.8125F);
  EXPECT_EQ(normalized({.op_type = "GridSample",
                        .opset = 16,
                        .attrs = {{"mode", std::string("bicubic")}},
                        .operands = {f32({1, 1, 1, 2}), f32({1, 1, 2, 2})}}),
            "GridSample {align_corners=0, mode=\"cubic\", padding_mode=\"zeros\"}");
}

TEST(AffineGrid, MakesPoints) {
  EXPECT_EQ(infer("AffineGrid", {{"size", Ints{2, 3, 4, 5}}}, {f32({kN, 2, 3})}), "f32[2,4,5,2]");
  EXPECT_TRUE(refused("AffineGrid", {{"size", Ints{2, 3, 4, 5, 6}}}, {f32({2, 2, 3})}));
  const Tensor identity = Tensor::floats({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  EXPECT_EQ(run_to<float>("AffineGrid", {{"size", Ints{1, 1, 1, 2}}, {"align_corners", int64_t{1}}}, {identity}),
            (std::vector<float>{-1, 0, 1, 0}));
}

}  // namespace
}  // namespace isomer::testing
