#include "isomer/discover/zeros.h"

#include <gtest/gtest.h>

namespace isomer {
namespace {

bool holds(const std::string& text) { return holds_at_zeros(parse_rules("rule r\n" + text).value()[0]); }

TEST(Zeros, TellWhereAQuotientIsNotANumber) {
  EXPECT_FALSE(holds("(Div (Mul ?a ?a) ?a) => ?a"));
  EXPECT_FALSE(holds("(Mul (Div ?a ?b) ?b) => ?a where shape(?a) == shape(?b)"));
  EXPECT_TRUE(holds("(Div (Div ?a ?b) ?b) => (Div ?a (Mul ?b ?b))"));
  EXPECT_FALSE(holds("(Div (Add ?a ?b) ?c) => (Add (Div ?a ?c) (Div ?b ?c))")) << "1/0, and 1/0 + 0/0";
  EXPECT_TRUE(
      holds("(Div (Exp ?a) (ReduceSum axes=[1] keepdims=1 (Exp ?a))) => (Softmax axis=-1 ?a) where rank(?a) == 2"));
  EXPECT_TRUE(holds("(Relu (Relu ?a)) => (Relu ?a)"));
}

}  // namespace
}  // namespace isomer
