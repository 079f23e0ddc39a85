#include "isomer/egraph/exact_extraction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

/// Random operators for random classes. Any class may need any other one, so that most problems have cycles.
ExtractionProblem random_problem(uint64_t seed, uint32_t classes) {
  Rng rng(seed);
  ExtractionProblem problem{.choices = std::vector<std::vector<uint32_t>>(classes)};
  const auto any_class = [&] { return static_cast<uint32_t>(rng.below(classes)); };
  for (uint32_t one = 0; one < 2 * classes; ++one) {
    std::vector<uint32_t> needs;
    for (uint64_t i = rng.below(3); i > 0; --i) needs.push_back(any_class());
    problem.operators.push_back({static_cast<double>(rng.below(10)), needs});
    problem.choices[one < classes ? one : any_class()].push_back(one);
    if (rng.below(4) == 0) {  // another result
      auto& choices = problem.choices[any_class()];
      if (std::ranges::find(choices, one) == choices.end()) choices.push_back(one);
    }
  }
  problem.wanted = {0, 1};
  return problem;
}

/// Tries all combinations of choices.
double brute_force_extraction(const ExtractionProblem& problem) {
  double best = std::numeric_limits<double>::infinity();
  std::vector<size_t> at(problem.choices.size(), 0);
  for (;;) {
    Extraction extraction;
    for (size_t id = 0; id < at.size(); ++id)
      extraction.push_back(problem.choices[id].empty() ? kNotExtracted : problem.choices[id][at[id]]);
    if (const auto needed = needed_part(problem, extraction)) best = std::min(best, extraction_cost(problem, *needed));
    size_t id = 0;
    while (id < at.size() && ++at[id] >= problem.choices[id].size()) at[id++] = 0;
    if (id == at.size()) return best;
  }
}

TEST(ExactExtraction, FindsTheOptimumOfBruteForce) {
  int compared = 0;
  int better = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const ExtractionProblem problem = random_problem(seed, 6);
    const double best = brute_force_extraction(problem);
    const auto greedy = extract_greedily(problem);
    EXPECT_EQ(greedy.has_value(), best < std::numeric_limits<double>::infinity()) << seed;
    if (!greedy) continue;
    const ExactExtraction exact = extract_exactly(problem, *greedy, Deadline::never());
    EXPECT_EQ(exact.gap, 0) << seed;
    EXPECT_NEAR(exact.cost, best, 1e-6) << seed;
    EXPECT_NEAR(extraction_cost(problem, exact.choices), best, 1e-6) << seed;
    EXPECT_TRUE(needed_part(problem, exact.choices).has_value()) << seed;
    EXPECT_GE(extraction_cost(problem, *greedy), best - 1e-6) << seed;
    ++compared;
    better += exact.cost < extraction_cost(problem, *greedy) - 1e-6 ? 1 : 0;
  }
  EXPECT_GT(compared, 50);
  EXPECT_GT(better, 0) << "no problem shows the difference from greedy extraction";
}

/// Three operators for each class, which mostly need classes with larger numbers: as in e-graphs, cycles are rare.
ExtractionProblem layered_problem(uint32_t classes, uint64_t seed = 1) {
  Rng rng(seed);
  ExtractionProblem problem{.choices = std::vector<std::vector<uint32_t>>(classes), .wanted = {0, 1}};
  for (uint32_t id = 0; id < classes; ++id)
    for (int choice = 0; choice < 3; ++choice) {
      std::vector<uint32_t> needs;
      const uint32_t later = classes - id - 1;
      for (uint64_t i = later < 3 ? 0 : 1 + rng.below(2); i > 0; --i)
        needs.push_back(static_cast<uint32_t>(rng.below(8) == 0 ? rng.below(classes)
                                                                : id + 1 + rng.below(std::min<uint32_t>(40, later))));
      problem.choices[id].push_back(static_cast<uint32_t>(problem.operators.size()));
      problem.operators.push_back({1 + 10 * rng.uniform(), needs});
    }
  return problem;
}

/// Classes 1 and 2 each have a cheap operator of their own, and a more expensive one that needs the shared class 3.
ExtractionProblem shared_problem() {
  ExtractionProblem problem;
  problem.operators = {{0, {1, 2}}, {4, {}}, {4, {}}, {0, {3}}, {0, {3}}, {5, {}}};
  problem.choices = {{0}, {1, 3}, {2, 4}, {5}};
  problem.wanted = {0};
  return problem;
}

TEST(ExactExtraction, PaysForWhatIsSharedOnce) {
  const ExtractionProblem problem = shared_problem();
  const auto greedy = extract_greedily(problem);
  ASSERT_TRUE(greedy.has_value());
  EXPECT_EQ(extraction_cost(problem, *greedy), 8) << "each class by itself is cheaper without the shared one";
  const ExactExtraction exact = extract_exactly(problem, *greedy, Deadline::never());
  EXPECT_EQ(exact.cost, 5);
  EXPECT_EQ(exact.choices, (Extraction{0, 3, 4, 5}));
}

TEST(ExactExtraction, BeforeTheDeadlineItReturnsWhatIsKnownWithTheGap) {
  const ExtractionProblem problem = shared_problem();
  const auto greedy = extract_greedily(problem);
  const ExactExtraction late = extract_exactly(problem, *greedy, Deadline::after(0));
  EXPECT_EQ(late.choices, *greedy);
  EXPECT_GT(late.gap, 0);
  EXPECT_LE(late.gap, 1);
}

TEST(ExactExtraction, EndsSoonAfterItIsAskedTo) {
  // Neither can be solved. Most of the time is spent on the first linear program of the larger one, and on branching
  // for the smaller one.
  for (const uint32_t classes : {300, 3000}) {
    const ExtractionProblem problem = layered_problem(classes);
    const auto greedy = extract_greedily(problem);
    ASSERT_TRUE(greedy.has_value());
    int looks = 0;
    const ExactExtraction cut = extract_exactly(problem, *greedy, Deadline::after(1e6, [&] { return ++looks > 2000; }));
    EXPECT_GT(cut.gap, 0);
    EXPECT_LE(cut.gap, 1);
    EXPECT_LE(cut.cost, extraction_cost(problem, *greedy));
    EXPECT_LT(looks, 4000);
    EXPECT_TRUE(needed_part(problem, cut.choices).has_value());
  }
}

TEST(ExactExtraction, TheGapIsNeverTooSmall) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const ExtractionProblem problem = layered_problem(50, seed);
    const auto greedy = extract_greedily(problem);
    const ExactExtraction best = extract_exactly(problem, *greedy, Deadline::never());
    EXPECT_EQ(best.gap, 0) << seed;
    for (const int max_looks : {10, 100, 200, 300, 400, 600, 1000}) {
      int looks = 0;
      const Deadline end = Deadline::after(1e6, [&] { return ++looks > max_looks; });
      const ExactExtraction cut = extract_exactly(problem, *greedy, end);
      EXPECT_LE(cut.cost * (1 - cut.gap), best.cost + 1e-6) << seed << ", " << max_looks;
    }
  }
}

TEST(ExactExtraction, NeverChoosesACycle) {
  // 0 and 1 would be free if each needed only the other one.
  const ExtractionProblem problem{
      .operators = {{0, {1}}, {0, {0}}, {7, {}}, {9, {}}}, .choices = {{0, 2}, {1, 3}}, .wanted = {0, 1}};
  const auto greedy = extract_greedily(problem);
  ASSERT_TRUE(greedy.has_value());
  EXPECT_EQ(extract_exactly(problem, *greedy, Deadline::never()).choices, (Extraction{2, 1}));
}

TEST(Extraction, GreedyCountsWhatOperandsShareOnce) {
  // As a tree, operator 0 would cost 1 + 2 * 5, and operator 1 costs 8.
  const ExtractionProblem problem{.operators = {{1, {1, 2}}, {8, {}}, {0, {3}}, {0, {3}}, {5, {}}},
                                  .choices = {{0, 1}, {2}, {3}, {4}},
                                  .wanted = {0}};
  EXPECT_EQ(extract_greedily(problem), (Extraction{0, 2, 3, 4}));
}

TEST(Extraction, ResultsOfOneOperatorAreOneCost) {
  const ExtractionProblem problem{
      .operators = {{3, {}}, {2, {}}, {2, {}}}, .choices = {{0, 1}, {0, 2}}, .wanted = {0, 1}};
  const auto greedy = extract_greedily(problem);
  ASSERT_TRUE(greedy.has_value());
  EXPECT_EQ(extraction_cost(problem, *greedy), 4);
  const ExactExtraction exact = extract_exactly(problem, *greedy, Deadline::never());
  EXPECT_EQ(exact.cost, 3);
  EXPECT_EQ(exact.choices, (Extraction{0, 0}));
}

TEST(Extraction, FailsIfAClassCannotBeComputed) {
  EXPECT_FALSE(extract_greedily({.operators = {{1, {0}}}, .choices = {{0}}, .wanted = {0}}).has_value());
  EXPECT_FALSE(extract_greedily({.operators = {{1, {1}}}, .choices = {{0}, {}}, .wanted = {0}}).has_value());
}

}  // namespace
}  // namespace isomer
