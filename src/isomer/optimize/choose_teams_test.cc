#include "isomer/optimize/choose_teams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "isomer/base/temp_dir.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/ops/registry.h"
#include "isomer/plan/stored_decisions.h"

namespace isomer {
namespace {

/// A chain of large products, and small branches.
Graph graph_with_branches(int batch = 1) {
  return parse_graph(fmt::format("input x: f32[{},256]\n", batch) +
                         "w = f32[256,256]{seed 1}\nv = f32[256,256]{seed 2}\na = MatMul(x, w)\n"
                         "b = Tanh(a)\nc = MatMul(b, v)\nd = Softplus(c)\ne = Erf(c)\nf = Sigmoid(d)\ng = Add(e, "
                         "f)\nreturn g, d",
                     find_op)
      .value();
}

struct Optimized {
  TempDir folder = TempDir::make().value();
  OptimizeOptions options = {};
  OptimizeReport report = {};

  explicit Optimized(const Graph& graph, const std::function<void(OptimizeOptions&)>& change = nullptr) {
    options.input = folder.path() / "model.onnx";
    options.output = folder.path() / "better.onnx";
    options.costs.engine = "onednn";
    options.costs.engine_options.streams = 2;
    options.search.time_budget_seconds = 20;
    options.confirm = {.warmup = 1, .min_runs = 3, .max_runs = 20, .seconds = 0.1};
    options.details = true;
    if (change) change(options);
    EXPECT_TRUE(export_model(make_model(graph, "model", 17), options.input).has_value());
    auto done = optimize(options);
    EXPECT_TRUE(done.has_value()) << done.error().message;
    if (done) report = std::move(*done);
  }
};

TEST(ChooseTeams, TimesEveryDivisionAndPredictsTheChosenOne) {
  Trace trace("optimize");
  const Optimized run(graph_with_branches(), [&](OptimizeOptions& options) { options.trace = &trace; });
  ASSERT_TRUE(run.report.teams.has_value());
  const TeamsReport& teams = *run.report.teams;
  EXPECT_EQ(teams.problem, "");
  EXPECT_NE(teams.chosen, "");
  EXPECT_GE(teams.tried.size(), 1U);
  for (const TeamsReport::Tried& tried : teams.tried) EXPECT_GT(tried.predicted_us.value_or(0), 0) << tried.teams;
  ASSERT_TRUE(teams.predicted_us.has_value());
  ASSERT_FALSE(teams.predicted.empty());
  std::set<std::string> results;
  double end = 0;
  for (const KernelInRun& kernel : teams.predicted) {
    end = std::max(end, kernel.start_us + kernel.us);
    results.insert(kernel.result);
  }
  EXPECT_NEAR(end, *teams.predicted_us, 1e-6);
  EXPECT_FALSE(results.contains("")) << "values have the names of the file";
  EXPECT_FALSE(teams.measured.empty());
  for (const char* track : {"predicted run, stream 1", "measured run, stream 1"})
    EXPECT_THAT(trace.tracks(), testing::Contains(track));
  const nlohmann::json json = to_json(run.report)["teams"];
  EXPECT_EQ(json["chosen"], teams.chosen);
  EXPECT_EQ(json["predicted"].size(), teams.predicted.size());
  EXPECT_EQ(json["measured"].size(), teams.measured.size());
  const std::string line = fmt::format("teams      {}: ", teams.chosen);
  EXPECT_EQ(summary(run.report).find(line) != std::string::npos, run.report.improved);
}

TEST(ChooseTeams, TimesTheBatchInParts) {
  const Optimized run(graph_with_branches(64));
  ASSERT_TRUE(run.report.teams.has_value());
  const TeamsReport& teams = *run.report.teams;
  EXPECT_EQ(teams.problem, "");
  ASSERT_FALSE(teams.tried.empty());
  for (const TeamsReport::Tried& tried : teams.tried) EXPECT_GT(tried.predicted_us.value_or(0), 0) << tried.teams;
  ASSERT_TRUE(teams.predicted_us.has_value());
  for (const KernelInRun& kernel : teams.predicted) {
    EXPECT_LE(kernel.start_us + kernel.us, *teams.predicted_us + 1e-6);
    EXPECT_TRUE(!kernel.result.empty() || kernel.kernel == "Slice") << kernel.kernel;
  }
  // All operators are divisible, so both may be the same.
  EXPECT_TRUE(teams.chosen == "from the times of kernels" ||
              std::ranges::count(teams.tried, "batch in parts", &TeamsReport::Tried::teams) == 1);
}

TEST(ChooseTeams, ThatTheModelHasAreKept) {
  const Graph graph = graph_with_branches();
  Optimized run(graph, [](OptimizeOptions& options) { options.search.search = "greedy"; });
  Model model = import_model(run.options.input).value();
  Candidate decided(model.graph);
  for (const Node& node : model.graph.nodes())
    if (model.graph.runs(node) && node.op->name == "MatMul") decided.decisions.teams[node.result()] = Team::One;
  ASSERT_EQ(decided.decisions.teams.size(), 2U);
  ASSERT_TRUE(export_model(with_candidate(model, decided).value(), run.options.input).has_value());
  run.options.force = true;
  const auto again = optimize(run.options);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  const Model output = import_model(run.options.output).value();
  const Decisions kept = stored_decisions(output).value();
  for (const Node& node : output.graph.nodes())
    if (output.graph.runs(node) && node.op->name == "MatMul") {
      EXPECT_EQ(kept.team(node.result()), Team::One);
    }
}

TEST(ChooseTeams, OnlyOnSeveralStreamsByRuns) {
  OptimizeOptions options;
  options.costs.engine = "onednn";
  EXPECT_FALSE(chooses_teams(options));
  options.costs.engine_options.streams = 2;
  EXPECT_TRUE(chooses_teams(options));
  OptimizeOptions by_costs = options;
  by_costs.costs_only = true;
  EXPECT_FALSE(chooses_teams(by_costs));
  OptimizeOptions small = options;
  small.objective = Objective::parse("peak_bytes").value();
  EXPECT_FALSE(chooses_teams(small));
}

}  // namespace
}  // namespace isomer
