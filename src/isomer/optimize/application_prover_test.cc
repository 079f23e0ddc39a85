// Rules that are false, but hold on all small instances, must not lead to a result.

#include "isomer/optimize/application_prover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/ops/registry.h"
#include "isomer/optimize/optimize.h"

namespace isomer {
namespace {

class Applications : public ::testing::Test {
 protected:
  /// Optimizes a graph with own rules (built-in ones if there are none) under the roofline model.
  OptimizeReport optimized(const std::string& graph, const std::string& rules) {
    OptimizeOptions options;
    options.input = folder_.path() / "model.onnx";
    options.dry_run = true;
    options.costs.engine = "roofline";
    options.search.search = "greedy";
    options.search.time_budget_seconds = 1000;  // the search ends long before, even in a sanitized build
    const auto parsed = parse_graph(graph, find_op);
    EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
    if (!parsed) return {};
    EXPECT_TRUE(export_model(make_model(*parsed, "model", 17), options.input).has_value());
    if (!rules.empty()) {
      options.rules_file = folder_.path() / "own.rules";
      EXPECT_TRUE(write_file(options.rules_file, rules).has_value());
    }
    auto report = optimize(options);
    EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().message);
    return report.value_or(OptimizeReport());
  }

  /// The rule applies, but its application is not proved.
  void expect_refused(const std::string& graph, const std::string& rule) {
    const OptimizeReport report = optimized(graph, "rule wrong\n" + rule);
    EXPECT_FALSE(report.improved);
    EXPECT_TRUE(report.proofs.not_proved.contains("wrong"));
  }

  const TempDir folder_ = TempDir::make().value();
};

/// A model in which x is transposed twice, so that a rule that removes this is used.
std::string transposed(const std::string& inputs, const std::string& after) {
  return inputs + "\nt = Transpose(x) {perm=[1,0]}\nu = Transpose(t) {perm=[1,0]}\n" + after + "\nreturn y";
}

// The rule is true for steps of 2, and so for all structures that are listed. With steps of 3, elements 0 and 3 of four
// would become 0 and 2.
TEST_F(Applications, AreProvedAlsoOfRulesWithAGeneralProof) {
  const std::string rule = R"(
    rule every-second (Neg (Neg (Slice axes=?a starts=?s ends=?e steps=?t ?x)))
      => (Slice axes=?a starts=?s ends=?e steps=[2] ?x) where ?t[0] >= 2)";
  const auto with_steps = [&](int steps) {
    return optimized(fmt::format("input x: f32[4,64]\ns = Slice(x) {{axes=[0], starts=[0], ends=[4], steps=[{}]}}\n"
                                 "n = Neg(s)\nm = Neg(n)\nreturn m",
                                 steps),
                     rule);
  };
  const OptimizeReport second = with_steps(2);
  EXPECT_TRUE(second.improved);
  EXPECT_EQ(second.proofs.at_use.at("every-second"), 1);
  const OptimizeReport third = with_steps(3);
  EXPECT_FALSE(third.improved);
  EXPECT_TRUE(third.proofs.not_proved.contains("every-second"));
}

TEST_F(Applications, DoNotConfuseDimensionsOfTheModelWithSymbolsOfProofs) {
  for (const std::string symbol : {"N", "i0", "k0"})
    expect_refused(transposed("input x: f32[8," + symbol + "]", "y = ReduceMax(u) {axes=[1]}"),
                   "(ReduceMax axes=[1] keepdims=1 (Transpose perm=[1,0] (Transpose perm=[1,0] ?x)))\n"
                   "=> (ReduceMax axes=[1] keepdims=1 (Slice axes=[1] starts=[0] ends=[7] steps=[1] ?x))\n"
                   "where rank(?x) == 2");
}

/// Strided convolutions whose pads follow from extents, and a scale.
std::string padded_by_extents(int convolutions) {
  std::string text = "input v0: f32[1,8,H,W]\nw = f32[8,8,3,3]{seed 1}\ns = f32[1,8,1,1]{seed 2}\n";
  for (int i = 1; i <= convolutions; ++i)
    text += fmt::format(
        "v{} = Conv(v{}, w) {{strides=[2,2], dilations=[1,1], pads=[0,0,0,0], auto_pad=\"SAME_UPPER\"}}\n", i, i - 1);
  return text + fmt::format("y = Mul(v{}, s)\nreturn y", convolutions);
}

TEST_F(Applications, AreProvedWherePadsFollowFromOpenExtents) {
  for (const int convolutions : {1, 2, 3}) {
    const OptimizeReport report = optimized(padded_by_extents(convolutions), "");
    EXPECT_TRUE(report.improved) << convolutions;
    EXPECT_EQ(report.proofs.at_use, (std::map<std::string, size_t>{{"fold-scale", 1}})) << convolutions;
    EXPECT_EQ(report.proofs.in_general, 0) << convolutions;
  }
}

// The extent is -floor(-H / 2). That is positive, while the quotient in it is negative.
TEST_F(Applications, KnowThatExtentsThatAreRoundedUpArePositive) {
  for (const char* rounding : {"auto_pad=\"SAME_UPPER\"", "ceil_mode=1", ""})
    expect_refused(fmt::format("input x: f32[1,1,H,8]\np = MaxPool(x) {{kernel_shape=[2,1], strides=[2,1], "
                               "dilations=[1,1], pads=[0,0,0,0]{}{}}}\nq = Squeeze(p) {{axes=[0,1]}}\n"
                               "t = Transpose(q) {{perm=[1,0]}}\nu = Transpose(t) {{perm=[1,0]}}\n"
                               "y = ReduceMax(u) {{axes=[0]}}\nreturn y",
                               *rounding == 0 ? "" : ", ", rounding),
                   "(ReduceMax axes=[0] keepdims=1 (Transpose perm=[1,0] (Transpose perm=[1,0] ?x)))\n"
                   "=> (ReduceMax axes=[0] keepdims=1 (Slice axes=[0] starts=[0] ends=[7] steps=[1] ?x))\n"
                   "where rank(?x) == 2");
}

// A sum of 8 rows and one row broadcasts. They cannot be stacked.
TEST_F(Applications, NeedNoEqualExtentsThatTheModelDoesNotNeed) {
  const std::string rule =
      "(Neg (Neg (Add (Transpose perm=[1,0] (Transpose perm=[1,0] ?x)) ?y)))\n"
      "=> (ReduceSum axes=[0] keepdims=0 (Concat axis=0 (Unsqueeze axes=[0] ?x) (Unsqueeze axes=[0] ?y)))\n"
      "where rank(?x) == 2 and rank(?y) == 2 and real(?x)";
  const auto model = [](const std::string& rows, const std::string& more_rows) {
    return transposed("input x: f32[" + rows + ",8]\ninput a: f32[" + more_rows + ",8]",
                      "b = Add(u, a)\nc = Neg(b)\ny = Neg(c)");
  };
  expect_refused(model("8", "N"), rule);
  for (const std::string rows : {"8", "N"}) {
    const OptimizeReport report = optimized(model(rows, rows), "rule right\n" + rule);
    EXPECT_TRUE(report.improved) << rows;
    EXPECT_EQ(report.proofs.at_use, (std::map<std::string, size_t>{{"right", 1}})) << rows;
  }
}

// The zeros broadcast the sum to five rows.
TEST_F(Applications, KnowThatANumberStandsForAConstantOfAnyShape) {
  expect_refused(transposed("input x: f32[1,8]", "z = f32[5,8]{fill 0}\na = Add(u, z)\ny = ReduceSum(a) {axes=[0]}"),
                 "(ReduceSum axes=[0] keepdims=1 (Add (Transpose perm=[1,0] (Transpose perm=[1,0] ?x)) 0))\n"
                 "=> (ReduceSum axes=[0] keepdims=1 ?x)\n"
                 "where rank(?x) == 2 and (dim(?x, 0) >= 2 or dim(?x, 1) >= 7)");
}

// Among integers, 0.5 would be 0.
TEST_F(Applications, HaveNoFractionsAmongIntegers) {
  const OptimizeReport report =
      optimized("input w: i64[8,4]\ntwo = i64[]{2}\nx = Mul(w, two)\ny = Mul(x, two)\nreturn y",
                "rule wrong (Mul (Mul ?x 2) 2) => (Mul (Mul (Mul ?x 0.5) 2) 4) where real(?x) or dim(?x, 0) >= 8");
  EXPECT_FALSE(report.improved);
}

// As doubles, both constants are 2^53.
TEST_F(Applications, CompareLargeIntegersExactly) {
  const OptimizeReport report =
      optimized(transposed("input w: i64[8,2]\nc = i64[1,2]{9007199254740993,9007199254740993}\nd = "
                           "i64[1,2]{-9007199254740992,-9007199254740992}\n"
                           "x = Add(w, c)",
                           "y = Add(u, d)"),
                "rule wrong (Add (Transpose perm=[1,0] (Transpose perm=[1,0] (Add ?x ?c))) ?d) => ?x\n"
                "where rank(?x) == 2 and uniform(?c) and uniform(?d) and value(?c) + value(?d) == 0\n"
                "  and dtype(?x) == \"i64\"");
  EXPECT_FALSE(report.improved);
}

TEST_F(Applications, MayHaveInfiniteConstants) {
  const OptimizeReport report =
      optimized(transposed("input x: f32[8,4]\nc = f32[1,4]{fill -inf}", "y = Add(u, c)"), "");
  EXPECT_TRUE(report.improved);
}

/// A convolution of channels in an order without runs: the rule is proved for any list, the application for none.
TEST_F(Applications, RestOnTheGeneralProofWhereProofsGiveUp) {
  std::string order;
  for (int i = 0; i < 128; ++i) order += (i == 0 ? "" : ",") + std::to_string(i * 53 % 127 + (i == 127 ? 127 : 0));
  const OptimizeReport report =
      optimized("input x: f32[1,128,14,14]\ni = i64[128]{" + order +
                    "}\nw = f32[64,128,1,1]{seed 1}\nr = Relu(x)\ng = Gather(r, i) {axis=1}\ny = Conv(g, w) "
                    "{strides=[1,1], pads=[0,0,0,0], dilations=[1,1], group=1}\nreturn y",
                "");
  EXPECT_TRUE(report.improved);
  EXPECT_EQ(report.proofs.in_general, 1);
  EXPECT_THAT(report.proofs.not_proved, testing::IsEmpty());
}

}  // namespace
}  // namespace isomer
