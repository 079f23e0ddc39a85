#include "isomer/discover/universe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isomer {
namespace {

constexpr std::string_view kSmall = R"(
# Squares.
let N = 3, 5
inputs ?a ?b [N, N]
inputs ?s []
constant ?one (Div 1.0 1.0)
operator (Add ?x ?y) where shape(?x) == shape(?y)
operator (Mul ?s ?x) where rank(?s) == 0 and rank(?x) > 0
operator (Slice axes=[0] starts=[0] ends=[N] steps=[1] ?x), (Slice axes=[0] starts=[N] ends=[2 * N] steps=[1] ?x)
)";

TEST(Universe, ReadsInputsAndOperators) {
  const auto universe = parse_universe(kSmall);
  ASSERT_TRUE(universe.has_value()) << universe.error().message;
  ASSERT_EQ(universe->inputs.size(), 4U);
  EXPECT_EQ(universe->inputs[0].dims, (Ints{3, 3}));
  EXPECT_EQ(universe->inputs[0].group, universe->inputs[1].group);
  EXPECT_NE(universe->inputs[1].group, universe->inputs[2].group);
  EXPECT_TRUE(universe->inputs[3].constant.has_value());
  ASSERT_EQ(universe->ops.size(), 3U);
  EXPECT_TRUE(universe->ops[0].commutative);
  EXPECT_FALSE(universe->ops[1].commutative) << "its conditions tell its operands apart";
  EXPECT_EQ(universe->ops[2].results.size(), 2U);
  EXPECT_EQ(print_term(universe->ops[2].results[1]), "(Slice axes=[0] starts=[3] ends=[6] steps=[1] ?x)");
}

TEST(Universe, HasVariantsOfSizes) {
  EXPECT_EQ(universe_variants(kSmall).value(), 2U);
  EXPECT_EQ(universe_variants("operator (Relu ?x)").value(), 1U);
  EXPECT_EQ(parse_universe(kSmall, 1)->inputs[0].dims, (Ints{5, 5}));
}

TEST(Universe, ALineMayStandForSeveralOperators) {
  const auto universe = parse_universe(R"(
let N = 3, 5
inputs ?a [N, N]
operator for A in 0, 1 for K in 1, N (Slice axes=[A] starts=[0] ends=[K] steps=[1] ?x) where dim(?x, A) > K
)");
  ASSERT_TRUE(universe.has_value()) << universe.error().message;
  ASSERT_EQ(universe->ops.size(), 4U);
  EXPECT_EQ(print_term(universe->ops[1].results[0]), "(Slice axes=[0] starts=[0] ends=[3] steps=[1] ?x)");
  EXPECT_EQ(print_term(universe->ops[2].results[0]), "(Slice axes=[1] starts=[0] ends=[1] steps=[1] ?x)");
}

TEST(Universe, ReadsBundles) {
  const auto universe = parse_universe(R"(
inputs ?x [2, 3, 4, 4]
bundle ?p ?q kernel [5, 3, 1, 1] bias [5]
operator (Conv ?x ?p.kernel ?p.bias) where rank(?x) == 4
operator kernel: (Concat axis=0 ?p.kernel ?q.kernel), bias: (Concat axis=0 ?p.bias ?q.bias) where rank(?p) == 2
)");
  ASSERT_TRUE(universe.has_value()) << universe.error().message;
  ASSERT_EQ(universe->inputs.size(), 3U);
  EXPECT_EQ(universe->inputs[1].dims, (Ints{5, 4})) << "three columns of the kernel, one of the bias";
  EXPECT_EQ(universe->inputs[1].group, universe->inputs[2].group);
  EXPECT_EQ(universe->ops[0].operands, (std::vector<std::string>{"x", "p"}));
  const Term& conv = universe->ops[0].results[0];
  EXPECT_EQ(part_taken(*universe, conv.operands[1]), (PartId{0, 0}));
  EXPECT_EQ(part_taken(*universe, conv.operands[2]), (PartId{0, 1}));
  EXPECT_EQ(part_taken(*universe, conv), std::nullopt);
  EXPECT_EQ(universe->ops[1].results.size(), 1U);
  EXPECT_EQ(universe->ops[1].parts.size(), 2U);
}

TEST(Universe, TellsTheLineOfAMistake) {
  const auto message = [](std::string_view text) {
    const auto universe = parse_universe(text);
    return universe.has_value() ? std::string("none") : universe.error().message;
  };
  EXPECT_THAT(message("\ninput ?a [3]"), testing::HasSubstr("line 2"));
  EXPECT_THAT(message("inputs ?a [3]\noperator (Nonesuch ?x)"),
              testing::AllOf(testing::HasSubstr("line 2"), testing::HasSubstr("Nonesuch")));
  EXPECT_THAT(message("inputs ?a [3]\ninputs ?a [3]"), testing::HasSubstr("a second input"));
  EXPECT_THAT(message("inputs ?a [0]"), testing::HasSubstr("extent"));
  EXPECT_THAT(message("inputs ?a [3]\noperator (Concat axis=0 ?x ?y ?z)"), testing::HasSubstr("one or two operands"));
  EXPECT_THAT(message("inputs ?a [3]\noperator for A of 0, 1 (Relu ?x)"), testing::HasSubstr("'in' after 'for A'"));
  EXPECT_THAT(message("inputs ?a [3]\noperator for axis in 0, 1 (Relu ?x)"), testing::HasSubstr("capital letter"));
  EXPECT_THAT(message("inputs ?a [3]\noperator for A in 0, 1 (Relu ?x)"), testing::HasSubstr("does not say 'A'"));
  EXPECT_THAT(message("inputs ?a [3]\noperator for A in 0 for A in 1 (Concat axis=A ?x ?y)"),
              testing::HasSubstr("does not say 'A'"));
  const std::string many = "for A in 1, 2, 3, 4, 5, 6, 7, 8, 9 ";
  EXPECT_THAT(message("inputs ?a [3]\noperator " + many + many + many + "(Concat axis=A ?x ?y)"),
              testing::HasSubstr("at most 254 operators"));
  EXPECT_THAT(message("inputs ?a [3]\nconstant ?c (Relu ?x)"), testing::HasSubstr("without variables"));
  EXPECT_THAT(message("let N = 1\nlet M = 1, 2\ninputs ?a [N]"), testing::HasSubstr("same number of variants"));
  EXPECT_THAT(message("inputs ?a [3]"), testing::HasSubstr("operators"));
  EXPECT_THAT(message("bundle ?p"), testing::HasSubstr("has parts"));
  EXPECT_THAT(message("bundle ?p w [2, 3] b [3]"), testing::HasSubstr("equal first extents"));
  EXPECT_THAT(message("bundle ?p w [2, 3] b [2]\noperator w: (Relu ?x)"), testing::HasSubstr("all parts"));
}

}  // namespace
}  // namespace isomer
