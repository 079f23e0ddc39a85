#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/base/temp_dir.h"
#include "isomer/models/models.h"
#include "isomer/onnx/export.h"
#include "isomer/optimize/page_data.h"

namespace isomer {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// What stands between two marks, the second after the first.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

json data_of(const std::string& page) { return json::parse(between(page, R"(id="data">)", "</script>")); }

class Page : public ::testing::Test {
 protected:
  /// A run on a benchmark network under the roofline model.
  OptimizeReport report_of(const std::string& name) {
    OptimizeOptions options;
    options.input = folder_.path() / (name + ".onnx");
    options.dry_run = true;
    options.details = true;
    options.costs.engine = "roofline";
    EXPECT_TRUE(export_model(make_model(build_model(name).value(), name, 17), options.input).has_value());
    auto report = optimize(options);
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return std::move(*report);
  }

  TempDir folder_ = TempDir::make().value();
};

TEST_F(Page, HoldsTheReportAndBothGraphs) {
  const OptimizeReport report = report_of("sru-11");
  const json data = data_of(html_page(report));
  EXPECT_EQ(data["report"]["outcome"], report.outcome);
  EXPECT_GT(data["regions"], 0);
  double sums[2] = {0, 0};
  size_t side = 0;
  for (const char* name : {"before", "after"}) {
    const json& graph = data["sides"][name];
    size_t ops = 0;
    for (const json& node : graph["nodes"]) ops += node["kind"] == "op" ? 1 : 0;
    size_t counted = 0;
    for (const auto& [op, count] : side == 0 ? report.ops_before : report.ops_after)
      counted += static_cast<size_t>(count);
    EXPECT_EQ(ops, counted) << name;
    for (const json& edge : graph["edges"]) EXPECT_LT(edge[0], edge[1]) << "in topological order";
    for (const json& kernel : graph["kernels"]) sums[side] += kernel["us"].get<double>();
    ++side;
  }
  EXPECT_NEAR(sums[0], report.cost_before->latency_us, 1e-6);
  EXPECT_NEAR(sums[1], report.cost_after->latency_us, 1e-6);
  for (const SearchStep& step : report.search.steps)
    EXPECT_THAT(data["rules"][step.rule]["text"], HasSubstr("rule " + step.rule));
}

TEST_F(Page, PartnersPointAtEachOther) {
  const json sides = page_data(report_of("sru-11"))["sides"];
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

TEST_F(Page, HasOneGraphWhereNothingWasFound) {
  OptimizeReport none = report_of("sru-11");
  none.details->after = none.details->before;
  EXPECT_TRUE(page_data(none)["sides"]["after"].is_null());
}

// Whatever a model's names hold, the script elements of the page are its own.
TEST_F(Page, NamesEndNoElement) {
  OptimizeReport report = report_of("sru-11");
  const std::string evil = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\"'&\xff/*DATA*/";
  report.options.input = evil;
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

TEST_F(Page, NeedsNoOtherFile) {
  const std::string page = html_page(report_of("sru-11"));
  for (const char* mark : {"/*STYLE*/", "/*SCRIPT*/", "/*DATA*/", " src=", "url(", "@import", "fetch("})
    EXPECT_THAT(page, Not(HasSubstr(mark))) << mark;
}

}  // namespace
}  // namespace isomer
