#include "isomer/search/divided_teams.h"

#include <gtest/gtest.h>

#include <set>

#include "isomer/search/teams_testing.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

/// Rows of one operator after the other; the sum over the rows cannot be divided along them.
Graph rows() {
  return parsed(
      "input x: f32[5,4]\na = Exp(x)\nb = Tanh(a)\ns = ReduceSum(b) {axes=[0], keepdims=1}\ny = Erf(s)\nreturn y");
}

class DividedTeams : public testing::Test {
 protected:
  DividedTeams()
      : one_({{"Exp", 10}, {"Tanh", 20}, {"ReduceSum", 50}, {"Erf", 1}, {"Slice", 3}, {"Concat", 4}}),
        all_({{"Exp", 6}, {"Tanh", 11}, {"ReduceSum", 30}, {"Erf", 1}}) {
    one_.by_rows = all_.by_rows = true;
    times_ = team_times(graph_, one_, all_).value();
  }
  const Candidate graph_ = rows();
  CostOfOperators one_, all_;
  TeamTimes times_;
};

TEST_F(DividedTeams, KernelsTakeAsLongAsTheirLongestPart) {
  EXPECT_EQ(part_times(graph_, times_, one_, 2).value(), (std::vector<double>{30, 60, 0, 0})) << "three rows of five";
  EXPECT_EQ(part_times(graph_, times_, one_, 5).value(), (std::vector<double>{10, 20, 0, 0}));
  EXPECT_EQ(part_times(graph_, times_, one_, 6).value(), (std::vector<double>{0, 0, 0, 0})) << "there are five rows";
}

TEST_F(DividedTeams, StoredDivisionsAreNotThoseOfTheTimes) {
  Candidate stored = graph_;
  for (const Node& node : graph_.graph.nodes())
    if (node.op->name == "Erf") stored.decisions.divisions[node.result()] = Division::Axis1;
  EXPECT_EQ(part_times(stored, times_, one_, 2).value(), (std::vector<double>{30, 60, 0, 0}));
}

TEST_F(DividedTeams, KernelsOfPartsMayBeOthers) {
  TeamTimes fused = times_;  // one kernel for both, which are two in parts
  fused.kernels[1].nodes.insert(fused.kernels[1].nodes.begin(), fused.kernels[0].nodes.back());
  fused.kernels.erase(fused.kernels.begin());
  EXPECT_EQ(part_times(graph_, fused, one_, 2).value(), (std::vector<double>{90, 0, 0})) << "30 and 60";
  one_.free = {"Exp"};  // parts of Exp belong to another kernel
  EXPECT_EQ(part_times(graph_, times_, one_, 2).value(), (std::vector<double>{1e-3, 60, 0, 0}));
}

TEST_F(DividedTeams, PartsRunSideBySide) {
  Candidate divided = divided_everywhere(graph_, Division::Axis0, 2);
  ASSERT_EQ(divided.decisions.divisions.size(), 2U);
  for (const Node& node : graph_.graph.nodes())
    if (node.op->name == "ReduceSum" || node.op->name == "Erf") divided.decisions.teams[node.result()] = Team::All;
  const DividedTimes parts = divided_times(divided, times_, one_, 2).value();
  std::multiset<std::pair<std::string, double>> found;
  const Graph& graph = parts.divided.candidate.graph;
  for (size_t k = 0; k < parts.times.kernels.size(); ++k)
    found.emplace(graph.node(parts.times.kernels[k].nodes.back()).op->name, parts.times.all_us[k]);
  EXPECT_TRUE(found.contains({"Exp", 20}));
  EXPECT_TRUE(found.contains({"Exp", 30}));
  EXPECT_TRUE(found.contains({"ReduceSum", 30})) << "not divided: in all threads";
  for (const auto& values : parts.divided.values)
    for (const ValueId part : values) EXPECT_EQ(&values, &parts.divided.values[parts.divided.originals[part]]);
  // Cuts of 2 and 3 rows, the larger parts of both, the join of five rows, and the rest.
  constexpr double kUs = 3 * 3 + 30 + 60 + 5 * 4 + 30 + 1;
  EXPECT_DOUBLE_EQ(predicted_run(parts.divided.candidate, parts.times, 2).us, kUs);
  const Prediction prediction = predict(divided, times_, one_, 2).value();
  EXPECT_DOUBLE_EQ(prediction.run.us, kUs);
  EXPECT_EQ(prediction.kernels.size(), 2U * 3 + 1 + 2);
}

TEST_F(DividedTeams, WithoutDivisionsAreThoseOfTheCandidate) {
  const Candidate together = with_team(graph_, times_, Team::All);
  const Prediction prediction = predict(together, times_, one_, 2).value();
  EXPECT_DOUBLE_EQ(prediction.run.us, 5 * (6 + 11) + 30 + 1);
  EXPECT_EQ(prediction.graph.hash(), graph_.graph.hash());
  EXPECT_EQ(prediction.originals[graph_.graph.outputs()[0]], graph_.graph.outputs()[0]);
  CostOfOperators none({});
  const TeamTimes unknown = team_times(graph_, one_, none).value();
  const auto failed = predict(together, unknown, one_, 2);
  ASSERT_FALSE(failed.has_value());
  EXPECT_NE(failed.error().message.find("Exp cannot be measured"), std::string::npos) << failed.error().message;
}

/// The engine divides them, since it knows the extents when it runs.
TEST_F(DividedTeams, OfUnknownExtentsAreNotPredicted) {
  const Candidate symbolic = parsed("input x: f32[N,4]\na = Exp(x)\nreturn a");
  one_.by_rows = all_.by_rows = false;
  const TeamTimes times = team_times(symbolic, one_, all_).value();
  const Candidate divided = divided_everywhere(symbolic, Division::Axis0, 2);
  EXPECT_EQ(divided.decisions.divisions.size(), 1U);
  EXPECT_FALSE(predict(divided, times, one_, 2).has_value());
  EXPECT_EQ(part_times(symbolic, times, one_, 2).value(), std::vector<double>{0});
  EXPECT_TRUE(predict(with_team(symbolic, times, Team::All), times, one_, 2).has_value());
}

TEST_F(DividedTeams, OfSymbolsFollowFromTheInputs) {
  const Candidate symbolic = parsed("input x: f32[N,4]\na = Exp(x)\nb = Tanh(a)\nreturn b");
  one_.by_rows = all_.by_rows = false;
  TeamTimes times = team_times(symbolic, one_, all_).value();
  times.inputs = {TensorType(DType::Float, Shape{Dim(5), Dim(4)})};
  one_.by_rows = true;
  EXPECT_EQ(part_times(symbolic, times, one_, 2).value(), (std::vector<double>{30, 60}));
  const Candidate divided = divided_everywhere(symbolic, Division::Axis0, 2);
  const Prediction prediction = predict(divided, times, one_, 2).value();
  EXPECT_DOUBLE_EQ(prediction.run.us, 3 * 3 + 30 + 60 + 5 * 4) << "cut, two parts, and join";
  size_t known = 0;
  for (const ValueId original : prediction.originals) known += original == symbolic.graph.outputs()[0] ? 1 : 0;
  EXPECT_EQ(known, 3U) << "two parts and the join";
}

}  // namespace
}  // namespace isomer
