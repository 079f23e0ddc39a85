#include "isomer/optimize/run_teams.h"

#include <gtest/gtest.h>

#include "isomer/ops/graph_testing.h"

namespace isomer {
namespace {

TEST(RunTeams, AreThoseOfTheKernelsOfARun) {
  Trace trace("run");
  const size_t second = trace.add_track("stream 2");
  const auto add = [&](const char* kernel, const char* result, size_t track, double start, double threads) {
    trace.add({.name = kernel,
               .category = std::string(kernel) == "run" ? "run" : "kernel",
               .start = start,
               .duration = 5,
               .track = track,
               .notes = {{"result", result}, {"threads", threads}}});
  };
  add("run", "", 0, 100, 1);
  add("Exp", "a", 0, 110, 1);
  add("Tanh", "b", second, 112, 1);
  add("reorder", "y", 0, 115, 1);
  add("Add", "y", 0, 120, 2);
  const std::vector<KernelInRun> run = kernels_in(trace);
  ASSERT_EQ(run.size(), 4U) << "without the run itself";
  EXPECT_EQ(run[1].kernel, "Tanh");
  EXPECT_EQ(run[1].stream, second);
  EXPECT_EQ(run[1].start_us, 12) << "from the start of the run";
  EXPECT_EQ(run[1].us, 5);
  EXPECT_EQ(run[3].stream, std::nullopt) << "it has all threads";

  const Graph graph = parsed("input x: f32[8]\na = Exp(x)\nb = Tanh(x)\ny = Add(a, b)\nreturn y");
  std::vector<std::string> names;
  for (ValueId value = 0; value < graph.num_values(); ++value) {
    const std::string op = graph.producer_node(value).op->name;
    names.push_back(op == "Exp" ? "a" : op == "Tanh" ? "b" : op == "Add" ? "y" : "x");
  }
  Candidate candidate(graph);
  const ValueId b = graph.operands(graph.producer_node(graph.outputs()[0]))[1];
  candidate.decisions.teams[b] = Team::All;
  candidate = with_teams_of(std::move(candidate), names, run);
  EXPECT_EQ(candidate.decisions.teams.size(), 3U);
  EXPECT_EQ(candidate.decisions.team(graph.outputs()[0]), Team::All) << "and not that of the reorder";
  EXPECT_EQ(candidate.decisions.team(graph.operands(graph.producer_node(graph.outputs()[0]))[0]), Team::One);
  EXPECT_EQ(candidate.decisions.team(b), Team::All) << "decided before";
}

}  // namespace
}  // namespace isomer
