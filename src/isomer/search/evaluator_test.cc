#include "isomer/search/evaluator.h"

#include <gtest/gtest.h>

#include "isomer/search/testing.h"

namespace isomer {
namespace {

/// Returns the entries of a list in turn, and repeats the last one.
class ListEvaluator : public Evaluator {
 public:
  explicit ListEvaluator(std::vector<Interval> answers) : answers_(std::move(answers)) {}
  Result<Interval> measure(const Candidate&, const Candidate&) override {
    return answers_[std::min(asked++, answers_.size() - 1)];
  }
  size_t asked = 0;

 private:
  std::vector<Interval> answers_;
};

double looked(ListEvaluator& evaluator, double least = 1.005, double seconds = 1000) {
  const Graph graph = parsed("input x: f32[2]\ny = Relu(x)\nreturn y\n");
  return measure_closely(evaluator, graph, graph, least, Deadline::after(seconds))->value;
}

TEST(MeasureClosely, AsksOnceWhereTheAnswerIsSure) {
  ListEvaluator faster({{1.05, 1.03, 1.07}});
  EXPECT_EQ(looked(faster), 1.05);
  EXPECT_EQ(faster.asked, 1);
  ListEvaluator slower({{0.95, 0.90, 1.01}});
  EXPECT_EQ(looked(slower), 0.95);
  EXPECT_EQ(slower.asked, 1);
}

TEST(MeasureClosely, AsksAgainWhileItMayHelpAndStopsWhenSure) {
  ListEvaluator evaluator({{1.02, 0.99, 1.05}, {1.02, 0.995, 1.045}, {1.021, 1.001, 1.041}, {9, 9, 9}});
  EXPECT_EQ(looked(evaluator), 1.021);
  EXPECT_EQ(evaluator.asked, 3);
}

TEST(MeasureClosely, GivesUpAfterFourMeasurements) {
  ListEvaluator evaluator({{1.02, 0.99, 1.05}});
  EXPECT_EQ(looked(evaluator), 1.02);
  EXPECT_EQ(evaluator.asked, 4);
}

TEST(MeasureClosely, MeasuresOnceWhenTheTimeIsUp) {
  ListEvaluator evaluator({{1.02, 0.99, 1.05}});
  EXPECT_EQ(looked(evaluator, 1.005, 0), 1.02);
  EXPECT_EQ(evaluator.asked, 1);
}

TEST(MeasureClosely, PassesOverWhatMayBeNoBetterThanTheLeast) {
  ListEvaluator evaluator({{1.02, 0.99, 1.05}});
  EXPECT_EQ(looked(evaluator, 1.03), 1.02);
  EXPECT_EQ(evaluator.asked, 1);
}

}  // namespace
}  // namespace isomer
