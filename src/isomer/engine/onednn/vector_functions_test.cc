#include "isomer/engine/onednn/vector_functions.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "isomer/engine/onednn/own_kernel_testing.h"

namespace isomer::onednn {
namespace {

struct Exponential {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x) {
    const Vector given = x;
    exponential(given, x);
  }
};
struct Sigmoid {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x) {
    sigmoid(x);
  }
};
struct Tanh {
  template <class Vector>
  static ISOMER_INLINE void of(Vector& x) {
    hyperbolic_tangent(x);
  }
};

/// Maps elements that fill vectors.
template <class Function>
struct Mapped {
  template <class Vector>
  static ISOMER_INLINE void run(float* elements, size_t count) {
    for (size_t i = 0; i < count; i += kLanes<Vector>) {
      Vector x;
      load(x, elements + i);
      Function::of(x);
      store(elements + i, x);
    }
  }
};
template <class Function>
std::vector<float> mapped(std::vector<float> elements) {
  elements.resize((elements.size() + 15) / 16 * 16);
  dispatch<Mapped<Function>>(elements.data(), elements.size());
  return elements;
}

std::vector<float> arguments(float max) {
  std::vector<float> out;
  for (int i = -200000; i <= 200000; ++i) out.push_back(static_cast<float>(i) / 200000 * max);
  for (int power = 0; power > -100; --power) out.insert(out.end(), {std::ldexp(1.3F, power), -std::ldexp(1.3F, power)});
  return out;
}

template <class Function>
void expect_near(double (*exact)(double), float max, double bound) {
  const std::vector<float> x = arguments(max), y = mapped<Function>(x);
  for (size_t i = 0; i < x.size(); ++i) {
    const double wanted = exact(x[i]);
    ASSERT_NEAR(y[i], wanted, bound * std::abs(wanted)) << x[i];
  }
}

TEST(VectorFunctions, AreWithinTheirBounds) {
  expect_near<Exponential>([](double x) { return std::exp(x); }, 87, 2e-7);
  expect_near<Sigmoid>([](double x) { return 1 / (1 + std::exp(-x)); }, 87, 4e-7);
  expect_near<Tanh>([](double x) { return std::tanh(x); }, 20, 4e-7);
}

TEST(VectorFunctions, HaveLimits) {
  const std::vector<float> x = {-kInfinity, -1000, 1000, kInfinity, NAN, 0};
  const auto e = mapped<Exponential>(x), s = mapped<Sigmoid>(x), t = mapped<Tanh>(x);
  EXPECT_LT(e[0], 1.3e-38F);
  EXPECT_EQ(e[0], e[1]);
  EXPECT_GT(e[2], 1e38F);
  EXPECT_EQ(e[2], e[3]);
  EXPECT_EQ(e[5], 1);
  EXPECT_EQ(s[3], 1);
  EXPECT_EQ(s[5], 0.5F);
  EXPECT_EQ(t[0], -1);
  EXPECT_EQ(t[3], 1);
  EXPECT_EQ(t[5], 0);
  for (const auto& y : {e, s, t}) EXPECT_TRUE(std::isnan(y[4]));
  EXPECT_EQ(s[0], 0);
  EXPECT_TRUE(std::signbit(mapped<Tanh>({-0.0F})[0]));
}

// Their last bits must not get into the exponent.
TEST(VectorFunctions, KeepNaNsOfAllKinds) {
  std::vector<float> x;
  for (const uint32_t bits : {0x7fc00001U, 0x7fffffffU, 0xffc00123U, 0x7f800001U})
    x.push_back(std::bit_cast<float>(bits));
  for (const auto& y : {mapped<Exponential>(x), mapped<Sigmoid>(x), mapped<Tanh>(x)})
    for (size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(std::isnan(y[i])) << i;
}

}  // namespace
}  // namespace isomer::onednn
