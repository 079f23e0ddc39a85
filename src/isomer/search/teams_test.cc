#include "isomer/search/teams.h"

#include <gtest/gtest.h>

#include <map>

#include "isomer/search/teams_testing.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

/// Two branches of equal length, and a kernel after both.
Graph two_branches() {
  return parsed(
      "input x: f32[8]\na = Exp(x)\nb = Tanh(x)\nc = Sigmoid(a)\nd = Softplus(b)\ns = Add(c, d)\ny = Erf(s)\nreturn y");
}
const std::map<std::string, double> kOne{{"Exp", 100},     {"Tanh", 100}, {"Sigmoid", 50},
                                         {"Softplus", 50}, {"Add", 10},   {"Erf", 400}};
const std::map<std::string, double> kAll{{"Exp", 70},      {"Tanh", 70}, {"Sigmoid", 40},
                                         {"Softplus", 40}, {"Add", 10},  {"Erf", 210}};

std::map<std::string, Team> by_operator(const Candidate& candidate) {
  std::map<std::string, Team> out;
  for (const auto& [value, team] : candidate.decisions.teams) out[candidate.graph.producer_node(value).op->name] = team;
  return out;
}

TEST(Teams, FollowFromTheTimesOfKernels) {
  const Candidate graph = two_branches();
  CostOfOperators one(kOne), all(kAll);
  const auto times = team_times(graph, one, all);
  ASSERT_TRUE(times.has_value()) << times.error().message;
  const auto teams = by_operator(with_stages(graph, *times, 2));
  for (const char* op : {"Exp", "Tanh", "Sigmoid", "Softplus"}) EXPECT_EQ(teams.at(op), Team::One) << op;
  EXPECT_EQ(teams.at("Erf"), Team::All);
  // With threads that divide the work perfectly, kernels one after the other are as fast, and wait for nothing.
  CostOfOperators halves({{"Exp", 50}, {"Tanh", 50}, {"Sigmoid", 25}, {"Softplus", 25}, {"Add", 5}, {"Erf", 200}});
  for (const auto& [op, team] : by_operator(with_stages(graph, *team_times(graph, one, halves), 2)))
    EXPECT_EQ(team, Team::All) << op;
}

TEST(Teams, AreTheSameForAllKernels) {
  const Candidate graph = two_branches();
  CostOfOperators one(kOne), all(kAll);
  const TeamTimes times = team_times(graph, one, all).value();
  for (const Team team : {Team::One, Team::All}) {
    const auto teams = by_operator(with_team(graph, times, team));
    EXPECT_EQ(teams.size(), 6U);
    for (const auto& [op, decided] : teams) EXPECT_EQ(decided, team) << op;
  }
}

TEST(Teams, ThatAreDecidedStay) {
  Candidate graph = two_branches();
  CostOfOperators one(kOne), all(kAll);
  const ValueId last = graph.graph.outputs()[0];
  graph.decisions.teams[last] = Team::One;
  const TeamTimes times = team_times(graph, one, all).value();
  EXPECT_EQ(with_stages(graph, times, 2).decisions.team(last), Team::One);
  EXPECT_EQ(with_team(graph, times, Team::All).decisions.team(last), Team::One);
}

TEST(Teams, NeedTheTimesOfOneThread) {
  CostOfOperators one(kOne), some({{"Exp", 1}});
  EXPECT_FALSE(team_times(two_branches(), some, one).has_value());
  const TeamTimes times = team_times(two_branches(), one, some).value();
  EXPECT_TRUE(times.all_us.empty());
  EXPECT_EQ(with_team(two_branches(), times, Team::All).decisions.teams.size(), 6U);
}

TEST(Teams, IgnoreSecondComputations) {
  Candidate graph = two_branches();
  for (const Node& node : graph.graph.nodes())
    if (graph.graph.runs(node)) graph.decisions.computations[node.result()] = Computation::Twice;
  CostOfOperators one(kOne), all(kAll);
  const TeamTimes times = team_times(graph, one, all).value();
  EXPECT_EQ(times.kernels.size(), 6U);
  EXPECT_EQ(with_stages(graph, times, 2).decisions.computations.size(), 6U);
}

std::map<std::string, PredictedSpan> spans_by_operator(const Candidate& candidate, const TeamTimes& times) {
  const PredictedRun run = predicted_run(candidate, times, 2);
  std::map<std::string, PredictedSpan> out;
  for (size_t k = 0; k < times.kernels.size(); ++k)
    out[candidate.graph.node(times.kernels[k].nodes.back()).op->name] = run.spans[k];
  return out;
}

TEST(Teams, OfARunArePredicted) {
  const Candidate graph = two_branches();
  CostOfOperators one(kOne), all(kAll);
  const TeamTimes times = team_times(graph, one, all).value();
  EXPECT_DOUBLE_EQ(predicted_run(with_team(graph, times, Team::All), times, 2).us, 70 + 70 + 40 + 40 + 10 + 210);
  EXPECT_DOUBLE_EQ(predicted_run(with_team(graph, times, Team::One), times, 2).us, 150 + 10 + 400);
  const Candidate mixed = with_stages(graph, times, 2);
  EXPECT_DOUBLE_EQ(predicted_run(mixed, times, 2).us, 150 + 10 + 210);
  auto spans = spans_by_operator(mixed, times);
  EXPECT_NE(spans.at("Exp").stream, spans.at("Tanh").stream);
  EXPECT_DOUBLE_EQ(spans.at("Sigmoid").start_us, 100);
  EXPECT_EQ(spans.at("Erf").stream, std::nullopt);
  EXPECT_DOUBLE_EQ(spans.at("Erf").start_us, 160);
  EXPECT_DOUBLE_EQ(spans.at("Erf").us, 210);
}

TEST(Teams, OfARunThatSlowEachOtherDown) {
  const Candidate graph = two_branches();
  CostOfOperators one(kOne), all(kAll);
  const auto predicted_us = [&](Team team) {
    const TeamTimes times = team_times(graph, one, all).value();
    return predicted_run(with_team(graph, times, team), times, 2).us;
  };
  one.weight_bytes = 1e6;  // takes longer from memory than any kernel does
  all.neighbors = {.slowdown = {{{1, 1}, {1, 1.5}}}, .memory_us = 1, .cache_us = 1e-9};
  EXPECT_NEAR(predicted_us(Team::One), 1.5 * 150 + 10 + 400, 0.01) << "the branches";
  EXPECT_DOUBLE_EQ(predicted_us(Team::All), 70 + 70 + 40 + 40 + 10 + 210) << "no neighbors";
  one.weight_bytes = 0;
  EXPECT_DOUBLE_EQ(predicted_us(Team::One), 150 + 10 + 400);
  all.neighbors = {.synchronization_us = 3, .transfer_us = 0.01};
  EXPECT_DOUBLE_EQ(predicted_us(Team::One), 150 + 3 + 10 + 10 + 400) << "the sum waits for a result, and reads it";
  // All but the first two read results; each thread reads a half, of which it made a half. The sum reads two.
  EXPECT_DOUBLE_EQ(predicted_us(Team::All), 70 + 70 + 40 + 40 + 10 + 210 + 0.01 * 1000 / 4 * 5);
}

TEST(Teams, AreReplacedByDivisionsWhereThatIsFaster) {
  Candidate graph = two_branches();
  CostOfOperators one(kOne), all(kAll);
  TeamTimes times = team_times(graph, one, all).value();
  EXPECT_TRUE(with_stages(graph, times, 2).decisions.divisions.empty()) << "times of parts are not known";
  for (const PlannedKernel& kernel : times.kernels) times.part_us.push_back(kernel.us / 2);
  const Decisions divided = with_stages(graph, times, 2).decisions;
  EXPECT_EQ(divided.divisions.size(), 6U);
  EXPECT_TRUE(divided.teams.empty());
  graph.decisions.teams[graph.graph.outputs()[0]] = Team::All;
  const Decisions mixed = with_stages(graph, times, 2).decisions;
  EXPECT_EQ(mixed.divisions.size(), 5U);
  EXPECT_EQ(mixed.team(graph.graph.outputs()[0]), Team::All) << "decided before";
}

TEST(Teams, ViewsOfDividedAndWholeValuesStayWhole) {
  const Candidate graph = parsed(
      "input x: f32[8,4]\na = Exp(x)\np, q = Split(a) {axis=1, split=[1,3]}\ns = Concat(q, p) {axis=1}\n"
      "w = Concat(q, x) {axis=1}\nreturn s, w");
  CostOfOperators one({{"Exp", 100}}), all({{"Exp", 70}});
  one.free = all.free = {"Split", "Concat"};
  TeamTimes times = team_times(graph, one, all).value();
  times.part_us = {50};
  std::vector<std::string> divided;
  for (const auto& [value, division] : with_stages(graph, times, 2).decisions.divisions)
    divided.push_back(graph.graph.producer_node(value).op->name);
  EXPECT_EQ(divided, (std::vector<std::string>{"Exp", "Split", "Concat"})) << "and not the one that also reads x";
}

TEST(Teams, ViewsBetweenDividedKernelsAreDivided) {
  const Candidate graph = parsed(
      "input x: f32[8,4]\na = Exp(x)\nv = Reshape(a) {shape=[8,2,2]}\nb = Tanh(v)\nw = Reshape(b) {shape=[32]}\n"
      "return b, w");
  CostOfOperators one({{"Exp", 100}, {"Tanh", 100}}), all({{"Exp", 70}, {"Tanh", 70}});
  one.free = all.free = {"Reshape"};
  TeamTimes times = team_times(graph, one, all).value();
  times.part_us = {50, 50};
  std::map<std::string, int> divided;
  for (const auto& [value, division] : with_stages(graph, times, 2).decisions.divisions)
    ++divided[graph.graph.producer_node(value).op->name];
  EXPECT_EQ(divided, (std::map<std::string, int>{{"Exp", 1}, {"Tanh", 1}, {"Reshape", 1}}));
}

}  // namespace
}  // namespace isomer
