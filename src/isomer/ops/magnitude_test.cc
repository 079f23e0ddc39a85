#include "isomer/ops/magnitude.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "isomer/ops/graph_testing.h"

namespace isomer {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// The bound of the value y of constants a = [1, -3], b = [2, 5] and large = [-1e9, -1e9].
double bound_of(const std::string& statements) {
  const Graph graph =
      parsed("a = f32[2]{1,-3}\nb = f32[2]{2,5}\nlarge = ConstantOfShape() {shape=[2], value=f32[1]{-1e9}}\n" +
             statements + "\nreturn y");
  return magnitude(graph, graph.outputs()[0]);
}

TEST(Magnitude, OfTensors) {
  EXPECT_EQ(magnitude(Tensor::floats({3}, {1, -7, 2})), 7);
  EXPECT_EQ(magnitude(Tensor::floats({2}, {1, NAN})), kNoBound);
  EXPECT_EQ(magnitude(Tensor::floats({0}, {})), 0);
  EXPECT_EQ(magnitude(Tensor::ints({1}, {5000})), 0);
  EXPECT_EQ(magnitude(Tensor::of<double>(DType::Double, {1}, std::vector<double>{-2e300})), 2e300);
}

TEST(Magnitude, OfValuesThatFollowFromConstants) {
  EXPECT_EQ(bound_of("y = Add(a, b)"), 8);
  EXPECT_EQ(bound_of("y = Sub(a, b)"), 8);
  EXPECT_EQ(bound_of("y = Mul(a, b)"), 15);
  EXPECT_EQ(bound_of("y = Concat(a, b) {axis=0}"), 5);
  EXPECT_EQ(bound_of("n = Neg(b)\ny = Reshape(n) {shape=[1,2]}"), 5);
  EXPECT_EQ(bound_of("y = Identity(large)"), 1e9);
  EXPECT_EQ(bound_of("y = Exp(a)"), kNoBound);
}

TEST(Magnitude, OfElementsThatAddUp) {
  const std::string scatter = "i = i64[2,1]{0,0}\ny = ScatterND(a, i, b) {reduction=";
  EXPECT_EQ(bound_of(scatter + "\"none\"}"), 5);
  EXPECT_EQ(bound_of(scatter + "\"add\"}"), kNoBound);
}

TEST(Magnitude, LooksAtFewNodes) {
  std::string doubled = "v0 = Add(a, a)\n";
  for (int i = 1; i < 40; ++i) doubled += fmt::format("v{0} = Add(v{1}, v{1})\n", i, i - 1);
  EXPECT_EQ(bound_of(doubled + "y = Identity(v39)"), kNoBound);
}

}  // namespace
}  // namespace isomer
