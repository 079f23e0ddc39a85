#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

using Reals = std::vector<float>;

TEST(MatMul, InfersBatchesAndVectors) {
  EXPECT_EQ(infer("MatMul", {}, {f32({kN, 1, 2, 3}), f32({5, 3, 4})}), "f32[N,5,2,4]");
  EXPECT_EQ(infer("MatMul", {}, {f32({3}), f32({kN, 3, 4})}), "f32[N,4]");
  EXPECT_EQ(infer("MatMul", {}, {f32({kN, 2, 3}), f32({3})}), "f32[N,2]");
  EXPECT_EQ(infer("MatMul", {}, {f32({3}), f32({3})}), "f32[]");
  EXPECT_TRUE(refused("MatMul", {}, {f32({2, 3}), f32({2, 3})}));
  EXPECT_TRUE(refused("MatMul", {}, {f32({}), f32({2})}));
}

TEST(MatMul, Multiplies) {
  const Tensor m = Tensor::floats({2, 2}, {1, 2, 3, 4});
  const Tensor v = Tensor::floats({2}, {1, 10});
  EXPECT_EQ(run_to<float>("MatMul", {}, {m, m}), (Reals{7, 10, 15, 22}));
  EXPECT_EQ(run_to<float>("MatMul", {}, {v, m}), (Reals{31, 42}));
  EXPECT_EQ(run_to<float>("MatMul", {}, {m, v}), (Reals{21, 43}));
  EXPECT_EQ(run_to<float>("MatMul", {}, {v, v}), Reals{101});
  EXPECT_EQ(run_to<float>("MatMul", {}, {m.reshaped({2, 1, 2}), m}), (Reals{7, 10, 15, 22}));
}

TEST(Gemm, ScalesAndTransposes) {
  const Tensor m = Tensor::floats({2, 2}, {1, 2, 3, 4});
  const Attrs attrs{{"alpha", 2.0F}, {"beta", 0.5F}, {"transA", int64_t{1}}, {"transB", int64_t{1}}};
  EXPECT_EQ(run_to<float>("Gemm", attrs, {m, m, Tensor::floats({2}, {2, 4})}), (Reals{15, 32, 21, 46}));
  EXPECT_EQ(infer("Gemm", {{"transA", int64_t{1}}}, {f32({3, kN}), f32({3, 4}), f32({4})}), "f32[N,4]");
  EXPECT_TRUE(refused("Gemm", {}, {f32({2, 3}), f32({3, 4}), f32({3})}));
  EXPECT_TRUE(refused("Gemm", {}, {f32({2, 3}), f32({2, 3})}));
}

TEST(Einsum, ReadsEquations) {
  const auto einsum = [](const char* equation) { return Attrs{{"equation", equation}}; };
  EXPECT_EQ(infer("Einsum", einsum("...ij, ...jk->...ik"), {f32({kN, 2, 3}), f32({1, 3, 4})}), "f32[N,2,4]");
  EXPECT_EQ(infer("Einsum", einsum("ba,cb"), {f32({2, 3}), f32({kN, 2})}), "f32[3,N]");
  EXPECT_TRUE(refused("Einsum", einsum("ij->k"), {f32({2, 3})}));
  EXPECT_TRUE(refused("Einsum", einsum("ij,jk"), {f32({2, 3}), f32({4, 3})}));
  EXPECT_TRUE(refused("Einsum", einsum("ij"), {f32({2})}));
  const Tensor m = Tensor::floats({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run_to<float>("Einsum", einsum("ij,jk->ik"), {m, m}), (Reals{7, 10, 15, 22}));
  EXPECT_EQ(run_to<float>("Einsum", einsum("ii->i"), {m}), (Reals{1, 4}));
  EXPECT_EQ(run_to<float>("Einsum", einsum("ij->"), {m}), Reals{10});
}

TEST(MatMulInteger, SubtractsZeroPoints) {
  const TensorType u8{DType::Uint8, {2, 2}};
  EXPECT_EQ(infer("MatMulInteger", {}, {u8, u8}), "i32[2,2]");
  EXPECT_TRUE(refused("MatMulInteger", {}, {f32({2, 2}), u8}));
}

TEST(Det, Eliminates) {
  EXPECT_EQ(infer("Det", {}, {f32({kN, 2, 2})}), "f32[N]");
  EXPECT_TRUE(refused("Det", {}, {f32({2, 3})}));
  EXPECT_EQ(run_to<float>("Det", {}, {Tensor::floats({2, 2, 2}, {0, 1, 1, 0, 1, 2, 3, 4})}), (Reals{-1, -2}));
}

}  // namespace
}  // namespace isomer::testing
