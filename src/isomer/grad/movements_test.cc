// Gradients of movements, reductions and other linear operators.

#include "isomer/grad/testing.h"

namespace isomer::testing {
namespace {

struct MovementCase {
  std::string name;
  Attrs attrs = {};
  std::vector<Tensor> inputs;
  size_t num_results = 0;
};

std::ostream& operator<<(std::ostream& out, const MovementCase& test) { return out << test.name; }

class Movements : public ::testing::TestWithParam<MovementCase> {};

TEST_P(Movements, FormalDerivatives) {
  const MovementCase& param = GetParam();
  const auto test = operator_case(param.name, param.attrs, param.inputs, param.num_results);
  ASSERT_TRUE(test) << test.error().message;
  expect_formal_derivative(*test);
  expect_finite_differences(*test);
}

Tensor x(const std::vector<int64_t>& dims, uint64_t seed = 1) { return uniform_tensor(dims, seed); }

Attrs slice(Ints starts, Ints ends, Ints axes, Ints steps) {
  return {
      {"starts", std::move(starts)}, {"ends", std::move(ends)}, {"axes", std::move(axes)}, {"steps", std::move(steps)}};
}

Attrs columns(Ints image, Ints block) { return {{"image_shape", std::move(image)}, {"block_shape", std::move(block)}}; }

INSTANTIATE_TEST_SUITE_P(
    All, Movements,
    ::testing::Values(
        MovementCase{"Reshape", {{"shape", Ints{3, -1}}}, {x({2, 3, 2})}},
        MovementCase{"Flatten", {{"axis", int64_t{2}}}, {x({2, 3, 2})}},
        MovementCase{"Squeeze", {{"axes", Ints{1}}}, {x({2, 1, 2})}},
        MovementCase{"Unsqueeze", {{"axes", Ints{0, 2}}}, {x({2, 3})}},
        MovementCase{"Transpose", {{"perm", Ints{2, 0, 1}}}, {x({2, 3, 4})}},
        MovementCase{"Expand", {{"shape", Ints{2, 3, 4}}}, {x({3, 1})}},
        MovementCase{"Tile", {{"repeats", Ints{2, 1, 3}}}, {x({2, 3, 2})}},
        MovementCase{"Concat", {{"axis", int64_t{1}}}, {x({2, 3}), x({2, 1}, 2), x({2, 2}, 3)}},
        MovementCase{"Concat", {{"axis", int64_t{-1}}}, {x({2, 3}), x({2, 1}, 2)}},
        MovementCase{"Split", {{"axis", int64_t{1}}, {"split", Ints{1, 3}}}, {x({2, 4})}, 2},
        MovementCase{"Slice", slice({1, 0}, {3, 4}, {0, 1}, {1, 2}), {x({4, 5})}},
        MovementCase{"Slice", slice({-1}, {-100}, {1}, {-1}), {x({2, 5})}},
        MovementCase{"Slice", slice({4}, {0}, {1}, {-2}), {x({2, 6})}},
        MovementCase{"Slice", slice({1}, {6}, {-1}, {3}), {x({2, 6})}},
        MovementCase{"Slice", slice({2}, {2}, {1}, {1}), {x({2, 6})}},
        MovementCase{"Pad", {{"pads", Ints{1, 0, 0, 2}}}, {x({2, 3})}},
        MovementCase{"Pad", {{"pads", Ints{1, -1, 0, 2}}}, {x({2, 3})}},
        MovementCase{"Gather", {}, {x({4, 3}), Tensor::ints({2, 2}, {0, 3, 3, -1})}},
        MovementCase{"Gather", {{"axis", int64_t{1}}}, {x({2, 4, 3}), Tensor::ints({2, 2}, {0, 3, 3, 1})}},
        MovementCase{"Gather", {{"axis", int64_t{-1}}}, {x({2, 4, 3}), Tensor::ints({}, {1})}},
        MovementCase{"Gather", {{"axis", int64_t{0}}}, {x({2, 4}), Tensor::ints({}, {1})}},
        MovementCase{"GatherElements", {{"axis", int64_t{1}}}, {x({2, 3}), Tensor::ints({2, 2}, {0, 0, 2, 1})}},
        MovementCase{
            "ScatterElements", {{"axis", int64_t{1}}}, {x({2, 3}), Tensor::ints({2, 2}, {0, 1, 2, 0}), x({2, 2})}},
        MovementCase{"ScatterElements",
                     {{"reduction", std::string("add")}},
                     {x({2, 3}), Tensor::ints({2, 2}, {0, 0, 0, 1}), x({2, 2})}},
        MovementCase{"ScatterND", {}, {x({3, 2}), Tensor::ints({2, 1}, {2, 0}), x({2, 2})}},
        MovementCase{
            "ScatterND", {{"reduction", std::string("add")}}, {x({3, 2}), Tensor::ints({2, 1}, {2, 2}), x({2, 2})}},
        MovementCase{"GatherND", {}, {x({2, 3, 2}), Tensor::ints({2, 2}, {0, 1, 1, 2})}},
        MovementCase{"Trilu", {{"upper", int64_t{0}}}, {x({3, 3})}},
        MovementCase{"DepthToSpace", {{"blocksize", int64_t{2}}}, {x({1, 8, 2, 3})}},
        MovementCase{"DepthToSpace", {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}}, {x({2, 8, 2, 3})}},
        MovementCase{"SpaceToDepth", {{"blocksize", int64_t{2}}}, {x({1, 2, 4, 6})}},
        MovementCase{"Col2Im", columns({4, 5}, {2, 3}), {x({2, 12, 9})}},
        MovementCase{"Col2Im",
                     columns({4, 5}, {2, 1})
                         .with("strides", Ints{2, 1})
                         .with("dilations", Ints{3, 2})
                         .with("pads", Ints{1, 0, 2, 1}),
                     {x({1, 2, 12})}},
        MovementCase{"Col2Im", columns({5}, {2}).with("strides", Ints{3}), {x({2, 4, 2})}},
        MovementCase{"CumSum", {{"axis", int64_t{1}}}, {x({2, 3})}},
        MovementCase{"CumSum", {{"axis", int64_t{0}}, {"exclusive", int64_t{1}}, {"reverse", int64_t{1}}}, {x({3, 2})}},
        MovementCase{"Neg", {}, {x({2, 3})}},
        MovementCase{"Where", {}, {Tensor::of<uint8_t>(DType::Bool, {2, 1}, {1, 0}), x({3}), x({2, 3}, 2)}},
        MovementCase{"Resize", {{"scales", Floats{1, 2, 0.6F}}}, {x({2, 3, 5})}},
        MovementCase{"ReduceSum", {{"axes", Ints{0, 2}}}, {x({2, 3, 2})}},
        MovementCase{"ReduceSum", {{"axes", Ints{1}}, {"keepdims", int64_t{0}}}, {x({2, 3, 2})}},
        MovementCase{"ReduceMean", {{"axes", Ints{0, 2}}, {"keepdims", int64_t{0}}}, {x({2, 3, 2})}},
        MovementCase{"ReduceSumSquare", {{"axes", Ints{1}}, {"keepdims", int64_t{0}}}, {x({2, 3})}},
        MovementCase{"ReduceSumSquare", {{"axes", Ints{}}}, {x({2, 3})}}));

class Reductions : public ::testing::TestWithParam<const char*> {};

TEST_P(Reductions, FiniteDifferences) {
  for (const int64_t keep : {0, 1}) {
    for (const Ints& axes : {Ints{0}, Ints{1, 2}, Ints{0, 1, 2}}) {
      const auto test =
          operator_case(GetParam(), {{"axes", axes}, {"keepdims", keep}}, {uniform_tensor({2, 3, 2}, 3, 0.5, 2)});
      ASSERT_TRUE(test) << test.error().message;
      expect_finite_differences(*test);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Reductions,
                         ::testing::Values("ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceLogSum",
                                           "ReduceLogSumExp", "ReduceMean"));

TEST(ReduceL2Gradient, IsZeroAtZero) {
  const auto test = operator_case("ReduceL2", {{"axes", Ints{0}}}, {Tensor::zeros(DType::Double, {3})});
  ASSERT_TRUE(test) << test.error().message;
  const std::vector<Tensor> gradients = computed_gradients(*test, test->inputs);
  for (const double element : gradients[0].data<double>()) EXPECT_EQ(element, 0);
}

TEST(TopKGradient, FiniteDifferences) {
  const auto test = operator_case("TopK", {{"k", int64_t{2}}}, {uniform_tensor({2, 4}, 1)});
  ASSERT_TRUE(test) << test.error().message;
  expect_finite_differences(*test);
}

}  // namespace
}  // namespace isomer::testing
