#include "isomer/rules/formula.h"

#include <gtest/gtest.h>

namespace isomer {
namespace {

std::string formula_of(std::string_view text) {
  const auto rules = parse_rules(text);
  EXPECT_TRUE(rules.has_value()) << rules.error().message;
  return rules ? rule_formula(rules->front()) : "";
}

TEST(Formula, WritesSumsAndProductsAsSuch) {
  EXPECT_EQ(formula_of("rule r\n  (Add (MatMul ?x ?a) (MatMul ?x ?b))\n  => (MatMul ?x (Add ?a ?b))\n"),
            "x · a + x · b\n⟹ x · (a + b)\n");
  EXPECT_EQ(formula_of("rule r\n  (Sub ?x (Sub ?y ?z))\n  => (Sub (Add ?x ?z) ?y)\n"), "x − (y − z)\n⟹ x + z − y\n");
  EXPECT_EQ(formula_of("rule r\n  (Mul (MatMul ?x ?a) 2.0)\n  => (MatMul ?x (Mul ?a 2.0))\n"),
            "(x · a) ∘ 2\n⟹ x · (a ∘ 2)\n");
}

TEST(Formula, TellsAttributesAndConditions) {
  EXPECT_EQ(
      formula_of("rule r\n  (Transpose perm=?p (Transpose perm=?q ?x))\n  => (Transpose perm=permute(?q, ?p) ?x)\n"
                 "  where rank(?x) == 2\n    and dim(?x, 0) == 3\n"),
      "Transpose[perm=p](Transpose[perm=q](x))\n⟹ Transpose[perm=permute(q, p)](x)\nwhere rank(x) == 2, dim(x, 0) == "
      "3\n");
  EXPECT_EQ(formula_of("rule r\n  (Slice ..s ?x)\n  => ?x\n"), "Slice[s](x)\n⟹ x\n");
}

TEST(Formula, NamesPartsOfTheTarget) {
  EXPECT_EQ(formula_of("rule r\n  (Add ?x ?x)\n  => let ?y = (Mul ?x 2.0)\n     ?y\n"), "x + x\n⟹ y\nwith y = x ∘ 2\n");
}

}  // namespace
}  // namespace isomer
