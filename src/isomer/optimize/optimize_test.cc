#include "isomer/optimize/optimize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/models/models.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/optimize/rule_set.h"

namespace isomer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Optimize : public ::testing::Test {
 protected:
  /// Options for a benchmark network, written to a temporary folder, under the roofline model.
  OptimizeOptions network(const std::string& name) {
    OptimizeOptions options;
    options.input = folder_.path() / (name + ".onnx");
    options.output = folder_.path() / (name + ".out.onnx");
    options.costs.engine = "roofline";
    const auto graph = build_model(name);
    EXPECT_TRUE(graph.has_value());
    EXPECT_TRUE(export_model(make_model(*graph, name, 17), options.input).has_value());
    return options;
  }

  static std::vector<std::string> rules_of(const OptimizeReport& report) {
    std::vector<std::string> rules;
    for (const SearchStep& step : report.search.steps) rules.push_back(step.rule);
    return rules;
  }

  TempDir folder_ = TempDir::make().value();
};

// The trace of a search on a fixed model; it changes with the rules alone, and the commit that changes it says why.
TEST_F(Optimize, ReplaysItsSearchOnAnSru) {
  const OptimizeOptions options = network("sru-11");
  const auto report = optimize(options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->improved);
  EXPECT_THAT(rules_of(*report), ElementsAre("factor-add", "merge-products-shared-left"));
  double sum = 0;
  for (const SearchStep& step : report->search.steps) sum += step.delta_us;
  EXPECT_NEAR(report->cost_after->latency_us - report->cost_before->latency_us, sum, 1e-6);
}

TEST_F(Optimize, TwiceIsOnce) {
  OptimizeOptions options = network("sru-11");
  ASSERT_TRUE(optimize(options).has_value());
  options.input = options.output;
  options.output = folder_.path() / "twice.onnx";
  const auto again = optimize(options);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_FALSE(again->improved);
  EXPECT_EQ(read_file(options.output).value(), read_file(options.input).value());
}

TEST_F(Optimize, ReturnsTheInputByteForByteWhereNothingHelps) {
  OptimizeOptions options = network("sru-11");
  const RuleSet all = usable_rules("", {}).value();
  for (const Rule& rule : all.rules) options.skip_rules.push_back(rule.name);
  const auto report = optimize(options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_FALSE(report->improved);
  EXPECT_THAT(report->outcome, HasSubstr("the output is the input"));
  EXPECT_EQ(read_file(options.output).value(), read_file(options.input).value());
}

TEST_F(Optimize, ConfirmsOnAnEngine) {
  OptimizeOptions options = network("sru-11");
  options.costs.engine = "ort";
  options.search.time_budget_seconds = 5;
  options.confirm = {.warmup = 1, .min_runs = 3, .max_runs = 3, .seconds = 0};
  const auto report = optimize(options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  const auto json = to_json(*report);
  EXPECT_EQ(json["schema"], "isomer.optimize.v1");
  for (const char* key :
       {"model", "engine", "device", "options", "search", "cost", "measured", "steps", "equivalence", "ops"})
    EXPECT_TRUE(json.contains(key)) << key;
  if (report->equivalence) {
    EXPECT_TRUE(report->equivalence->holds);
    EXPECT_LE(report->equivalence->max_rel, 1e-4);
  }
  EXPECT_TRUE(import_model(options.output).has_value());
  EXPECT_THAT(summary(*report), HasSubstr("operators"));
}

TEST_F(Optimize, ReportsRejectedCandidates) {
  OptimizeReport report;
  report.search.algorithm = "greedy";
  EXPECT_TRUE(to_json(report)["search"]["rejected"].empty());
  EXPECT_THAT(summary(report), Not(HasSubstr("rejected")));
  report.search.rejected = {{"a", "output 0: differs\nby much"}, {"b", "does not load"}, {"c", "opset"}};
  EXPECT_EQ(to_json(report)["search"]["rejected"][1], (nlohmann::json{{"rule", "b"}, {"reason", "does not load"}}));
  EXPECT_THAT(summary(report), HasSubstr("rejected   3: a: output 0: differs; b: does not load; ...\n"));
}

TEST_F(Optimize, RefusesBadOptionsAndNamesThem) {
  OptimizeOptions options = network("sru-11");
  const auto message = [&](const OptimizeOptions& bad) {
    const auto report = optimize(bad);
    return report ? "" : report.error().message;
  };
  OptimizeOptions bad = options;
  bad.output = bad.input;
  EXPECT_THAT(message(bad), HasSubstr("sru-11.onnx"));
  bad = options;
  bad.skip_rules = {"no-such-rule"};
  EXPECT_THAT(message(bad), HasSubstr("no-such-rule"));
  bad = options;
  bad.search.search = "magic";
  EXPECT_THAT(message(bad), HasSubstr("magic"));
  bad = options;
  bad.input = folder_.path() / "missing.onnx";
  EXPECT_THAT(message(bad), HasSubstr("missing.onnx"));
  bad = options;
  ASSERT_TRUE(
      write_file(folder_.path() / "false.rules", "rule wrong (Sub ?x ?y) => (Sub ?y ?x) where real(?x)").has_value());
  bad.rules_file = folder_.path() / "false.rules";
  EXPECT_THAT(message(bad), HasSubstr("'wrong' is refuted"));
}

TEST_F(Optimize, ObjectiveAndLimitDecide) {
  OptimizeOptions options = network("sru-11");
  options.objective = Objective::parse("flops").value();
  const auto fewer = optimize(options);
  ASSERT_TRUE(fewer.has_value()) << fewer.error().message;
  EXPECT_TRUE(fewer->improved);
  EXPECT_LT(fewer->cost_after->flops, fewer->cost_before->flops);
  // A limit that nothing can keep leaves the model as it is.
  options.objective = Objective::parse("latency_us").value();
  ASSERT_TRUE(options.objective.add_limit("peak_bytes <= 1").has_value());
  const auto none = optimize(options);
  ASSERT_TRUE(none.has_value()) << none.error().message;
  EXPECT_FALSE(none->improved);
}

}  // namespace
}  // namespace isomer
