#include "isomer/search/oracle.h"

#include <gtest/gtest.h>

#include "isomer/search/testing.h"

namespace isomer {
namespace {

/// Answers with the next of a list, the last one for ever.
class ListOracle : public Oracle {
 public:
  explicit ListOracle(std::vector<Interval> answers) : answers_(std::move(answers)) {}
  Result<Interval> speedup(const Graph&, const Graph&) override {
    return answers_[std::min(asked++, answers_.size() - 1)];
  }
  size_t asked = 0;

 private:
  std::vector<Interval> answers_;
};

double looked(ListOracle& oracle, double least = 1.005, double seconds = 1000) {
  const Graph graph = parsed("input x: f32[2]\ny = Relu(x)\nreturn y\n");
  return look_closely(oracle, graph, graph, least, Deadline::after(seconds))->value;
}

TEST(LookClosely, AsksOnceWhereTheAnswerIsSure) {
  ListOracle faster({{1.05, 1.03, 1.07}});
  EXPECT_EQ(looked(faster), 1.05);
  EXPECT_EQ(faster.asked, 1);
  ListOracle slower({{0.95, 0.90, 1.01}});
  EXPECT_EQ(looked(slower), 0.95);
  EXPECT_EQ(slower.asked, 1);
}

TEST(LookClosely, AsksAgainWhileItMayHelpAndStopsWhenSure) {
  ListOracle oracle({{1.02, 0.99, 1.05}, {1.02, 0.995, 1.045}, {1.021, 1.001, 1.041}, {9, 9, 9}});
  EXPECT_EQ(looked(oracle), 1.021);
  EXPECT_EQ(oracle.asked, 3);
}

TEST(LookClosely, GivesUpAfterFourLooks) {
  ListOracle oracle({{1.02, 0.99, 1.05}});
  EXPECT_EQ(looked(oracle), 1.02);
  EXPECT_EQ(oracle.asked, 4);
}

TEST(LookClosely, LooksOnceWhenTheTimeIsUp) {
  ListOracle oracle({{1.02, 0.99, 1.05}});
  EXPECT_EQ(looked(oracle, 1.005, 0), 1.02);
  EXPECT_EQ(oracle.asked, 1);
}

TEST(LookClosely, PassesOverWhatMayBeNoBetterThanTheLeast) {
  ListOracle oracle({{1.02, 0.99, 1.05}});
  EXPECT_EQ(looked(oracle, 1.03), 1.02);
  EXPECT_EQ(oracle.asked, 1);
}

}  // namespace
}  // namespace isomer
