#include "isomer/egraph/integer_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <limits>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

/// A random covering problem: of each row's variables, at least one must be 1.
IntegerProgram random_cover(uint64_t seed, size_t variables, size_t rows) {
  Rng rng(seed);
  IntegerProgram program;
  for (size_t i = 0; i < variables; ++i) program.variables.push_back({.cost = 1 + rng.uniform()});
  for (size_t r = 0; r < rows; ++r) {
    IntegerProgram::Row row{.low = 1};
    for (uint32_t i = 0; i < variables; ++i)
      if (rng.below(4) == 0) row.terms.emplace_back(i, 1);
    if (!row.terms.empty()) program.rows.push_back(row);
  }
  return program;
}

bool satisfied(const IntegerProgram& program, const std::vector<double>& values) {
  for (const auto& [terms, low] : program.rows) {
    double sum = 0;
    for (const auto& [variable, factor] : terms) sum += factor * values[variable];
    if (sum < low - 1e-6) return false;
  }
  return true;
}

double cost(const IntegerProgram& program, const std::vector<double>& values) {
  double out = 0;
  for (size_t i = 0; i < values.size(); ++i) out += values[i] * program.variables[i].cost;
  return out;
}

double brute_force(const IntegerProgram& program) {
  double best = std::numeric_limits<double>::infinity();
  const size_t n = program.variables.size();
  for (uint32_t bits = 0; bits < uint32_t{1} << n; ++bits) {
    std::vector<double> values;
    for (size_t i = 0; i < n; ++i) values.push_back((bits >> i) & 1);
    if (satisfied(program, values)) best = std::min(best, cost(program, values));
  }
  return best;
}

TEST(IntegerProgram, FindsTheOptimumOfBruteForce) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const IntegerProgram program = random_cover(seed, 10, 8);
    const double best = brute_force(program);
    const IntegerSolution solution = minimize(program, 100, Deadline::never());
    EXPECT_TRUE(solution.proved) << seed;
    ASSERT_EQ(solution.values.size(), program.variables.size()) << seed;
    EXPECT_TRUE(satisfied(program, solution.values)) << seed;
    EXPECT_NEAR(cost(program, solution.values), best, 1e-6) << seed;
    EXPECT_NEAR(solution.bound, best, 1e-6) << seed;
  }
}

TEST(IntegerProgram, ProvesThatNothingIsCheaper) {
  const IntegerProgram program = random_cover(1, 10, 8);
  const double best = brute_force(program);
  const IntegerSolution none = minimize(program, best, Deadline::never());
  EXPECT_TRUE(none.values.empty());
  EXPECT_TRUE(none.proved);
  EXPECT_NEAR(none.bound, best, 1e-6);
  EXPECT_FALSE(minimize(program, best + 0.01, Deadline::never()).values.empty());
}

TEST(IntegerProgram, NeverTakesWhatAloneCostsTooMuch) {
  for (const double huge : {1e10, 1e30, 1e300}) {
    IntegerProgram program = random_cover(1, 10, 8);
    for (size_t i = 0; i < 3; ++i) program.variables[i].cost = huge;
    const double best = brute_force(program);
    ASSERT_LT(best, 100);
    for (const double limit : {best, best + 0.01}) {
      const IntegerSolution solution = minimize(program, limit, Deadline::never());
      EXPECT_TRUE(solution.proved) << huge;
      EXPECT_EQ(solution.values.empty(), best >= limit) << huge;
      EXPECT_NEAR(solution.bound, best, 1e-6) << huge;
    }
  }
}

TEST(IntegerProgram, KnowsWhenThereIsNoSolution) {
  const IntegerProgram program{.variables = {{.cost = 1}}, .rows = {{.terms = {{0, 1}}, .low = 2}}};
  const IntegerSolution solution = minimize(program, 10, Deadline::never());
  EXPECT_TRUE(solution.values.empty());
  EXPECT_TRUE(solution.proved);
}

TEST(IntegerProgram, LeavesTheHandlerOfInterrupts) {
  struct sigaction before {
  }, own{};
  own.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGINT, &own, &before), 0);
  int asked = 0, others = 0;
  const auto stop = [&] {
    struct sigaction now {};
    sigaction(SIGINT, nullptr, &now);
    ++asked;
    others += now.sa_handler != own.sa_handler;
    return false;
  };
  const IntegerSolution solution = minimize(random_cover(7, 60, 60), 1000, Deadline::after(1000, stop));
  sigaction(SIGINT, &before, nullptr);
  EXPECT_TRUE(solution.proved);
  EXPECT_GT(asked, 0);
  EXPECT_EQ(others, 0) << "of " << asked;
}

TEST(IntegerProgram, ALimitOfTimeLeavesABound) {
  const IntegerSolution late = minimize(random_cover(1, 10, 8), 100, Deadline::after(0));
  EXPECT_TRUE(late.values.empty());
  EXPECT_FALSE(late.proved);
  const IntegerProgram large = random_cover(2, 400, 300);
  const IntegerSolution cut = minimize(large, 1000, Deadline::after(0.2));
  EXPECT_LT(cut.bound, 1000);
  if (!cut.values.empty()) {
    EXPECT_LE(cut.bound, cost(large, cut.values) + 1e-6);
  }
}

TEST(IntegerProgram, SameProgramSameSolution) {
  const IntegerProgram program = random_cover(3, 40, 30);
  EXPECT_EQ(minimize(program, 100, Deadline::never()).values, minimize(program, 100, Deadline::never()).values);
}

}  // namespace
}  // namespace isomer
