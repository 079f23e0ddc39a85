#include "isomer/ir/field.h"
#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

TEST(BatchNormalization, Values) {
  const Tensor x = Tensor::floats({1, 2, 2}, {1, 2, 3, 4});
  const auto vector = [](float a, float b) { return Tensor::floats({2}, {a, b}); };
  EXPECT_EQ(run_to<float>("BatchNormalization", {{"epsilon", 1.0F}},
                          {x, vector(2, 1), vector(0, 10), vector(1, 3), vector(3, 0)}),
            (std::vector<float>{0, 1, 10, 11}));
  const TensorType c = f32({3});
  EXPECT_EQ(infer("BatchNormalization", {}, {f32({kN, 3, kN}), c, c, c, c}), "f32[N,3,N]");
  EXPECT_TRUE(refused("BatchNormalization", {}, {f32({kN, 4, kN}), c, c, c, c}));
  EXPECT_TRUE(refused("BatchNormalization", {}, {f32({3}), c, c, c, c}));
}

TEST(BatchNormalization, AgreesWithSqrtInTheField) {
  const auto vector = [](int64_t v) {
    Tensor t = Tensor::zeros(DType::Field, {1});
    t.mutable_data<Fp>()[0] = Fp(v);
    return t;
  };
  const auto y = run_to<Fp>("BatchNormalization", {{"epsilon", 0.5F}},
                            {vector(9).reshaped({1, 1}), vector(3), vector(4), vector(5), vector(6)});
  ASSERT_EQ(y.size(), 1U);
  const Fp deviation = uninterpreted("Sqrt", Fp(6) + Fp(1) / Fp(2));
  EXPECT_EQ(y[0], Fp(4) * Fp(3) / deviation + Fp(4));
}

TEST(BatchNormalization, KeepsTheInferenceFormAlone) {
  const TensorType c = f32({3});
  const std::vector<TensorType> operands{f32({kN, 3}), c, c, c, c};
  EXPECT_EQ(normalized({.op_type = "BatchNormalization", .opset = 9, .operands = operands}),
            "BatchNormalization {epsilon=1e-05, momentum=0.9}");
  EXPECT_EQ(normalized({.op_type = "BatchNormalization",
                        .opset = 14,
                        .attrs = {{"training_mode", int64_t{1}}},
                        .operands = operands}),
            "opaque: batch normalization in training form");
}

TEST(GroupNormalization, ScalesByGroupBeforeOpset21) {
  const std::vector<TensorType> operands{f32({kN, 4, 2}), f32({2}), f32({2})};
  const std::map<std::string, AttrValue> attrs{{"num_groups", int64_t{2}}};
  EXPECT_EQ(normalized({.op_type = "GroupNormalization", .opset = 18, .attrs = attrs, .operands = operands}),
            "GroupNormalization {epsilon=1e-05, num_groups=2, per_group=1, stash_type=1}");
  const Attrs by_group{{"num_groups", int64_t{2}}, {"per_group", int64_t{1}}};
  EXPECT_EQ(infer("GroupNormalization", by_group, operands), "f32[N,4,2]");
  EXPECT_TRUE(refused("GroupNormalization", {{"num_groups", int64_t{2}}}, operands));
  EXPECT_TRUE(refused("GroupNormalization", {{"num_groups", int64_t{3}}}, operands));
  EXPECT_TRUE(refused("GroupNormalization", {{"num_groups", int64_t{0}}}, operands));
  EXPECT_EQ(
      run_to<float>("GroupNormalization", by_group.with("epsilon", 0.0F),
                    {Tensor::floats({1, 4}, {1, 3, 5, 9}), Tensor::floats({2}, {1, 2}), Tensor::floats({2}, {0, 5})}),
      (std::vector<float>{-1, 1, 3, 7}));
}

TEST(LayerNormalization, Values) {
  const Attrs attrs{{"axis", int64_t{1}}, {"epsilon", 3.0F}};
  const auto results =
      run("LayerNormalization", attrs,
          {Tensor::floats({2, 2}, {1, 3, 5, 5}), Tensor::floats({2}, {2, 4}), Tensor::floats({2}, {0, 1})}, 3);
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0], Tensor::floats({2, 2}, {-1, 3, 0, 1}));
  EXPECT_EQ((*results)[1], Tensor::floats({2, 1}, {2, 5}));
  EXPECT_EQ((*results)[2].data<float>()[0], 0.5F);
  EXPECT_EQ(infer("LayerNormalization", attrs, {{DType::Half, {kN, 8}}, {DType::Half, {8}}}, 2), "f16[N,8] f32[N,1]");
  EXPECT_TRUE(refused("LayerNormalization", attrs, {f32({kN, 8}), f32({7})}));
  EXPECT_TRUE(refused("LayerNormalization", {{"axis", int64_t{2}}}, {f32({kN, 8}), f32({8})}));
  EXPECT_EQ(normalized({.op_type = "LayerNormalization", .opset = 17, .operands = {f32({kN, 2, 8}), f32({8})}}),
            "LayerNormalization {axis=2, epsilon=1e-05, stash_type=1}");
}

TEST(Norm, OtherValues) {
  const Tensor x = Tensor::floats({1, 2}, {3, 4});
  EXPECT_EQ(run_to<float>("LpNormalization", {{"axis", int64_t{-1}}, {"p", int64_t{2}}}, {x}),
            (std::vector<float>{0.6F, 0.8F}));
  EXPECT_EQ(run_to<float>("LpNormalization", {}, {Tensor::floats({1, 2}, {0, 0})}), (std::vector<float>{0, 0}));
  EXPECT_EQ(run_to<float>("RMSNormalization", {{"epsilon", 3.5F}}, {x, Tensor::floats({2}, {4, 8})}),
            (std::vector<float>{3, 8}));
  EXPECT_EQ(run_to<float>("LRN", {{"size", int64_t{1}}, {"alpha", 1.0F}, {"beta", 1.0F}}, {x}),
            (std::vector<float>{0.3F, 4.0F / 17}));
  EXPECT_EQ(run_to<float>("MeanVarianceNormalization", {{"axes", Ints{1}}}, {x}), (std::vector<float>{-1, 1}));
  EXPECT_EQ(run_to<float>("InstanceNormalization", {{"epsilon", 0.0F}},
                          {Tensor::floats({1, 1, 2}, {3, 5}), Tensor::floats({1}, {2}), Tensor::floats({1}, {1})}),
            (std::vector<float>{-1, 3}));
  EXPECT_TRUE(refused("LpNormalization", {{"p", int64_t{3}}}, {f32({1, 2})}));
  EXPECT_TRUE(refused("LRN", {{"size", int64_t{0}}}, {f32({1, 2})}));
  EXPECT_TRUE(refused("MeanVarianceNormalization", {}, {f32({1, 2})}));
}

TEST(BatchNormalization, WithoutChannelsIsLeftAsItIs) {
  Written node{
      .op_type = "BatchNormalization", .opset = 15, .operands = {f32({4}), f32({1}), f32({1}), f32({1}), f32({1})}};
  EXPECT_EQ(normalized(node), "opaque: batch normalization without an axis of channels");
}

}  // namespace
}  // namespace isomer::testing
