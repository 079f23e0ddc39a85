// Gradients of Resize, which is linear.

#include "isomer/grad/testing.h"

namespace isomer::testing {
namespace {

void expect_right(const Attrs& attrs, const std::vector<int64_t>& dims) {
  const auto test = operator_case("Resize", attrs, {uniform_tensor(dims, 1)});
  ASSERT_TRUE(test) << test.error().message;
  expect_finite_differences(*test);
}

TEST(ResizeGradients, OfEveryMode) {
  const Floats scales{1, 1, 2, 0.6F};
  for (const char* const mode : {"nearest", "linear", "cubic"})
    for (const char* const coordinates :
         {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"}) {
      SCOPED_TRACE(fmt::format("{} {}", mode, coordinates));
      const Attrs attrs({{"mode", std::string(mode)}, {"coordinate_transformation_mode", std::string(coordinates)}});
      expect_right(attrs.with("scales", scales), {1, 2, 3, 5});
      expect_right(attrs.with("sizes", Ints{1, 2, 4, 4}), {1, 2, 3, 5});
    }
}

TEST(ResizeGradients, OfVariants) {
  const std::string linear = "linear", cubic = "cubic";
  const Floats smaller{1, 1, 0.5F, 0.4F};
  expect_right({{"mode", linear}, {"antialias", int64_t{1}}, {"scales", smaller}}, {1, 2, 6, 5});
  expect_right({{"mode", cubic}, {"antialias", int64_t{1}}, {"scales", smaller}}, {1, 2, 6, 5});
  expect_right({{"mode", cubic}, {"exclude_outside", int64_t{1}}, {"scales", Floats{1, 1, 2, 2}}}, {1, 2, 3, 4});
  expect_right({{"mode", linear}, {"axes", Ints{1, 2}}, {"sizes", Ints{5, 4}}}, {2, 3, 2});
  expect_right({{"mode", linear}, {"scales", Floats{1, 1, 2, 2, 1.5F}}}, {1, 2, 2, 3, 2});
  expect_right({{"mode", linear}, {"scales", Floats{2}}}, {4});
  expect_right({{"mode", linear}, {"scales", Floats{2, 3, 1}}}, {2, 3, 2});
  expect_right({{"scales", Floats{1, 1, 1, 1}}}, {1, 2, 3, 3});
  // Positions outside of the operand do not depend on it.
  expect_right({{"mode", linear},
                {"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
                {"extrapolation_value", 3.0F},
                {"axes", Ints{2, 3}},
                {"roi", Floats{-0.5F, 0.2F, 1.5F, 0.9F}},
                {"sizes", Ints{6, 4}}},
               {1, 1, 4, 5});
}

/// The reason why there is no gradient for an operand with unknown extents.
std::string refusal(const Floats& scales) {
  GraphBuilder builder;
  const ValueId x = builder.input({DType::Double, {Dim::symbol("N"), Dim(2), Dim(3), Dim::symbol("W")}});
  const auto y = builder.add(op("Resize"), {{"scales", scales}}, {x});
  const auto loss = builder.add(op("Einsum"), {{"equation", std::string("nchw,nchw->")}}, {*y, *y});
  const Graph graph = builder.finish({&*loss, 1});
  const auto gradients = with_gradients(graph, graph.outputs()[0], {graph.inputs().begin(), 1});
  return gradients ? "" : gradients.error().message;
}

TEST(ResizeGradients, RefusesPositionsThatEnginesComputeDifferently) {
  for (const float scale : {1.7F, 1.1F}) {
    const auto test = operator_case("Resize",
                                    {{"mode", std::string("linear")},
                                     {"coordinate_transformation_mode", std::string("align_corners")},
                                     {"scales", Floats{1, scale}}},
                                    {uniform_tensor({2, 5}, 1)});
    ASSERT_TRUE(test) << test.error().message;
    const auto gradients = with_gradients(test->graph, test->loss, {test->graph.inputs().begin(), 1});
    ASSERT_FALSE(gradients);
    EXPECT_NE(gradients.error().message.find("the extent times the scale is not whole"), std::string::npos);
  }
}

TEST(ResizeGradients, RefusesToCropByScales) {
  const auto test = operator_case("Resize",
                                  {{"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
                                   {"roi", Floats{0.2F, 0.9F}},
                                   {"scales", Floats{2}}},
                                  {uniform_tensor({5}, 1)});
  ASSERT_TRUE(test) << test.error().message;
  const auto gradients = with_gradients(test->graph, test->loss, {test->graph.inputs().begin(), 1});
  ASSERT_FALSE(gradients);
  EXPECT_NE(gradients.error().message.find("engines disagree about the extents"), std::string::npos);
}

TEST(ResizeGradients, RefusesUnknownExtents) {
  EXPECT_EQ(refusal({1, 1, 2, 1}), "");
  EXPECT_NE(refusal({1, 1, 2, 2}).find("(Resize): no gradient: the extent W is not known"), std::string::npos);
}

}  // namespace
}  // namespace isomer::testing
