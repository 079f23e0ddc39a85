#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

TEST(Dft, InfersLengths) {
  EXPECT_EQ(infer("DFT", {}, {f32({2, kN, 1})}), "f32[2,N,2]");
  EXPECT_EQ(infer("DFT", {{"onesided", int64_t{1}}}, {f32({2, kN * Dim(2), 1})}), "f32[2,N+1,2]");
  EXPECT_EQ(infer("DFT", {{"onesided", int64_t{1}}, {"inverse", int64_t{1}}}, {f32({2, kN + Dim(1), 2})}),
            "f32[2,2*N,1]");
  EXPECT_TRUE(refused("DFT", {{"axis", int64_t{-1}}}, {f32({2, 4, 1})}));
  EXPECT_TRUE(refused("DFT", {{"dft_length", int64_t{0}}}, {f32({2, 4, 1})}));
  EXPECT_TRUE(refused("DFT", {}, {f32({2, 4, 3})}));
}

TEST(Dft, TransformsBackAndForth) {
  const Tensor x = Tensor::floats({1, 4, 1}, {1, 2, 3, 4});
  const auto half = run("DFT", {{"onesided", int64_t{1}}}, {x});
  ASSERT_TRUE(half);
  const auto data = half->front().data<float>();
  EXPECT_FLOAT_EQ(data[0], 10);
  EXPECT_NEAR(data[3], 2, 1e-5);
  const auto back = run_to<float>("DFT", {{"onesided", int64_t{1}}, {"inverse", int64_t{1}}}, {half->front()});
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(back[i], static_cast<float>(i + 1), 1e-5);
}

TEST(Dft, HasAnotherDefaultAxisBefore20) {
  EXPECT_EQ(normalized({.op_type = "DFT", .opset = 17, .operands = {f32({1, 4, 5, 1})}}),
            "DFT {axis=1, inverse=0, onesided=0}");
  EXPECT_EQ(normalized({.op_type = "DFT", .opset = 20, .operands = {f32({1, 4, 5, 1})}}),
            "DFT {axis=-2, inverse=0, onesided=0}");
}

TEST(Stft, CountsFrames) {
  const Attrs attrs{{"frame_step", int64_t{2}}, {"frame_length", int64_t{4}}};
  EXPECT_EQ(infer("STFT", attrs, {f32({kN, 10, 1})}), "f32[N,4,3,2]");
  EXPECT_EQ(infer("STFT", attrs, {f32({1, kN * Dim(2), 1}), f32({4})}), "f32[1,N-1,3,2]");
  EXPECT_TRUE(refused("STFT", attrs, {f32({1, 3, 1})}));
  EXPECT_TRUE(refused("STFT", {{"frame_step", int64_t{0}}}, {f32({1, 3, 1})}));
}

TEST(MelWeightMatrix, ChecksItsParameters) {
  const auto attrs = [](float upper) {
    return Attrs{{"num_mel_bins", int64_t{2}},
                 {"dft_length", int64_t{16}},
                 {"sample_rate", int64_t{8192}},
                 {"lower_edge_hertz", 0.0F},
                 {"upper_edge_hertz", upper}};
  };
  EXPECT_EQ(infer("MelWeightMatrix", attrs(4096), {}), "f32[9,2]");
  EXPECT_TRUE(run("MelWeightMatrix", attrs(4096), {}));
  EXPECT_FALSE(run("MelWeightMatrix", attrs(1e9F), {}));
}

}  // namespace
}  // namespace isomer::testing
