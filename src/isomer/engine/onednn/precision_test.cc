// Tests plans that compute in bf16.

#include <gmock/gmock.h>

#include "isomer/engine/onednn/testing.h"
#include "isomer/ir/builder.h"

namespace isomer::onednn {
namespace {

using testing::HasSubstr;

constexpr double kRounding = 0x1p-9;  // maximum relative error of rounding to a number with 8 bits

Tensor magnitudes(const Tensor& tensor) {
  Tensor out = Tensor::zeros(DType::Float, tensor.dims());
  std::ranges::transform(tensor.data<float>(), out.mutable_data<float>().begin(), [](float x) { return std::abs(x); });
  return out;
}

class Precision : public testing::Test {
 protected:
  void SetUp() override {
    if (!check_dtype(DType::BFloat16)) GTEST_SKIP() << check_dtype(DType::BFloat16).error().message;
  }

  /// Returns the bound for a product of rounded operands: sum |a (1 + d)| |b (1 + e)| - |a| |b| over all terms with
  /// |d|, |e| <= 2^-9, plus 2^-20 of the same sum for adding in f32. The result is not rounded, since it is an output.
  static void expect_within_rounding(const std::string& product, const Tensor& a, const Tensor& b) {
    const auto graph = [&](const Tensor& weights) {
      GraphBuilder builder;
      const ValueId x = builder.input(a.type());
      const OpDef& op = *find_op(product);
      Attrs attrs;
      if (product == "Conv")
        attrs = {{"strides", Ints{1, 1}}, {"dilations", Ints{1, 1}}, {"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{1}}};
      const ValueId y = builder.add(op, attrs, {x, builder.constant(weights)}).value();
      return builder.finish({&y, 1});
    };
    const Tensor exact = run_reference(graph(b), std::vector{a}).value()[0];
    const Tensor sums = run_reference(graph(magnitudes(b)), std::vector{magnitudes(a)}).value()[0];
    const Plan plan = plan_of(graph(b), std::vector{a}, {.tune = false, .dtype = DType::BFloat16});
    EXPECT_THAT(plan.kernels()[1].implementation, HasSubstr("bf16")) << "behind the reorder of the input";
    const Tensor got = plan.run(std::vector{a}).value()[0];
    constexpr double kBound = 2 * kRounding + kRounding * kRounding + 0x1p-20;
    double most = 0;
    for (size_t i = 0; i < got.data<float>().size(); ++i) {
      const double off = std::abs(double{got.data<float>()[i]} - exact.data<float>()[i]);
      ASSERT_LE(off, kBound * sums.data<float>()[i]) << product << " at " << i;
      most = std::max(most, off / sums.data<float>()[i]);
    }
    EXPECT_GT(most, kRounding / 1000) << "was it computed in f32?";
  }
};

TEST_F(Precision, ProductsRoundTheirOperandsAlone) {
  expect_within_rounding("MatMul", random_tensor(DType::Float, {33, 200}, 1),
                         random_tensor(DType::Float, {200, 65}, 2));
  expect_within_rounding("Conv", random_tensor(DType::Float, {1, 32, 9, 9}, 1),
                         random_tensor(DType::Float, {48, 32, 3, 3}, 2));
}

TEST_F(Precision, KernelsHandOnWhatTheyMade) {
  const auto kernels = expect_as_reference(R"(
    input x: f32[1,32,14,14]
    w = f32[32,32,3,3]{seed 1}
    c = Conv(x, w) {pads=[1,1,1,1]}
    r = Relu(c)
    p = MaxPool(r) {kernel_shape=[2,2], strides=[2,2]}
    d = Conv(p, w) {pads=[1,1,1,1]}
    a = Add(d, p)
    s = Sigmoid(a)
    j = Concat(s, p) {axis=1}
    g = GlobalAveragePool(j)
    f = Flatten(g) {axis=1}
    v = f32[64,10]{seed 3}
    y = MatMul(f, v)
    return y
  )",
                                           {.tune = false, .dtype = DType::BFloat16});
  for (const PlanKernel& kernel : kernels) {
    if (kernel.name == "MatMul" || kernel.name == "copy output") continue;
    EXPECT_THAT(kernel.layout, HasSubstr("bf16")) << kernel.name;
  }
}

TEST_F(Precision, KernelsWithoutItComputeInF32) {
  const auto kernels = expect_as_reference(R"(
    input x: f32[8,32]
    w = f32[32,32]{seed 1}
    a = MatMul(x, w)
    b = Erf(a)
    c = Selu(b)
    d = Add(c, a)
    y = MatMul(d, w)
    return y
  )",
                                           {.tune = false, .dtype = DType::BFloat16});
  EXPECT_EQ(references(kernels), 1);
}

TEST(PrecisionErrors, NameTheReason) {
  EXPECT_TRUE(check_dtype(DType::Float).has_value());
  EXPECT_THAT(check_dtype(DType::Half).error().message, HasSubstr("not in f16"));
  EXPECT_THAT(check_dtype(DType::Double).error().message, HasSubstr("not in f64"));
  const Graph graph = graph_of("input x: f32[2]\ny = Relu(x)\nreturn y");
  const auto plan = Plan::make(graph, types_of(inputs_of(graph)), {.dtype = DType::Half});
  ASSERT_FALSE(plan.has_value());
}

}  // namespace
}  // namespace isomer::onednn
