#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

TEST(ConstantOfShape, Fills) {
  EXPECT_EQ(infer("ConstantOfShape", {{"shape", Ints{2, 0}}}, {}), "f32[2,0]");
  EXPECT_TRUE(refused("ConstantOfShape", {{"shape", Ints{-1}}}, {}));
  EXPECT_EQ(run_to<int64_t>("ConstantOfShape", {{"shape", Ints{2}}, {"value", Tensor::ints({1}, {7})}}, {}),
            (Ints{7, 7}));
  EXPECT_EQ(normalized({.op_type = "ConstantOfShape", .opset = 9, .operands = {i64({1})}}),
            "opaque: its parameter 'shape' is computed at run time");
}

Attrs range(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  return {{"start", start}, {"limit", limit}, {"delta", delta}};
}
Tensor integer(int64_t v) { return Tensor::ints({}, {v}); }
Tensor real(float v) { return Tensor::floats({}, {v}); }

TEST(Range, Counts) {
  EXPECT_EQ(run_to<int64_t>("Range", range(integer(10), integer(4), integer(-2)), {}), (Ints{10, 8, 6}));
  EXPECT_EQ(run_to<float>("Range", range(real(1), real(2), real(0.5)), {}), (std::vector<float>{1, 1.5}));
  EXPECT_EQ(infer("Range", range(integer(4), integer(0), integer(1)), {}), "i64[0]");
  EXPECT_TRUE(refused("Range", range(integer(0), integer(1), integer(0)), {}));
  EXPECT_TRUE(refused("Range", range(integer(0), real(1), integer(1)), {}));
}

TEST(Shape, Clamps) {
  EXPECT_EQ(infer("Shape", {}, {f32({kN, 3})}), "i64[2]");
  EXPECT_EQ(run_to<int64_t>("Shape", {{"start", int64_t{-2}}, {"end", int64_t{9}}}, {Tensor::floats({1, 2}, {0, 0})}),
            (Ints{1, 2}));
  EXPECT_EQ(infer("Shape", {{"start", int64_t{2}}, {"end", int64_t{1}}}, {f32({1, 2, 3})}), "i64[0]");
  EXPECT_EQ(run_to<int64_t>("Size", {}, {Tensor::floats({1, 2}, {0, 0})}), Ints{2});
}

TEST(EyeLike, HasADiagonal) {
  EXPECT_EQ(run_to<float>("EyeLike", {{"k", int64_t{1}}}, {Tensor::floats({2, 2}, {9, 9, 9, 9})}),
            (std::vector<float>{0, 1, 0, 0}));
  EXPECT_TRUE(refused("EyeLike", {}, {f32({2})}));
}

TEST(Trilu, KeepsOneSide) {
  const Tensor x = Tensor::floats({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run_to<float>("Trilu", {}, {x}), (std::vector<float>{1, 2, 0, 4}));
  EXPECT_EQ(run_to<float>("Trilu", {{"upper", int64_t{0}}, {"k", int64_t{-1}}}, {x}), (std::vector<float>{0, 0, 3, 0}));
  EXPECT_TRUE(refused("Trilu", {}, {f32({2})}));
}

TEST(HannWindow, IsPeriodicOrSymmetric) {
  EXPECT_EQ(infer("HannWindow", {{"size", int64_t{4}}}, {}), "f32[4]");
  EXPECT_FLOAT_EQ(run_to<float>("HannWindow", {{"size", int64_t{4}}}, {})[2], 1);
  EXPECT_FLOAT_EQ(run_to<float>("HannWindow", {{"size", int64_t{5}}, {"periodic", int64_t{0}}}, {})[2], 1);
  EXPECT_TRUE(refused("BlackmanWindow", {{"size", int64_t{-1}}}, {}));
}

}  // namespace
}  // namespace isomer::testing
