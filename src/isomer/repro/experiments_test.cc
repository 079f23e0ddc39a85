// Runs small experiments end to end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "isomer/base/file.h"
#include "isomer/engine/inputs.h"
#include "isomer/repro/autograph/autograph.h"
#include "isomer/repro/contenders.h"
#include "isomer/repro/metaflow/bottlenecks.h"
#include "isomer/repro/metaflow/metaflow.h"
#include "isomer/repro/metaflow/torch_step.h"
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

/// Stands for a Python: checks that the files are there, among them the data that the file "$0.data" names, adds its
/// limits to a file, and answers with the loss in "$0.loss"; for channels last, with twice the times.
constexpr const char* kPython = R"sh(#!/bin/sh
for file in "$1" "$2" "${1%step.py}network.py" "$4/$(cat "$0.data").npy"; do
  [ -s "$file" ] || { echo "no $file"; exit 1; }
done
[ "$3 $5 $6 $7" = "1 --rate 1e-6 --time" ] || { echo "wrong: $*"; exit 1; }
shift 7
echo "$1 $2 $3 $4" >> "$0.limits"
times="30, 50"
[ "$5" = --channels-last ] && times="60, 100"
answer="{\"version\": \"9.9\", \"loss\": $(cat "$0.loss"), \"microseconds\": [$times]}"
{ printf "\\$(printf %o ${#answer})"; head -c 15 /dev/zero; printf %s "$answer"; } >&0
)sh";

void write_program(const std::filesystem::path& program, const std::string& text) {
  ASSERT_TRUE(write_file(program, text).has_value());
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
}

void write_python(const std::filesystem::path& program, const std::string& data, double loss) {
  write_program(program, kPython);
  ASSERT_TRUE(write_file(program.string() + ".data", data).has_value());
  ASSERT_TRUE(write_file(program.string() + ".loss", fmt::format("{}", loss)).has_value());
}

double loss_of(const WrittenNetwork& step) {
  const auto engine = make_engine("onednn").value();
  const SessionId session = engine->load(step.file).value();
  return engine->run(session, random_inputs(step.model, {}, 1).value()).value().at(0).data<float>()[0];
}

TEST(Experiments, StepsOfPyTorchAreContendersToo) {
  ExperimentResult result;
  const auto step = written_training("squeezenet", 1, result);
  ASSERT_TRUE(step.has_value()) << step.error().message;
  const std::filesystem::path python = step->folder.path() / "python";
  write_python(python, "input", loss_of(*step));
  const auto contenders = torch_contenders(python, "squeezenet", 1, *step);
  ASSERT_TRUE(contenders.has_value()) << contenders.error().message;
  ASSERT_EQ(contenders->size(), 2U);
  EXPECT_EQ(contenders->at(0).name, "PyTorch 9.9");
  EXPECT_EQ(contenders->at(1).name, "PyTorch 9.9, channels last");
  const auto times =
      timed(*contenders, step->model, {.loads = 2, .each = {.warmup = 3, .max_runs = 5, .seconds = 0.5}});
  ASSERT_TRUE(times.has_value()) << times.error().message;
  EXPECT_EQ(times->at(0).median_us, 40);
  EXPECT_EQ(times->at(1).median_us, 80);
  EXPECT_EQ(read_file(python.string() + ".limits").value(),
            "1 1 1 0\n1 1 1 0\n3 10 5 0.5\n3 10 5 0.5\n3 10 5 0.5\n3 10 5 0.5\n");
}

TEST(Experiments, StepsOfPyTorchComputeTheSame) {
  ExperimentResult result;
  const auto step = written_training("rnntc", 1, result);
  ASSERT_TRUE(step.has_value()) << step.error().message;
  const std::filesystem::path python = step->folder.path() / "python";
  const auto contenders = [&] { return torch_contenders(python, "rnntc", 1, *step); };
  const auto error = [&] {
    const auto made = contenders();
    return made ? "none" : made.error().message;
  };
  const double loss = loss_of(*step);
  write_python(python, "x0", loss);
  ASSERT_EQ(error(), "none");
  EXPECT_EQ(contenders()->size(), 1U) << "it reads no images";
  write_python(python, "x0", 1.01 * loss);
  EXPECT_THAT(error(), AllOf(HasSubstr("the loss of rnntc is"), HasSubstr("in the built-in runtime")));
  for (const std::string answer : {"{}", R"({"version": 9, "loss": 1, "microseconds": [1]})",
                                   R"({"version": "9", "loss": 1, "microseconds": []})"}) {
    write_program(python, fmt::format("#!/bin/sh\n{{ printf '\\{:o}'; head -c 15 /dev/zero; printf %s '{}'; }} >&0\n",
                                      answer.size(), answer));
    EXPECT_THAT(error(), HasSubstr("sent an answer that cannot be read: {"));
  }
  write_program(python, "#!/bin/sh\necho no torch; exit 3\n");
  EXPECT_THAT(error(), HasSubstr("ended with status 3: no torch"));
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
