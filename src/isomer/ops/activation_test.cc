#include "isomer/ops/half.h"
#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

/// The result of a unary operator on a vector.
std::vector<float> on(const std::string& name, const Attrs& attrs, const std::vector<float>& x) {
  return run_to<float>(name, attrs, {Tensor::floats({static_cast<int64_t>(x.size())}, x)});
}

TEST(Activation, KeepsTheType) {
  for (const char* name :
       {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "Celu", "Selu", "Gelu", "Softplus", "Softsign", "HardSigmoid",
        "HardSwish", "Mish", "Swish", "ThresholdedRelu", "Shrink", "Clip"}) {
    EXPECT_EQ(infer(name, {}, {f32({kN, 3})}), "f32[N,3]") << name;
    EXPECT_TRUE(refused(name, {}, {{DType::Bool, {3}}})) << name;
  }
}

TEST(Activation, Values) {
  EXPECT_EQ(on("LeakyRelu", {{"alpha", 0.5F}}, {-2, 4}), (std::vector<float>{-1, 4}));
  EXPECT_EQ(on("ThresholdedRelu", {}, {1, 1.5}), (std::vector<float>{0, 1.5}));
  EXPECT_EQ(on("Shrink", {{"bias", 1.5F}, {"lambd", 1.5F}}, {-2, 0.5, 2}), (std::vector<float>{-0.5, 0, 0.5}));
  EXPECT_EQ(on("HardSwish", {}, {-4, 0, 3}), (std::vector<float>{0, 0, 3}));
  EXPECT_EQ(on("HardSigmoid", {{"alpha", 0.5F}, {"beta", 0.5F}}, {-3, 0, 3}), (std::vector<float>{0, 0.5, 1}));
  EXPECT_EQ(on("Softsign", {}, {-1, 3}), (std::vector<float>{-0.5, 0.75}));
  EXPECT_NEAR(on("Gelu", {}, {1})[0], 0.8413447F, 1e-6);
  EXPECT_NEAR(on("Gelu", {{"approximate", "tanh"}}, {1})[0], 0.841192F, 1e-6);
  EXPECT_NEAR(on("Celu", {{"alpha", 2.0F}}, {-2})[0], 2 * std::expm1(-1.0), 1e-6);
  EXPECT_EQ(on("Softplus", {}, {200})[0], 200);
}

TEST(SwiGLU, IsASwishTimesWhatItLetsThrough) {
  EXPECT_EQ(infer("SwiGLU", {}, {f32({kN, 3}), f32({kN, 3})}), "f32[N,3]");
  EXPECT_TRUE(refused("SwiGLU", {}, {f32({2, 3}), f32({3})})) << "it does not broadcast";
  EXPECT_TRUE(refused("SwiGLU", {}, {i64({3}), i64({3})}));
  const Attrs alpha = {{"alpha", 2.0F}};
  const Tensor gate = Tensor::floats({3}, {-1, 0, 2});
  const auto y = run_to<float>("SwiGLU", alpha, {gate, Tensor::floats({3}, {3, 4, -5})});
  const auto swish = run_to<float>("Swish", alpha, {gate});
  EXPECT_EQ(y, (std::vector<float>{3 * swish[0], 0, -5 * swish[2]}));
}

TEST(PRelu, BroadcastsTheSlopeAlone) {
  EXPECT_EQ(infer("PRelu", {}, {f32({kN, 3, 4}), f32({3, 1})}), "f32[N,3,4]");
  EXPECT_TRUE(refused("PRelu", {}, {f32({1, 3}), f32({2, 3})}));
  EXPECT_EQ(run_to<float>("PRelu", {}, {Tensor::floats({2, 2}, {-1, 1, -1, 1}), Tensor::floats({2}, {3, 3})}),
            (std::vector<float>{-3, 1, -3, 1}));
}

TEST(Softmax, WorksAlongOneAxis) {
  const auto y = run_to<float>("Softmax", {{"axis", int64_t{-2}}}, {Tensor::floats({2, 2}, {0, 1000, 0, 1000})});
  EXPECT_EQ(y, (std::vector<float>{0.5, 0.5, 0.5, 0.5}));
  EXPECT_EQ(run_to<float>("Hardmax", {}, {Tensor::floats({3}, {1, 5, 5})}), (std::vector<float>{0, 1, 0}));
  EXPECT_TRUE(refused("Softmax", {{"axis", int64_t{2}}}, {f32({2, 3})}));
}

TEST(Softmax, NormalizesTheAxis) {
  EXPECT_EQ(normalized({.op_type = "Softmax", .opset = 13, .operands = {f32({2, 3, 4})}}), "Softmax {axis=-1}");
  EXPECT_EQ(normalized({.op_type = "Softmax", .opset = 11, .operands = {f32({2, 3})}}), "Softmax {axis=-1}");
  EXPECT_EQ(normalized({.op_type = "Softmax", .opset = 11, .operands = {f32({kN, 3, 1, 1})}}), "Softmax {axis=-3}");
  EXPECT_EQ(normalized({.op_type = "Softmax", .opset = 11, .operands = {f32({2, 3, 4})}}),
            "opaque: it joins several axes");
}

TEST(Softmax, IsWrittenWhereItMeansTheSame) {
  const ValueId x[] = {0};
  EXPECT_EQ(denormalize(op("Softmax"), {{"axis", int64_t{-2}}}, x, 1, 13)->obstacle, "");
  EXPECT_EQ(denormalize(op("Softmax"), {{"axis", int64_t{-1}}}, x, 1, 9)->obstacle, "");
  EXPECT_NE(denormalize(op("Softmax"), {{"axis", int64_t{-2}}}, x, 1, 12)->obstacle, "");
}

TEST(Clip, HasBoundsOfItsType) {
  const Tensor two = Tensor::floats({}, {2});
  EXPECT_EQ(on("Clip", {{"max", two}}, {-9, 1, 3}), (std::vector<float>{-9, 1, 2}));
  EXPECT_TRUE(refused("Clip", {{"max", two}}, {i64({3})}));
  const Tensor low = Tensor::of(DType::Int8, {}, std::vector<int8_t>{-1});
  EXPECT_EQ(infer("Clip", {{"min", low}}, {{DType::Int8, {kN}}}), "i8[N]");
  EXPECT_EQ(run_to<int64_t>("Clip", {{"min", Tensor::ints({}, {-1})}}, {Tensor::ints({2}, {-5, 5})}),
            (std::vector<int64_t>{-1, 5}));
}

TEST(Clip, ReadsAttributesAndOperands) {
  EXPECT_EQ(normalized({.op_type = "Clip", .opset = 6, .attrs = {{"max", 6.0F}}, .operands = {f32({2})}}),
            "Clip {max=f32[]{6.0}}");
  EXPECT_EQ(normalized({.op_type = "Clip",
                        .opset = 13,
                        .operands = {f32({2}), f32({1})},
                        .constants = {{1, Tensor::floats({1}, {3})}}}),
            "Clip {min=f32[]{3.0}}");
  const ValueId x[] = {0};
  const auto old = denormalize(op("Clip"), {{"max", Tensor::floats({}, {6})}}, x, 1, 10);
  EXPECT_EQ(old->attrs.at("max"), AttrValue(6.0F));
  EXPECT_EQ(denormalize(op("Clip"), {{"max", Tensor::floats({}, {6})}}, x, 1, 11)->operands.size(), 3U);
}

TEST(Dropout, IsTheIdentityUnlessItTrains) {
  const Tensor yes = Tensor::of(DType::Bool, {}, std::vector<uint8_t>{1});
  EXPECT_EQ(normalized({.op_type = "Dropout", .opset = 7, .attrs = {{"ratio", 0.3F}}, .operands = {f32({2})}}),
            "Identity {}");
  EXPECT_EQ(normalized({.op_type = "Dropout",
                        .opset = 13,
                        .operands = {f32({2}), f32({}), {DType::Bool, {}}},
                        .constants = {{2, yes}}}),
            "opaque: it is random: it runs in training mode");
  EXPECT_EQ(normalized({.op_type = "Dropout",
                        .opset = 13,
                        .operands = {f32({2}), f32({}), {DType::Bool, {}}},
                        .constants = {{1, Tensor::floats({}, {0})}, {2, yes}}}),
            "Identity {}");
  EXPECT_EQ(infer("Dropout", {}, {f32({kN})}, 2), "f32[N] bool[N]");
}

}  // namespace
}  // namespace isomer::testing
