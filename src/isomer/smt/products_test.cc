// Products of facts must hold wherever the facts do, and must let the solver answer questions about products.

#include "isomer/smt/products.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isomer/smt/models.h"
#include "isomer/smt/scope.h"

namespace isomer {
namespace {

const Dim kA = Dim::symbol("a");
const Dim kB = Dim::symbol("b");
const Dim kX = Dim::symbol("x");
const Dim kY = Dim::symbol("y");

TEST(Products, HoldWhereverTheFactsDo) {
  const std::vector<Formula> facts{at_most(1, kA),
                                   at_most(0, kX),
                                   at_most(kX, kY),
                                   equal(kB, kX + 2),
                                   less(kY, kB) || at_most(kA, 0),
                                   at_most(kA * kX, kA * kY + kA * kB),
                                   at_most(kX * kX, kX * kY + kX * kB)};
  const std::vector<Formula> products = products_of_facts(facts);
  EXPECT_GE(products.size(), 4U);
  SymbolIds ids;
  const auto holds = [&](const Formula& formula, const std::vector<int64_t>& values) {
    std::vector<int64_t> model(8, 0);
    const NumberedFormula numbered(formula, ids);
    size_t i = 0;
    for (const char* name : {"a", "b", "x", "y"}) {
      if (const auto id = ids.find(name); id != ids.end()) model[id->second] = values[i];
      ++i;
    }
    return numbered.holds(model) == true;
  };
  size_t satisfied = 0;
  for (int64_t n = 0; n < int64_t{6} * 6 * 6 * 6; ++n) {
    const std::vector<int64_t> values{n % 6 - 1, n / 6 % 6 - 1, n / 36 % 6 - 1, n / 216 - 1};
    const auto true_here = [&](const Formula& formula) { return holds(formula, values); };
    if (!std::ranges::all_of(facts, true_here)) continue;
    ++satisfied;
    EXPECT_TRUE(std::ranges::all_of(products, true_here)) << n;
  }
  EXPECT_GT(satisfied, 5U);
}

TEST(Products, AnswerQuestionsAboutProducts) {
  Scope scope;
  scope.explore([&] {
    scope.assume(at_most(0, kA));
    scope.assume(less(kX, kY));
    scope.assume(within(0, kB, kA));
    EXPECT_TRUE(scope.implied(less(kA * kX + kB, kA * kY)));
    EXPECT_FALSE(scope.implied(less(kA * kX + kB + 1, kA * kY)));
    EXPECT_FALSE(scope.implied(less(kA * kY, kA * kX + kB)));
  });
}

TEST(Products, AnExactQuotientTimesTheDivisorIsTheDividend) {
  EXPECT_EQ(exact_quotient(kA * kX + kB * kX, kA + kB), kX);
  EXPECT_EQ(exact_quotient(4 * kA * kB, 2 * kB), 2 * kA);
  EXPECT_FALSE(exact_quotient(kA * kX + kB, kA).has_value());
  EXPECT_FALSE(exact_quotient(kA, kB).has_value());
  EXPECT_FALSE(exact_quotient(3 * kA, 2).has_value());
  EXPECT_FALSE(exact_quotient(std::numeric_limits<int64_t>::min() + kA, -1).has_value());
}

TEST(Products, SumsOfManyTermsAreDivided) {
  for (const int n : {15, 16, 17, 40}) {
    Dim sum(0);
    for (int i = 0; i < n; ++i) sum = sum + Dim::symbol("x" + std::to_string(i));
    EXPECT_EQ(exact_quotient(2 * sum, 2), sum) << n;
    Scope scope;
    scope.explore([&] {
      const Dim quotient = scope.quotient(2 * sum, 4);
      scope.assume(equal(sum, 6));
      EXPECT_TRUE(scope.implied(equal(quotient, 3))) << n;
    });
  }
}

TEST(Products, OnlyPositiveFactorsCancel) {
  Scope scope;
  scope.explore([&] {
    scope.assume(equal(kA * kX, kA * kY));
    EXPECT_FALSE(scope.implied(equal(kX, kY))) << "a may be 0";
    scope.assume(at_most(1, kB));
    scope.assume(equal(kB * kX, kB * kY));
    EXPECT_TRUE(scope.implied(equal(kX, kY)));
  });
}

TEST(Products, FactorsThatArePositiveWithinASumDoNotCancelOutside) {
  Scope scope;
  scope.explore([&] {
    scope.assume(at_most(0, kA));
    scope.sum({kA}, [&](const std::vector<Dim>&) {
      scope.assume(equal(kA * kX, kA * kY));
      return Element(1);
    });
    EXPECT_FALSE(scope.implied(equal(kX, kY))) << "a may be 0";
  });
}

TEST(Products, ConditionsOfASumBoundNoQuotients) {
  Scope scope;
  scope.explore([&] {
    scope.assume(at_most(0, kA));
    scope.assume(at_most(1, kB));
    const Formula below = less(kA, kX * kB);
    const Formula quotient_above = at_most(kX, scope.quotient(kA, kB));
    EXPECT_FALSE(scope.sums_to_zero({}, {below, below, quotient_above}, {1, -1, 1}));
    EXPECT_TRUE(scope.sums_to_zero({below}, {quotient_above}, {1}));
  });
}

}  // namespace
}  // namespace isomer
