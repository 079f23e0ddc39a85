// Gradients of GridSample.

#include <gmock/gmock.h>

#include "isomer/grad/testing.h"

namespace isomer::testing {
namespace {

Attrs sampling(const char* mode, const char* padding, bool align_corners) {
  return {
      {"mode", std::string(mode)}, {"padding_mode", std::string(padding)}, {"align_corners", int64_t{align_corners}}};
}

TEST(GridSampleGradients, FiniteDifferences) {
  struct Extents {
    std::vector<int64_t> image, grid;
  };
  const Extents extents[] = {{{2, 3, 5}, {2, 4, 1}}, {{2, 3, 4, 5}, {2, 3, 2, 2}}, {{1, 2, 3, 2, 4}, {1, 2, 1, 5, 3}}};
  for (const auto& [image, grid] : extents)
    for (const char* const mode : {"linear", "nearest"})
      for (const char* const padding : {"zeros", "border"})
        for (const bool align_corners : {false, true}) {
          SCOPED_TRACE(fmt::format("{} axes, {}, {}, {}", image.size() - 2, mode, padding, align_corners));
          // Some points are outside of the image.
          const auto test = operator_case("GridSample", sampling(mode, padding, align_corners),
                                          {uniform_tensor(image, 1), uniform_tensor(grid, 2, -1.5, 1.5)});
          ASSERT_TRUE(test) << test.error().message;
          expect_finite_differences(*test);
        }
}

TEST(GridSampleGradients, AtAndBeyondTheBorder) {
  // Only in the middle of the row does the value change with the point.
  const Tensor image = Tensor::of<double>(DType::Double, {1, 1, 4}, {1, 3, 6, 10});
  const Tensor grid = Tensor::of<double>(DType::Double, {1, 5, 1}, {-3, -1, 0, 1, 3});
  GradientCase test = *operator_case("GridSample", sampling("linear", "border", true), {image, grid});
  const auto outputs = computed_gradients(test, test.inputs);
  const auto by_grid = outputs[1].data<double>();
  EXPECT_EQ(by_grid[0], 0);
  EXPECT_EQ(by_grid[1], 0);
  const Tensor factors = random_tensor(DType::Double, {1, 1, 5}, 77);  // of the loss
  EXPECT_NEAR(by_grid[2], factors.data<double>()[2] * (6 - 3) * 1.5, 1e-12);
  EXPECT_EQ(by_grid[3], 0);
  EXPECT_EQ(by_grid[4], 0);
}

TEST(GridSampleGradients, OfAnImageAtPointsOfAnotherType) {
  const Tensor grid = Tensor::floats({1, 3, 2, 2}, {-1.2F, 0.1F, 0, 0.3F, 0.7F, -0.6F, 0.2F, 0.9F, 1, 1, -1, 0.4F});
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{1, 2, 3, 4}, {1, 1, 1, 1}, {1, 2, 1, 5}}) {
    const auto test = operator_case("GridSample", sampling("linear", "zeros", true), {uniform_tensor(dims, 1), grid});
    ASSERT_TRUE(test) << test.error().message;
    expect_finite_differences(*test);
  }
}

TEST(GridSampleGradients, PointsThatAreNanGiveNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor grid = Tensor::of<double>(DType::Double, {1, 2, 1}, {nan, 0});
  for (const char* const padding : {"zeros", "border"}) {
    const GradientCase test =
        *operator_case("GridSample", sampling("linear", padding, true), {uniform_tensor({1, 1, 3}, 1), grid});
    const auto gradients = computed_gradients(test, test.inputs);
    const double factor = random_tensor(DType::Double, {1, 1, 2}, 77).data<double>()[1];
    const auto of_image = gradients[0].data<double>();
    EXPECT_EQ(std::vector<double>(of_image.begin(), of_image.end()), (std::vector<double>{0, factor, 0})) << padding;
  }
}

TEST(GridSampleGradients, RefusesOtherModes) {
  const auto refusal = [](const Attrs& attrs) {
    const GradientCase test =
        *operator_case("GridSample", attrs, {uniform_tensor({1, 1, 3, 3}, 1), uniform_tensor({1, 2, 2, 2}, 2)});
    const auto gradients = with_gradients(test.graph, test.loss, test.graph.inputs());
    return gradients ? "" : gradients.error().message;
  };
  EXPECT_THAT(refusal(sampling("cubic", "zeros", false)), ::testing::HasSubstr("no gradient in the mode 'cubic'"));
  EXPECT_THAT(refusal(sampling("linear", "reflection", false)),
              ::testing::HasSubstr("no gradient with the padding 'reflection'"));
  const GradientCase none =
      *operator_case("GridSample", {}, {uniform_tensor({1, 1, 3, 3}, 1), uniform_tensor({1, 0, 2, 2}, 2)});
  EXPECT_FALSE(with_gradients(none.graph, none.loss, none.graph.inputs()));
}

}  // namespace
}  // namespace isomer::testing
