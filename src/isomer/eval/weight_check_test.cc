#include "isomer/eval/weight_check.h"

#include <gmock/gmock.h>

#include "isomer/ops/graph_testing.h"

namespace isomer {
namespace {

using ::testing::HasSubstr;

const Deadline kEnough = Deadline::after(1e6);

/// Returns why a graph's weights are refused, where `model` is the model that it is derived from; empty if none is.
std::string refusal(const std::string& model, const std::string& graph, const Deadline& end = kEnough) {
  const RefusedWeights refused = WeightCheck(parsed(model)).refused(parsed(graph), end);
  return refused.empty() ? "" : refused.begin()->second;
}

/// Returns the refusal for `weights`: lines that make a value w of `shape`, which is added to x.
std::string said(const std::string& type, const std::string& weights) {
  const std::string model = "input x: " + type + "\n y = Neg(x)\n return y";
  return refusal(model, "input x: " + type + "\n" + weights + "\n y = Add(x, w)\n return y");
}

TEST(WeightCheck, RefusesWhatIsOutOfTheRange) {
  EXPECT_EQ(said("f32[1]", "a = f32[1]{1e30}\n b = f32[1]{1e30}\n w = Mul(a, b)"),
            "a folded weight f32[1] (Mul): element 0 is 1e+60 and would be stored as inf");
  EXPECT_THAT(said("f32[1]", "a = f32[1]{1e-30}\n b = f32[1]{-1e-30}\n w = Mul(a, b)"), HasSubstr("stored as -0"));
  EXPECT_THAT(said("f32[2]", "a = f32[2]{1,3e38}\n b = f32[2]{1,3e38}\n w = Add(a, b)"), HasSubstr("element 1"));
  EXPECT_THAT(said("f32[2,2]", "a = f32[2,2]{fill 1e25}\n w = MatMul(a, a)"), HasSubstr("stored as inf"));
  EXPECT_EQ(said("f32[1]", "a = f32[1]{1e18}\n b = f32[1]{1e20}\n w = Mul(a, b)"), "");
}

TEST(WeightCheck, FillsOfPadsAreOfTheSameType) {
  const std::string square = "\n b = Pad(a) {constant_value=f32[1]{0}, pads=[1,1]}\n w = Mul(b, b)";
  EXPECT_EQ(said("f32[4]", "a = f32[2]{2,3}" + square), "");
  EXPECT_THAT(said("f32[4]", "a = f32[2]{1e30,3}" + square), HasSubstr("element 1 is 1e+60"));
}

TEST(WeightCheck, SubnormalNumbersAreStored) {
  EXPECT_EQ(said("f32[1]", "a = f32[1]{1e-20}\n b = f32[1]{1e-24}\n w = Mul(a, b)"), "");
}

TEST(WeightCheck, KnowsTheRangeOfEveryType) {
  const auto product = [](const std::string& type, const std::string& number) {
    return said(type, "a = " + type + "{" + number + "}\n w = Mul(a, a)");
  };
  const auto narrow = [](const std::string& type, int number, const std::string& element) {
    const std::string own = fmt::format(
        "input x: {0}[1]\n f = f32[1]{{{2}}}\n a = Cast(f) {{to={1}}}\n p = Mul(x, a)\n", type, number, element);
    return refusal(own + "return p", own + "w = Mul(a, a)\n y = Mul(p, w)\n return y");
  };
  EXPECT_THAT(narrow("f16", 10, "300"), HasSubstr("stored as inf"));
  EXPECT_THAT(narrow("f16", 10, "0.0001"), HasSubstr("stored as 0"));
  EXPECT_EQ(narrow("f16", 10, "200"), "");
  EXPECT_EQ(narrow("bf16", 16, "300"), "");
  EXPECT_THAT(narrow("bf16", 16, "1e30"), HasSubstr("stored as inf"));
  EXPECT_THAT(product("f64[1]", "1e200"), HasSubstr("out of the range of double precision"));
  EXPECT_THAT(product("f64[1]", "1e-200"), HasSubstr("out of the range of double precision"));
  EXPECT_EQ(product("f64[1]", "1e100"), "");
  EXPECT_EQ(product("i64[1]", "4294967296"), "") << "integers wrap around in the model, too";
}

TEST(WeightCheck, LongChainsLeaveDoublePrecision) {
  std::string chain = "a = f32[1]{1e38}\n w1 = Mul(a, a)\n";
  for (int i = 2; i <= 10; ++i) chain += fmt::format("w{} = Mul(w{}, a)\n", i, i - 1);
  EXPECT_THAT(said("f32[1]", chain + "w = Neg(w10)"), HasSubstr("out of the range of double precision"));
}

TEST(WeightCheck, OnlyTheEndOfAChainCounts) {
  EXPECT_EQ(said("f32[1]", "a = f32[1]{1e30}\n b = f32[1]{1e-30}\n c = Mul(a, b)\n w = Mul(c, a)"), "");
  // The exact result is 1e30, but single precision gives infinity.
  EXPECT_EQ(said("f32[1]", "a = f32[1]{1e30}\n b = f32[1]{1e-30}\n c = Mul(a, a)\n w = Mul(c, b)"),
            "a folded weight f32[1] (Mul): element 0 is 1e+30 and would be stored as inf");
  EXPECT_THAT(said("f32[1]", "a = f32[1]{1e30}\n c = Mul(a, a)\n w = Sub(c, c)"),
              HasSubstr("is 0 and would be stored as"));
}

TEST(WeightCheck, InfinitiesAndZerosOfTheModelAreWhatTheyAre) {
  EXPECT_EQ(said("f32[3]", "m = f32[3]{0,-inf,1}\n b = f32[3]{2,3,0}\n w = Add(m, b)"), "") << "a mask";
  EXPECT_EQ(said("f32[3]", "m = f32[3]{0,-inf,1}\n b = f32[3]{2,0,0}\n w = Mul(m, b)"), "") << "NaN in any precision";
  EXPECT_EQ(said("f32[2]", "p = f32[2]{0,1}\n b = f32[2]{5,6}\n w = Mul(p, b)"), "") << "pruned";
  EXPECT_THAT(said("f32[2]", "m = f32[2]{0,-inf}\n b = f32[2]{2,3e38}\n c = Mul(b, b)\n w = Add(m, c)"),
              HasSubstr("element 1 is -inf and would be stored as"));
}

TEST(WeightCheck, TheModelsOwnWeightsAreNotChecked) {
  const std::string own = "input x: f32[1]\n a = f32[1]{1e30}\n b = f32[1]{2}\n c = Mul(a, a)\n y = Mul(x, c)\n";
  EXPECT_EQ(refusal(own + "return y", own + "return y"), "");
  EXPECT_EQ(refusal(own + "z = Add(y, b)\n return z", own + "e = Add(c, b)\n z = Mul(x, e)\n return z"), "")
      << "the model has an infinity there";
  EXPECT_THAT(refusal("input x: f32[1]\n a = f32[1]{1e30}\n t = Mul(x, a)\n y = Mul(t, a)\n return y",
                      "input x: f32[1]\n a = f32[1]{1e30}\n c = Mul(a, a)\n y = Mul(x, c)\n return y"),
              HasSubstr("stored as inf"));
}

TEST(WeightCheck, CastsRoundOnlyAtTheEnd) {
  const std::string cast = "a = f32[1]{1e6}\n b = Cast(a) {to=10}\n";
  const std::string x = "input x: f16[1]\n";
  EXPECT_THAT(refusal(x + "y = Neg(x)\n return y", x + cast + "y = Add(x, b)\n return y"),
              HasSubstr("is 1e+06 and would be stored as inf"));
  EXPECT_EQ(refusal(x + cast + "y = Add(x, b)\n return y", x + cast + "y = Sub(x, b)\n return y"), "")
      << "the model casts so itself";
  const std::string back = cast + "c = Cast(b) {to=1}\n";
  EXPECT_THAT(
      refusal("input x: f32[1]\n y = Neg(x)\n return y", "input x: f32[1]\n" + back + "y = Add(x, c)\n return y"),
      HasSubstr("stored as inf"));
}

TEST(WeightCheck, KeepsWhatTakesLongToCompute) {
  WeightCheck check(parsed("input x: f32[4,4]\n y = Neg(x)\n return y"));
  const Graph graph = parsed(
      "input x: f32[4,4]\n a = f32[2,16]{seed 1}\n b = f32[16,4]{seed 2}\n c = f32[2,4]{seed 3}\n"
      "m = MatMul(a, b)\n e = Mul(c, c)\n w = Concat(m, e) {axis=0}\n y = Add(x, w)\n return y");
  EXPECT_TRUE(check.refused(graph, kEnough).empty());
  for (ValueId value = 0; value < graph.num_values(); ++value) {
    const bool product = graph.producer_node(value).op->name == "MatMul";
    EXPECT_EQ(!check.computed(graph.value_hash(value)).empty(), product) << graph.name(value);
  }
}

TEST(WeightCheck, DoesNotDependOnThreads) {
  // Six products that are kept but for one, which is refused, and a sum that is not kept: more than a megabyte in all.
  std::string text = "input x: f32[512,512]\n a = f32[512,64]{seed 1}\n big = f32[1,1]{1e20}\n e = Mul(a, big)\n";
  std::string last = "x";
  for (int i = 0; i < 6; ++i) {
    text += fmt::format("b{0} = f32[64,512]{{seed {1}}}\n c{0} = Mul(b{0}, big)\n m{0} = MatMul({2})\n", i, i + 2,
                        i == 4 ? "e, c4" : fmt::format("a, b{}", i));
    text += fmt::format("y{0} = MatMul({1}, m{0})\n", i, last);
    last = fmt::format("y{}", i);
  }
  text += "c = f32[512,512]{seed 9}\n s = Add(c, c)\n z = Add(" + last + ", s)\n return z";
  const Graph graph = parsed(text);
  const Graph model = parsed("input x: f32[512,512]\n y = Neg(x)\n return y");
  WeightCheck one(model), three(model, 3);
  const RefusedWeights refused = one.refused(graph, kEnough);
  EXPECT_EQ(refused.size(), 1U);
  EXPECT_EQ(three.refused(graph, kEnough), refused);
  size_t kept = 0;
  for (ValueId value = 0; value < graph.num_values(); ++value) {
    const uint64_t hash = graph.value_hash(value);
    EXPECT_EQ(one.computed(hash), three.computed(hash));
    kept += one.computed(hash).empty() ? 0 : 1;
  }
  EXPECT_EQ(kept, 5U);
}

TEST(WeightCheck, WhatCannotBeCheckedIsRefused) {
  const std::string model = "input x: f32[4]\n y = Neg(x)\n return y";
  const std::string sum = "input x: f32[4]\n a = f32[4]{seed 1}\n w = Add(a, a)\n y = Add(x, w)\n return y";
  EXPECT_EQ(refusal(model, sum), "");
  EXPECT_THAT(refusal(model, sum, Deadline::after(0)), HasSubstr("no time left"));
  EXPECT_THAT(refusal("input x: f32[1,8192]\n y = Neg(x)\n return y",
                      "input x: f32[1,8192]\n a = f32[8192,1]{seed 1}\n b = f32[1,8192]{seed 2}\n w = MatMul(a, b)\n"
                      "y = MatMul(x, w)\n return y"),
              HasSubstr("too large"));
}

}  // namespace
}  // namespace isomer
