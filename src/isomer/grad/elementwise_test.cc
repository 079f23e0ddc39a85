// Gradients of elementwise functions.

#include "isomer/grad/testing.h"

namespace isomer::testing {
namespace {

struct FunctionCase {
  std::string name;
  Attrs attrs = {};
  double low = -2;
  double high = 2;
};

std::ostream& operator<<(std::ostream& out, const FunctionCase& test) { return out << test.name; }

class Functions : public ::testing::TestWithParam<FunctionCase> {};

TEST_P(Functions, FiniteDifferences) {
  const FunctionCase& test = GetParam();
  const auto graph = operator_case(test.name, test.attrs, {uniform_tensor({3, 4}, 5, test.low, test.high)});
  ASSERT_TRUE(graph) << graph.error().message;
  expect_finite_differences(*graph);
}

INSTANTIATE_TEST_SUITE_P(
    All, Functions,
    ::testing::Values(FunctionCase{"Relu"}, FunctionCase{"Sigmoid"}, FunctionCase{"Tanh"}, FunctionCase{"LeakyRelu"},
                      FunctionCase{"Elu", {{"alpha", 0.7F}}}, FunctionCase{"Celu", {{"alpha", 0.7F}}},
                      FunctionCase{"Selu"}, FunctionCase{"Gelu"},
                      FunctionCase{"Gelu", {{"approximate", std::string("tanh")}}}, FunctionCase{"Softplus"},
                      FunctionCase{"Softsign"}, FunctionCase{"HardSigmoid"}, FunctionCase{"HardSwish", {}, -5, 5},
                      FunctionCase{"Mish"}, FunctionCase{"Swish", {{"alpha", 1.5F}}}, FunctionCase{"ThresholdedRelu"},
                      FunctionCase{"Shrink", {{"bias", 0.25F}}}, FunctionCase{"Abs"}, FunctionCase{"Sign"},
                      FunctionCase{"Reciprocal", {}, 0.5, 3}, FunctionCase{"Sqrt", {}, 0.5, 3}, FunctionCase{"Exp"},
                      FunctionCase{"Log", {}, 0.5, 3}, FunctionCase{"Erf"}, FunctionCase{"Floor"}, FunctionCase{"Sin"},
                      FunctionCase{"Cos"}, FunctionCase{"Tan", {}, -1, 1}, FunctionCase{"Asin", {}, -0.9, 0.9},
                      FunctionCase{"Acos", {}, -0.9, 0.9}, FunctionCase{"Atan"}, FunctionCase{"Sinh"},
                      FunctionCase{"Cosh"}, FunctionCase{"Asinh"}, FunctionCase{"Acosh", {}, 1.5, 3},
                      FunctionCase{"Atanh", {}, -0.9, 0.9}, FunctionCase{"Identity"}, FunctionCase{"Dropout"},
                      FunctionCase{"Clip",
                                   {{"min", Tensor::of<double>(DType::Double, {}, {-0.5})},
                                    {"max", Tensor::of<double>(DType::Double, {}, {1.0})}}},
                      FunctionCase{"Softmax"}, FunctionCase{"Softmax", {{"axis", int64_t{-2}}}},
                      FunctionCase{"LogSoftmax"}, FunctionCase{"LogSoftmax", {{"axis", int64_t{-2}}}}));

/// Two shapes that broadcast.
struct Shapes {
  std::vector<int64_t> a;
  std::vector<int64_t> b;
};

class Broadcasts : public ::testing::TestWithParam<Shapes> {};

TEST_P(Broadcasts, FiniteDifferences) {
  for (const char* name : {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Sum", "Mean"}) {
    SCOPED_TRACE(name);
    const auto test =
        operator_case(name, {}, {uniform_tensor(GetParam().a, 1, 0.5, 2), uniform_tensor(GetParam().b, 2, 0.5, 2)});
    ASSERT_TRUE(test) << test.error().message;
    expect_finite_differences(*test);
  }
}

TEST_P(Broadcasts, FormalDerivatives) {
  for (const char* name : {"Add", "Sub", "Mul", "Sum", "Mean"}) {
    SCOPED_TRACE(name);
    const auto test = operator_case(name, {}, {uniform_tensor(GetParam().a, 1), uniform_tensor(GetParam().b, 2)});
    ASSERT_TRUE(test) << test.error().message;
    expect_formal_derivative(*test);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Broadcasts,
                         ::testing::Values(Shapes{{2, 3}, {2, 3}}, Shapes{{2, 3}, {3}}, Shapes{{3}, {2, 3}},
                                           Shapes{{2, 1, 3}, {4, 1}}, Shapes{{}, {2, 2}}, Shapes{{1, 1}, {1}}));

TEST(Elementwise, OperandsThatAreEqualShareTheGradientOfAMaximum) {
  const auto test = operator_case(
      "Max", {}, {Tensor::of<double>(DType::Double, {2}, {1, 3}), Tensor::of<double>(DType::Double, {2}, {1, 2})});
  const auto gradients = computed_gradients(*test, test->inputs);
  const auto factor = random_tensor(DType::Double, {2}, 77);
  EXPECT_EQ(gradients[0].data<double>()[0], factor.data<double>()[0] / 2);
  EXPECT_EQ(gradients[0].data<double>()[1], factor.data<double>()[1]);
  EXPECT_EQ(gradients[1].data<double>()[1], 0);
}

TEST(Elementwise, PoweredByIntegers) {
  const Tensor wide = Tensor::ints({3}, {0, 1, 4});
  const Tensor narrow = Tensor::of<int32_t>(DType::Int32, {3}, {0, -2, 3});
  for (const Tensor& exponents : {wide, narrow}) {
    const auto test = operator_case("Pow", {}, {uniform_tensor({2, 3}, 1, 0.5, 2), exponents});
    ASSERT_TRUE(test) << test.error().message;
    expect_finite_differences(*test);
  }
}

TEST(Elementwise, PoweredByAConstant) {
  GraphBuilder builder;
  const ValueId x = builder.input({DType::Double, {3}});
  const ValueId cube = *builder.add(op("Pow"), {}, {x, builder.constant(Tensor::of<double>(DType::Double, {}, {3}))});
  const ValueId loss = *builder.add(op("ReduceSum"), {{"axes", Ints{0}}, {"keepdims", int64_t{0}}}, {cube});
  const GradientCase test{builder.finish({&loss, 1}), 0, {uniform_tensor({3}, 4)}};
  GradientCase whole{test.graph, test.graph.outputs()[0], test.inputs};
  expect_finite_differences(whole);
  expect_formal_derivative(whole);
}

TEST(Elementwise, SeveralOperands) {
  const std::vector<std::pair<const char*, std::vector<Tensor>>> cases = {
      {"PRelu", {uniform_tensor({2, 3}, 1), uniform_tensor({3}, 2)}},
      {"SwiGLU", {uniform_tensor({2, 3}, 1), uniform_tensor({2, 3}, 2)}},
      {"Max", {uniform_tensor({2, 3}, 1), uniform_tensor({3}, 2), uniform_tensor({}, 3)}},
      {"Mean", {uniform_tensor({2, 3}, 1), uniform_tensor({3}, 2), uniform_tensor({}, 3)}},
  };
  for (const auto& [name, inputs] : cases) {
    SCOPED_TRACE(name);
    const auto test = operator_case(name, {}, inputs);
    ASSERT_TRUE(test) << test.error().message;
    expect_finite_differences(*test);
  }
}

}  // namespace
}  // namespace isomer::testing
