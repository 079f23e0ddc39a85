#include "isomer/smt/solver.h"

#include <gtest/gtest.h>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

constexpr int64_t kLargest = 3;
const std::vector<std::string> kNames{"a", "b", "c"};

Dim random_dim(Rng& rng) {
  Dim out(static_cast<int64_t>(rng.below(7)) - 3);
  for (int terms = 0; terms < 2; ++terms) {
    Dim product(static_cast<int64_t>(rng.below(5)) - 2);
    for (uint64_t factors = 0; factors <= rng.below(2); ++factors)
      product = product * Dim::symbol(kNames[rng.below(kNames.size())]);
    out = out + product;
  }
  return out;
}

Formula random_formula(Rng& rng, int depth) {
  switch (rng.below(depth > 0 ? 5 : 2)) {
    case 0:
      return equal(random_dim(rng), 0);
    case 1:
      return at_most(0, random_dim(rng));
    case 2:
      return !random_formula(rng, depth - 1);
    case 3:
      return random_formula(rng, depth - 1) && random_formula(rng, depth - 1);
    default:
      return random_formula(rng, depth - 1) || random_formula(rng, depth - 1);
  }
}

bool holds(const Formula& formula, const std::vector<int64_t>& values) {
  switch (formula.kind()) {
    case Formula::Kind::True:
      return true;
    case Formula::Kind::False:
      return false;
    case Formula::Kind::Not:
      return !holds(formula.parts()[0], values);
    case Formula::Kind::And:
      return std::ranges::all_of(formula.parts(), [&](const Formula& part) { return holds(part, values); });
    case Formula::Kind::Or:
      return std::ranges::any_of(formula.parts(), [&](const Formula& part) { return holds(part, values); });
    default:
      break;
  }
  const int64_t value = *formula.dim().evaluate([&](const std::string& name) -> std::optional<int64_t> {
    return values[static_cast<size_t>(std::ranges::find(kNames, name) - kNames.begin())];
  });
  return formula.kind() == Formula::Kind::Zero ? value == 0 : value >= 0;
}

/// Whether `good` returns true for some values of the symbols from 0 to kLargest.
bool some_values(const std::function<bool(const std::vector<int64_t>&)>& good) {
  for (int64_t a = 0; a <= kLargest; ++a)
    for (int64_t b = 0; b <= kLargest; ++b)
      for (int64_t c = 0; c <= kLargest; ++c)
        if (good({a, b, c})) return true;
  return false;
}

std::vector<Formula> random_facts(Rng& rng) {
  std::vector<Formula> out;
  out.reserve(kNames.size() + 3);
  for (const std::string& name : kNames) out.push_back(within(0, Dim::symbol(name), kLargest + 1));
  for (int i = 0; i < 3; ++i) out.push_back(random_formula(rng, 2));
  return out;
}

// One solver for all questions: its cached answers and models must not leak from one question into another.
TEST(Solver, AgreesWithAllValuesGoneThrough) {
  Rng rng(7);
  Solver solver;
  size_t satisfied = 0;
  for (int i = 0; i < 400; ++i) {
    const std::vector<Formula> facts = random_facts(rng);
    const auto all_hold = [&](const std::vector<int64_t>& values) {
      return std::ranges::all_of(facts, [&](const Formula& fact) { return holds(fact, values); });
    };
    const bool expected = some_values(all_hold);
    satisfied += expected ? 1 : 0;
    EXPECT_EQ(solver.satisfiable(facts), expected) << all_of(facts).str();

    const std::vector<Formula> conditions{random_formula(rng, 1), random_formula(rng, 1), random_formula(rng, 1)};
    const std::vector<Rational> weights{1, Rational(-1, 2), Rational(-1, 2)};
    const bool differs = some_values([&](const std::vector<int64_t>& values) {
      Rational sum = 0;
      for (size_t c = 0; c < conditions.size(); ++c)
        if (holds(conditions[c], values)) sum += weights[c];
      return all_hold(values) && sum != 0;
    });
    EXPECT_EQ(solver.sums_to_zero(facts, conditions, weights), !differs) << all_of(facts).str();
  }
  EXPECT_GT(satisfied, 50U);
  EXPECT_LT(satisfied, 350U);
}

TEST(Solver, AsksOnceWhatDiffersInNamesAlone) {
  Solver solver;
  const auto impossible = [](const std::string& x, const std::string& y) {
    const Dim a = Dim::symbol(x);
    const Dim b = Dim::symbol(y);
    return std::vector<Formula>{less(a, b), less(b, a)};
  };
  EXPECT_EQ(solver.satisfiable(impossible("a", "b")), false);
  EXPECT_EQ(solver.queries(), 1U);
  EXPECT_EQ(solver.satisfiable(impossible("c", "d")), false);
  EXPECT_EQ(solver.queries(), 1U);
  // The same symbol in both places makes a different question.
  EXPECT_EQ(solver.satisfiable(std::vector<Formula>{less(Dim::symbol("a"), Dim::symbol("b")),
                                                    less(Dim::symbol("a"), Dim::symbol("b") + 5)}),
            true);
}

TEST(Solver, NeedNotSolveWhatAnEarlierModelSatisfies) {
  Solver solver;
  const Dim a = Dim::symbol("a");
  EXPECT_EQ(solver.satisfiable(std::vector<Formula>{at_most(5, a), at_most(a, 5)}), true);
  const size_t before = solver.queries();
  EXPECT_EQ(solver.satisfiable(std::vector<Formula>{at_most(2, a)}), true);
  EXPECT_EQ(solver.satisfiable(std::vector<Formula>{equal(a * a, 25)}), true);
  EXPECT_EQ(solver.queries(), before);
}

}  // namespace
}  // namespace isomer
