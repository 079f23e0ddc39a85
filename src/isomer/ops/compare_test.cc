#include <cmath>

#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

using Bools = std::vector<uint8_t>;

Tensor bools(const Bools& v) { return Tensor::of(DType::Bool, {static_cast<int64_t>(v.size())}, v); }

TEST(Compare, MakesBooleans) {
  for (const char* name : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
    EXPECT_EQ(infer(name, {}, {f32({kN, 1}), f32({3})}), "bool[N,3]") << name;
    EXPECT_TRUE(refused(name, {}, {f32({2}), i64({2})})) << name;
  }
  const Tensor a = Tensor::floats({3}, {1, 2, NAN});
  const Tensor b = Tensor::floats({1}, {2});
  EXPECT_EQ(run_to<uint8_t>("Less", {}, {a, b}), (Bools{1, 0, 0}));
  EXPECT_EQ(run_to<uint8_t>("GreaterOrEqual", {}, {a, b}), (Bools{0, 1, 0}));
  EXPECT_EQ(run_to<uint8_t>("Equal", {}, {Tensor::strings({2}, {"a", "b"}), Tensor::strings({1}, {"b"})}),
            (Bools{0, 1}));
}

TEST(Logic, WantsBooleans) {
  EXPECT_TRUE(refused("And", {}, {f32({2}), f32({2})}));
  EXPECT_TRUE(refused("Not", {}, {f32({2})}));
  EXPECT_EQ(run_to<uint8_t>("Xor", {}, {bools({0, 1}), bools({1, 1})}), (Bools{1, 0}));
  EXPECT_EQ(run_to<uint8_t>("Not", {}, {bools({0, 1})}), (Bools{1, 0}));
}

TEST(Bits, WantIntegers) {
  EXPECT_TRUE(refused("BitwiseAnd", {}, {f32({2}), f32({2})}));
  EXPECT_EQ(run_to<int64_t>("BitwiseXor", {}, {Tensor::ints({1}, {6}), Tensor::ints({1}, {3})}), Ints{5});
  EXPECT_EQ(run_to<int64_t>("BitwiseNot", {}, {Tensor::ints({1}, {6})}), Ints{-7});
  EXPECT_TRUE(refused("BitShift", {{"direction", "UP"}}, {i64({2}), i64({2})}));
  EXPECT_EQ(run_to<int64_t>("BitShift", {{"direction", "RIGHT"}},
                            {Tensor::ints({3}, {-8, -8, 8}), Tensor::ints({3}, {1, 99, -1})}),
            (Ints{-4, -1, 0}));
}

TEST(Where, Chooses) {
  EXPECT_EQ(infer("Where", {}, {{DType::Bool, {kN, 1}}, f32({1}), f32({1, 3})}), "f32[N,3]");
  EXPECT_TRUE(refused("Where", {}, {f32({2}), f32({2}), f32({2})}));
  EXPECT_EQ(run_to<float>("Where", {}, {bools({1, 0}), Tensor::floats({1}, {5}), Tensor::floats({2}, {6, 7})}),
            (std::vector<float>{5, 7}));
}

TEST(IsInf, LooksAtTheSign) {
  const Tensor x = Tensor::floats({3}, {INFINITY, -INFINITY, NAN});
  EXPECT_EQ(run_to<uint8_t>("IsInf", {{"detect_negative", int64_t{0}}}, {x}), (Bools{1, 0, 0}));
  EXPECT_EQ(run_to<uint8_t>("IsNaN", {}, {x}), (Bools{0, 0, 1}));
}

}  // namespace
}  // namespace isomer::testing
