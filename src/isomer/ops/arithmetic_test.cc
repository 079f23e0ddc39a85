#include <limits>

#include "isomer/ir/field.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

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

TEST(Broadcast, EitherOfTwoSymbolsMayBeOne) {
  const Dim m = symbol("M");
  const Dim n = symbol("N");
  EXPECT_EQ(infer("Add", {}, {f32({n}), f32({m})}), "f32[broadcast(M,N)]");
  EXPECT_EQ(infer("Add", {}, {f32({m, n}), f32({n, 1})}), "f32[broadcast(M,N),N]");
  EXPECT_EQ(infer("Add", {}, {f32({m}), f32({4})}), "f32[4]");
  EXPECT_EQ(infer("Add", {}, {f32({n + 2}), f32({m})}), "f32[N+2]");
  EXPECT_EQ(infer("Sum", {}, {f32({m}), f32({n * 2}), f32({m})}), "f32[broadcast(2*N,M)]");
  const Shape joined = *broadcast({symbol("K")}, *broadcast({n}, {m}));
  EXPECT_EQ(joined, *broadcast(*broadcast({m}, {symbol("K")}), {n}));
  EXPECT_EQ(shape_str(joined), "[broadcast(K,M,N)]");
  EXPECT_EQ(at_least(joined[0], Dim(0)), true);
}

TEST(Broadcast, APartOfAnExtentBesideTheExtentIsAll) {
  const Dim n = symbol("N");
  EXPECT_EQ(*broadcast({min_extent(n, 512)}, {n}), Shape{n});
  EXPECT_EQ(shape_str(*broadcast({min_extent(n, 1)}, {n})), "[broadcast(N,min(1,N))]");
}

TEST(Broadcast, NamesSayWhatTheyStandFor) {
  const auto value_of = [](const std::string& name) -> std::optional<int64_t> {
    if (name == "N") return 5;
    if (name == "one") return 1;
    return std::nullopt;
  };
  EXPECT_EQ(extent_value("broadcast(2*N,one)", value_of), 10);
  EXPECT_EQ(extent_value("broadcast(one,one)", value_of), 1);
  EXPECT_EQ(extent_value("min(3,N+1)", value_of), 3);
  EXPECT_EQ(extent_value("min(3,M)", value_of), std::nullopt);
  EXPECT_EQ(extent_value("N", value_of), std::nullopt);
  for (const char* broken : {"min(", "broadcast(", "min()", "broadcast(,)", "min(N,", "broadcast(N))("})
    (void)extent_value(broken, value_of);
}

TEST(Broadcast, SmallerExtents) {
  const Dim n = symbol("N");
  EXPECT_EQ(min_extent(n, n + 1), n);
  EXPECT_EQ(min_extent(7, 4), Dim(4));
  EXPECT_EQ(min_extent(n, 64).str(), "min(64,N)");
  EXPECT_EQ(min_extent(64, min_extent(n, 64)), min_extent(n, 64));
  EXPECT_EQ(min_extent(min_extent(32, symbol("M")), min_extent(n, 64)).str(), "min(32,M,N)");
}

}  // namespace
}  // namespace isomer::testing
