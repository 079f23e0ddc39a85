#include <limits>

#include "isomer/ir/field.h"
#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

const Dim kN = symbol("N");
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

Tensor ints(const std::vector<int64_t>& v) { return Tensor::ints({static_cast<int64_t>(v.size())}, v); }
Tensor floats(const std::vector<float>& v) { return Tensor::floats({static_cast<int64_t>(v.size())}, v); }

TEST(Arithmetic, Broadcasts) {
  for (const char* name : {"Add", "Sub", "Mul", "Div", "Mod", "Pow", "Max", "Min", "Sum", "Mean"}) {
    EXPECT_EQ(infer(name, {}, {f32({kN, 1}), f32({3})}), "f32[N,3]") << name;
    EXPECT_TRUE(refused(name, {}, {f32({2}), f32({3})})) << name;
    EXPECT_TRUE(refused(name, {}, {{DType::Bool, {2}}, {DType::Bool, {2}}})) << name;
  }
  EXPECT_TRUE(refused("Add", {}, {f32({2}), i64({2})}));
  EXPECT_EQ(infer("Pow", {}, {f32({2}), i64({2})}), "f32[2]");
}

TEST(Arithmetic, IntegersNeverTrap) {
  EXPECT_EQ(run_to<int64_t>("Div", {}, {ints({-7, 7, 5, kMin}), ints({2, -2, 0, -1})}), (Ints{-3, -3, 0, kMin}));
  EXPECT_EQ(run_to<int64_t>("Mod", {}, {ints({-7, 7, 5, kMin}), ints({3, -3, 0, -1})}), (Ints{2, -2, 0, 0}));
  EXPECT_EQ(run_to<int64_t>("Mod", {{"fmod", int64_t{1}}}, {ints({-7, 7}), ints({3, -3})}), (Ints{-1, 1}));
  EXPECT_EQ(run_to<int64_t>("Mul", {}, {ints({kMin}), ints({2})}), Ints{0});
}

TEST(Arithmetic, Reals) {
  EXPECT_EQ(run_to<float>("Mod", {}, {floats({-4.5, 4.5}), floats({2, -2})}), (std::vector<float>{1.5, -1.5}));
  EXPECT_EQ(run_to<float>("Mod", {{"fmod", int64_t{1}}}, {floats({-4.5}), floats({2})}), std::vector<float>{-0.5});
  EXPECT_EQ(run_to<float>("Mean", {}, {floats({1, 2}), floats({3}), floats({5})}), (std::vector<float>{3, 10.0F / 3}));
  EXPECT_TRUE(std::isnan(run_to<float>("Max", {}, {floats({1}), floats({NAN})})[0]));
}

TEST(Pow, MixesTypes) {
  EXPECT_EQ(run_to<float>("Pow", {}, {floats({2, 3}), ints({3, -1})}), (std::vector<float>{8, 1.0F / 3}));
  EXPECT_EQ(run_to<int64_t>("Pow", {}, {ints({2, 9}), floats({3, 0.5})}), (Ints{8, 3}));
  EXPECT_EQ(run_to<int64_t>("Pow", {}, {ints({-3}), ints({3})}), Ints{-27});
}

TEST(Pow, IsExactInTheField) {
  const Tensor x = Tensor::of(DType::Field, {1}, std::vector<Fp>{Fp(5)});
  EXPECT_EQ(run_to<Fp>("Pow", {}, {x, Tensor::of(DType::Field, {}, std::vector<Fp>{Fp(2)})}), std::vector<Fp>{Fp(25)});
  const Tensor half = Tensor::of(DType::Field, {}, std::vector<Fp>{Fp(1) / Fp(2)});
  EXPECT_EQ(run_to<Fp>("Pow", {}, {x, half}), run_to<Fp>("Sqrt", {}, {x}));
}

}  // namespace
}  // namespace isomer::testing
