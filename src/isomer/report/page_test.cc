#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "isomer/cost/roofline.h"
#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"
#include "isomer/report/page_data.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/matches.h"
#include "isomer/search/step.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns the text between two marks, the second after the first.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

json data_of(const std::string& page) { return json::parse(between(page, R"(id="data">)", "</script>")); }

/// Returns the report of a run that applied a rule to the gate of an SRU, under the roofline model.
OptimizeReport gate_report() {
  const Graph before = parse_graph(kGate, find_op).value();
  std::vector<Rule> rules =
      rules_of("rule factor-gate (Add (Mul ?f ?c) (Mul (Sub 1.0 ?f) ?z)) => (Add ?z (Mul ?f (Sub ?c ?z)))");
  const Match match = all_matches(before, rules).at(0);
  const Graph after = apply_match(before, match).value();
  RooflineCost costs;
  OptimizeReport report;
  report.engine = "roofline";
  report.cost_before = costs.metrics(before).value();
  report.cost_after = costs.metrics(after).value();
  report.search.steps = {
      step_of(before, match, after, {report.cost_before->latency_us, report.cost_after->latency_us})};
  report.ops_before = {{"Add", 1}, {"Mul", 2}, {"Sub", 1}};
  report.ops_after = {{"Add", 1}, {"Mul", 1}, {"Sub", 1}};
  report.verdicts = {{"factor-gate", "proved"}};
  report.improved = true;
  report.outcome = "cheaper";
  report.details = ReportDetails{.before = before,
                                 .after = after,
                                 .kernels_before = costs.kernels(before).value(),
                                 .kernels_after = costs.kernels(after).value(),
                                 .rules = {{"factor-gate", rules.front()}}};
  return report;
}

TEST(Page, HoldsTheReportAndBothGraphs) {
  const OptimizeReport report = gate_report();
  const json data = data_of(html_page(report));
  EXPECT_EQ(data["report"]["outcome"], report.outcome);
  EXPECT_GT(data["regions"], 0);
  for (const std::string name : {"before", "after"}) {
    const json& graph = data["sides"][name];
    std::map<std::string, int64_t> ops;
    for (const json& node : graph["nodes"])
      if (node["kind"] == "op") ++ops[node["op"].get<std::string>()];
    EXPECT_EQ(ops, name == "before" ? report.ops_before : report.ops_after) << name;
    for (const json& edge : graph["edges"]) EXPECT_LT(edge[0], edge[1]) << "in topological order";
    double us = 0;
    for (const json& kernel : graph["kernels"]) us += kernel["us"].get<double>();
    EXPECT_NEAR(us, (name == "before" ? report.cost_before : report.cost_after)->latency_us, 1e-6) << name;
  }
  for (const SearchStep& step : report.search.steps)
    EXPECT_THAT(data["rules"][step.rule]["text"], HasSubstr("rule " + step.rule));
}

TEST(Page, PartnersPointAtEachOther) {
  const json sides = page_data(gate_report())["sides"];
  const json& before = sides["before"]["nodes"];
  const json& after = sides["after"]["nodes"];
  size_t pairs = 0;
  for (size_t id = 0; id < before.size(); ++id) {
    if (before[id]["partner"].is_null()) continue;
    ++pairs;
    const json& partner = after[before[id]["partner"].get<size_t>()];
    EXPECT_EQ(partner["partner"], id);
    EXPECT_EQ(partner["op"], before[id]["op"]);
  }
  EXPECT_GT(pairs, 0U);
}

TEST(Page, HasOneGraphIfNothingWasFound) {
  OptimizeReport none = gate_report();
  none.details->after = none.details->before;
  EXPECT_TRUE(page_data(none)["sides"]["after"].is_null());
}

// Names of the model, whatever they contain, cannot end or begin an element of the page.
TEST(Page, NamesEndNoElement) {
  OptimizeReport report = gate_report();
  const std::string evil = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\"'&\xff/*DATA*/";
  report.input = evil;
  report.outcome = evil;
  report.search.steps.front().nodes.front() = evil;
  const std::string page = html_page(report);
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
  const std::string outcome = data_of(page)["report"]["outcome"];
  EXPECT_THAT(outcome, HasSubstr("</script><script>alert(1)</script><!--<img"));
  EXPECT_THAT(outcome, HasSubstr("/*DATA*/"));
}

TEST(Page, NeedsNoOtherFile) {
  const std::string page = html_page(gate_report());
  for (const char* mark : {"/*STYLE*/", "/*SCRIPT*/", "/*DATA*/", " src=", "url(", "@import", "fetch("})
    EXPECT_THAT(page, Not(HasSubstr(mark))) << mark;
}

}  // namespace
}  // namespace isomer
