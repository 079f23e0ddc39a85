#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/report/report.h"

namespace isomer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Summary, ReportsRejectedCandidates) {
  OptimizeReport report;
  report.search.algorithm = "greedy";
  EXPECT_TRUE(to_json(report)["search"]["rejected"].empty());
  EXPECT_THAT(summary(report), Not(HasSubstr("rejected")));
  report.search.rejected = {{"a", "output 0: differs\nby much"}, {"b", "does not load"}, {"c", "opset"}};
  EXPECT_EQ(to_json(report)["search"]["rejected"][1], (nlohmann::json{{"rule", "b"}, {"reason", "does not load"}}));
  EXPECT_THAT(summary(report), HasSubstr("rejected   3: a: output 0: differs; b: does not load; ...\n"));
}

TEST(Summary, ShowsWhatASearchNotes) {
  OptimizeReport report;
  EXPECT_THAT(summary(report), Not(HasSubstr("\nnote ")));
  report.search.notes = {"The extraction was cut off", "Another note"};
  EXPECT_THAT(summary(report), HasSubstr("\nnote       The extraction was cut off\nnote       Another note\n"));
  EXPECT_EQ(to_json(report)["search"]["notes"][1], "Another note");
}

TEST(Summary, NamesDroppedDecisions) {
  OptimizeReport report;
  EXPECT_THAT(summary(report), Not(HasSubstr("decisions")));
  report.decisions = {{"layouts", {{"a", "plain"}, {"c", "blocked"}}}};
  EXPECT_THAT(summary(report), Not(HasSubstr("layouts"))) << "they are those of the model";
  report.improved = true;
  EXPECT_THAT(summary(report), HasSubstr("\nlayouts    2 decided\n"));
  report.decisions_dropped = {{"layouts", {{"a", "plain"}}}, {"algorithms", {{"b\n", "winograd"}}}};
  EXPECT_THAT(summary(report), HasSubstr("\ndecisions  not in the output: winograd of 'b\\n', plain of 'a'\n"));
  EXPECT_EQ(to_json(report)["decisions_dropped"], report.decisions_dropped);
}

/// Returns the report of a run on an engine that found a substitution.
OptimizeReport report_by_hand() {
  OptimizeReport report;
  report.input = "a.onnx";
  report.output = "b.onnx";
  report.engine = "ort";
  report.engine_version = "1.2";
  report.device = "a processor";
  report.search = {
      .algorithm = "greedy", .stop_reason = "exhausted", .candidates = 1234, .matches = 2, .seconds = 1.25};
  report.search.steps = {
      {.rule = "merge", .nodes = {"x", "y"}, .ops_before = 4, .ops_after = 2, .delta = -12.5, .speedup = 1.5},
      {.rule = "tidy", .nodes = {"z"}, .ops_before = 2, .ops_after = 2, .joined = true}};
  report.verdicts = {{"merge", "tested"}, {"tidy", "tested"}};
  report.peak_rss_bytes = 3 << 20;
  report.cost_before = Metrics{.latency_us = 30, .kernels = 4, .peak_bytes = 2048};
  report.cost_after = Metrics{.latency_us = 17.5, .kernels = 2, .peak_bytes = 1024};
  report.measured = Measured{.before_us = 20000, .after_us = 10000, .speedup = {2, 1.75, 2.25}};
  report.equivalence = Equivalence{.max_rel = 3e-4, .inputs = 1, .movement = 2e-4};
  report.ops_before = {{"Add", 2}, {"Relu", 2}};
  report.ops_after = {{"Add", 2}};
  report.improved = true;
  report.outcome = "2.00x faster";
  return report;
}

TEST(Summary, SummarizesWhatWasFound) {
  EXPECT_EQ(summary(report_by_hand()), R"(a.onnx: 2.00x faster

             before     after
latency    20.00 ms  10.00 ms  2.000x, 95% [1.750, 2.250]
predicted   30.0 us   17.5 us  1.714x
kernels           4         2  -2
memory      2.0 KiB   1.0 KiB  -1.0 KiB of live activations
operators         4         2  -2

engine     ort 1.2, 1 thread, a processor
outputs    within 3.0e-04 of their largest elements, on 1 random input
           within 2.0e-04 if only the last bits of the model's inputs change
search     greedy, 1.2 s, ended by: exhausted; peak memory 3.0 MiB
           2 matches, 1,234 candidates, 0 duplicates
output     b.onnx

rule   verdict  places  operators  predicted, us  speedup
merge  tested        2     4 -> 2          -12.5    1.500
tidy   tested        1          2

operator  before  after
Relu           2      0
)");
  EXPECT_EQ(to_json(report_by_hand())["memory"]["after"], nullptr);
  OptimizeReport planned = report_by_hand();
  planned.memory_before = ActivationMemory{.arena = 1024, .scratch = 512, .inputs = 512, .outputs = 512};
  planned.memory_after = ActivationMemory{.arena = 512, .inputs = 256, .outputs = 256};
  EXPECT_THAT(summary(planned), HasSubstr("-1.0 KiB of activations, by the plan\n"));
  EXPECT_THAT(summary(planned), HasSubstr("memory     1.0 KiB: arena 512 B, inputs 256 B, outputs 256 B\n"));
  EXPECT_EQ(to_json(planned)["memory"]["before"]["peak_bytes"], 2048);
  EXPECT_EQ(to_json(planned)["memory"]["before"]["scratch_bytes"], 512);
  const auto json = to_json(report_by_hand());
  EXPECT_EQ(json["steps"][0]["delta_us"], -12.5);
  EXPECT_EQ(json["steps"][1]["delta_us"], nullptr) << "told by the step before";
  EXPECT_TRUE(json["dropped"].empty());
}

TEST(Summary, DoesNotShowPenaltiesOfLimits) {
  OptimizeReport report = report_by_hand();
  report.search.steps[0].delta = -3e28;
  report.search.steps[0].penalized = true;
  EXPECT_THAT(summary(report), HasSubstr("limits"));
  EXPECT_EQ(to_json(report)["steps"][0]["delta_us"], nullptr);
  EXPECT_EQ(to_json(report)["steps"][0]["speedup"], nullptr);
}

TEST(Summary, SummarizesAModelThatIsHandedBack) {
  OptimizeReport report = report_by_hand();
  report.output.reset();
  report.improved = false;
  report.cost_after = report.cost_before;
  report.ops_after = report.ops_before;
  const std::string text = summary(report);
  EXPECT_THAT(text, HasSubstr("              model\nlatency    20.00 ms\n"));
  EXPECT_THAT(text, HasSubstr("output     none: a dry run\n\nfound, but not returned:\nrule "));
  EXPECT_TRUE(to_json(report)["steps"].empty());
  EXPECT_EQ(to_json(report)["dropped"].size(), 2U);
}

}  // namespace
}  // namespace isomer
