// Runs small experiments end to end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "isomer/repro/autograph/autograph.h"
#include "isomer/repro/contenders.h"
#include "isomer/repro/metaflow/bottlenecks.h"
#include "isomer/repro/metaflow/metaflow.h"
#include "isomer/repro/ocggs/ocggs.h"
#include "isomer/repro/taso/rule_size.h"
#include "isomer/search/part.h"

namespace isomer {
namespace {

using ::testing::HasSubstr;

nlohmann::json cell(const ExperimentResult& result, size_t row, const std::string& column) {
  for (size_t i = 0; i < result.columns.size(); ++i)
    if (result.columns[i].name == column) return result.rows.at(row).cells.at(i);
  ADD_FAILURE() << "no column " << column;
  return {};
}

TEST(Experiments, StartWithoutBatchNormalizations) {
  const auto network = start_network("resnet18");
  ASSERT_TRUE(network.has_value()) << network.error().message;
  for (const Node& node : network->model.graph.nodes()) EXPECT_NE(node.op->name, "BatchNormalization");
  EXPECT_EQ(network->hash().size(), 16U);
  EXPECT_FALSE(start_network("no-such-network").has_value());
}

TEST(Experiments, ASearchThatWasCutOffSaysSo) {
  const auto network = start_network("sru-11");
  ASSERT_TRUE(network.has_value());
  const auto rules = single_step_rules();
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  ReproOptions options;
  const auto run = [&] {
    SearchOptions search = unlimited("enumerate");
    search.max_length = 2;
    return search_by_roofline(*network, rules->rules, p100().roofline, search, options);
  };
  const auto all = run();
  ASSERT_TRUE(all.has_value()) << all.error().message;
  EXPECT_EQ(all->ended(), "");
  EXPECT_GT(all->report.candidates, 5);
  EXPECT_LE(all->after.latency_us, all->before.latency_us);
  options.search_memory = 1;
  EXPECT_EQ(run()->ended(), "cut off (memory)");
  options = {.time_budget_seconds = 0};
  EXPECT_EQ(run()->ended(), "cut off (time budget)");
}

TEST(Experiments, ContendersAreComparedWithTheFirst) {
  ExperimentResult result;
  const auto network = written_network("sru-11", 1, result);
  ASSERT_TRUE(network.has_value()) << network.error().message;
  EXPECT_TRUE(result.hashes.contains("sru-11"));
  const auto output = network->folder.path() / "optimized.onnx";
  const auto found = write_optimized(network->file, {.search = {.search = "greedy"}, .costs_only = true}, output, {});
  ASSERT_TRUE(found.has_value()) << found.error().message;
  const Contender contenders[] = {{"first", network->file}, {"second", output}};
  const auto times = timed(contenders, network->model);
  ASSERT_TRUE(times.has_value()) << times.error().message;
  ASSERT_EQ(times->size(), 2);
  EXPECT_EQ(times->at(0).speedup.value, 1);
  EXPECT_GT(times->at(1).speedup.value, 0);
  for (const ContenderTime& time : *times) EXPECT_GT(time.median_us, 0);
}

TEST(Experiments, TrainingStepsAreContendersToo) {
  ExperimentResult result;
  const auto step = written_training("rnntc", 2, result);
  ASSERT_TRUE(step.has_value()) << step.error().message;
  EXPECT_TRUE(result.hashes.contains("rnntc, batch 2"));
  const Contender contenders[] = {{"one", step->file}, {"other", step->file, {.threads = 2}}};
  const auto times = timed(contenders, step->model, {.loads = 2, .each = {.warmup = 1, .min_runs = 2, .seconds = 0}});
  ASSERT_TRUE(times.has_value()) << times.error().message;
  EXPECT_GT(times->at(1).median_us, 0);
  EXPECT_EQ(interval_text({1, 0.984, 1.126}), "[0.98, 1.13]");
}

TEST(Experiments, CostsAreRankedByWhatTheSearchMeasured) {
  const auto result = autograph_ranks().run({.networks = {"rnntc"}, .time_budget_seconds = 5});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  ASSERT_EQ(result->rows.size(), 1U);
  const bool enough = cell(*result, 0, "graphs") >= 5;
  for (const char* const cost : {"sum", "mixed", "bound", "makespan"}) {
    const nlohmann::json correlation = cell(*result, 0, cost);
    EXPECT_TRUE(correlation.is_null() || (enough && std::abs(correlation.get<double>()) <= 1 + 1e-12)) << cost;
  }
}

TEST(Experiments, Table3OfMetaflowFindsThatAlexnetIsOptimal) {
  const auto result = metaflow_searches().run({.networks = {"alexnet"}});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  ASSERT_EQ(result->rows.size(), 2U);
  EXPECT_EQ(cell(*result, 0, "published"), 5.0);
  EXPECT_EQ(cell(*result, 0, "result"), "optimum: the network itself");
  EXPECT_EQ(cell(*result, 1, "result"), "same result: the network itself");
  EXPECT_THAT(result->rows[0].differs, ::testing::ElementsAre("engine", "rules"));
  EXPECT_TRUE(result->hashes.contains("alexnet"));
  EXPECT_THAT(result->hashes.at("benchmark.rules"), HasSubstr("xxh128:"));
}

TEST(Experiments, Table3OfMetaflowDoesNotCompareWithASearchThatWasCutOff) {
  const auto result = metaflow_searches().run({.networks = {"alexnet"}, .search_memory = 1});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(cell(*result, 0, "result"), "cut off");
  EXPECT_EQ(cell(*result, 1, "result"), "cut off");
}

TEST(Experiments, Table2OfMetaflowSaysWhetherTheSizesAreThePapers) {
  const auto result = metaflow_costs().run({.networks = {"squeezenet-bypass", "rnntc"}, .time_budget_seconds = 0});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  ASSERT_EQ(result->rows.size(), 8U);
  EXPECT_EQ(cell(*result, 0, "network"), "squeezenet-bypass");
  EXPECT_THAT(result->rows[0].differs, ::testing::ElementsAre("engine", "rules", "baseline", "limit"));
  EXPECT_THAT(result->rows[4].differs, ::testing::ElementsAre("engine", "rules", "baseline", "limit", "size"));
  EXPECT_EQ(cell(*result, 0, "ended"), "cut off (time budget)");
}

TEST(Experiments, OcggsAlgorithmsHaveThePapersParameters) {
  EXPECT_STREQ(ocggs_algorithms(7).back().name, "Sampling");  // the experiments compare with the last
  for (const OcggsAlgorithm& algorithm : ocggs_algorithms(7)) EXPECT_EQ(algorithm.search.max_length, 7);
  EXPECT_EQ(ocggs_algorithms(7).back().search.queue, 20);
}

TEST(Experiments, Figure4OfOcggsDoesNotTakeUnimprovedCostsForAgreement) {
  const auto result = ocggs_blocks().run({.networks = {"resnet-blocks-2"}, .search_memory = 1 << 20});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(cell(*result, 1, "algorithm"), "Pruning");
  EXPECT_EQ(cell(*result, 1, "ended"), "cut off (memory)");
  for (const char* unknown : {"cost", "cost / Sampling's", "over enumeration", "Sampling over it"})
    EXPECT_TRUE(cell(*result, 1, unknown).is_null()) << unknown;
  EXPECT_EQ(cell(*result, 2, "published over Pruning"), "slower");
  EXPECT_EQ(cell(*result, 3, "published Sampling over it"), "up to 5.24");
  EXPECT_THAT(result->notes.front(), HasSubstr("No search found a graph that is cheaper than resnet-blocks-2"));
}

TEST(Bottlenecks, SeparateTheModulesOfInception) {
  const auto network = start_network("inception-v3");
  ASSERT_TRUE(network.has_value());
  const auto groups = groups_between_bottlenecks(network->model.graph);
  EXPECT_EQ(std::ranges::count_if(groups, [](const auto& group) { return group.size() >= 5; }), 11);
  size_t nodes = 0;
  for (const auto& group : groups) nodes += group.size();
  EXPECT_EQ(nodes, run_time_nodes(network->model.graph).size());
}

TEST(RuleSize, CountsTheLargerSide) {
  const auto rules = parse_rules(R"(
rule small
  (Neg (Neg ?x)) => ?x
rule siblings
  (Neg @a)...
  => (Split axis=0 split=dims(@a, 0) (Neg (Concat axis=0 @a)))
  where alike(@a, 0) and len(@a) >= 2
)");
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  EXPECT_EQ(size_of((*rules)[0]), 2);
  EXPECT_EQ(operators_of((*rules)[0]), "Neg Neg => operand");
  EXPECT_EQ(size_of((*rules)[1]), 3);
  EXPECT_EQ(operators_of((*rules)[1]), "Neg... => Split Neg Concat");
}

}  // namespace
}  // namespace isomer
