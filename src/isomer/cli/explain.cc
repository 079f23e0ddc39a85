// isomer explain: shows why a rule is or is not used at a place.

#include "isomer/optimize/explain.h"

#include <algorithm>
#include <map>
#include <memory>

#include "isomer/base/progress.h"
#include "isomer/base/table.h"
#include "isomer/base/version.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/common.h"
#include "isomer/onnx/import.h"
#include "isomer/optimize/rule_set.h"
#include "isomer/plan/stored_decisions.h"

namespace isomer {
namespace {

using nlohmann::json;

struct ExplainArguments {
  CommandFiles files;
  std::string model;
  ExplainOptions options;
  CostOptions costs = {.engine = "roofline", .profile_db = default_profile_db()};
  std::string rules_file;
  ShapeOptions shapes;
  bool json = false;
};

json report_of(const ExplainArguments& arguments, double cost_us, const std::vector<Place>& places) {
  json report = {{"schema", "isomer.explain.v1"},    {"isomer", version()}, {"model", arguments.model},
                 {"engine", arguments.costs.engine}, {"cost_us", cost_us},  {"places", json::array()}};
  for (const Place& place : places) {
    report["places"].push_back({{"rule", place.rule},
                                {"node", place.node},
                                {"applies", place.applies},
                                {"reason", place.reason},
                                {"delta_us", place.cost_us ? json(*place.cost_us - cost_us) : json()}});
  }
  return report;
}

std::string verdict_on(const Place& place, double cost_us) {
  if (!place.applies || !place.cost_us) return place.reason;
  const double change = *place.cost_us - cost_us;
  return fmt::format("applies: {:.2f} us -> {:.2f} us ({:+.2f})", cost_us, *place.cost_us, change);
}

/// Prints every place that was asked for.
std::string places_table(const ExplainOptions& asked, const std::vector<Place>& places, double cost_us) {
  if (places.empty())
    return asked.node.empty() ? "no node of the model has the operator that the pattern of the rule begins with\n"
                              : "the pattern of no rule that was asked for begins with the operator of this node\n";
  Table table({"<rule", "<node", "<outcome"});
  for (const Place& place : places) table.row({place.rule, place.node, verdict_on(place, cost_us)});
  return table.str();
}

/// Prints one line per rule: where it applies, its best result, and its most frequent obstacle among the places where
/// at least one operator below the root matched.
std::string rules_table(const std::vector<Place>& places, double cost_us) {
  struct Row {
    int64_t applies = 0;
    double best = 0;
    std::map<std::string, int64_t> reasons;
  };
  std::map<std::string, Row> rows;
  for (const Place& place : places) {
    Row& row = rows[place.rule];
    if (place.applies) {
      const double change = place.cost_us ? *place.cost_us - cost_us : 0;
      row.best = row.applies == 0 ? change : std::min(row.best, change);
      ++row.applies;
    } else if (place.progress > 1) {
      ++row.reasons[place.reason];
    }
  }
  Table table({"<rule", ">applies", ">best change, us", "<most often fails on"});
  for (const auto& [rule, row] : rows) {
    if (row.applies == 0 && row.reasons.empty()) continue;
    const auto commonest = std::max_element(row.reasons.begin(), row.reasons.end(),
                                            [](const auto& a, const auto& b) { return a.second < b.second; });
    table.row(
        {rule, std::to_string(row.applies), row.applies > 0 ? fmt::format("{:+.2f}", row.best) : "-",
         commonest == row.reasons.end() ? "" : fmt::format("{} ({} times)", commonest->first, commonest->second)});
  }
  return table.str();
}

Result<int> run(ExplainArguments& arguments, FileUses& uses) {
  ISOMER_TRY(const Model model, import_model(arguments.model, uses));
  ISOMER_TRY(Decisions decisions, stored_decisions(model));
  const Candidate candidate(model.graph, std::move(decisions));
  ISOMER_TRY(const SymbolValues symbols, in_context(arguments.model, symbol_values(model, arguments.shapes)));
  ISOMER_TRY(const RuleSet rules, usable_rules(arguments.rules_file, {}));
  if (!arguments.costs.locked) make_folder_of(arguments.costs.profile_db);
  Progress progress;
  ISOMER_TRY(const Costs costs, make_costs(arguments.costs, model.graph, symbols,
                                           [&](const std::string& line) { progress.update(line); }));
  ISOMER_TRY(const Metrics before, costs.model->metrics(candidate));
  ISOMER_TRY(const auto places,
             in_context(arguments.model, explain(candidate, rules.rules, *costs.model, arguments.options)));
  ISOMER_CHECK(uses.unchanged());
  const double cost_us = before.latency_us;
  const bool asked = !arguments.options.rule.empty() || !arguments.options.node.empty();
  if (arguments.json)
    print_json(report_of(arguments, cost_us, places));
  else
    fmt::print("{}", asked ? places_table(arguments.options, places, cost_us) : rules_table(places, cost_us));
  return kDone;
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("explain", "Explain why a rule is or is not used at a place of a model");
  const auto arguments = std::make_shared<ExplainArguments>();
  arguments->files.reads(*command, "model", arguments->model, "ONNX file")->required();
  command->add_option("--rule", arguments->options.rule, "Only this rule or family, place by place");
  command->add_option("--node", arguments->options.node, "Only the node that makes this value, rule by rule");
  add_each(*command, cost_options(arguments->costs));
  arguments->files.updates_profile_db(arguments->costs.profile_db);
  arguments->files.reads(*command, "--rules", arguments->rules_file, "A rule file instead of the built-in rules");
  add_option(*command, shapes_option(arguments->shapes));
  add_json(*command, arguments->json);
  command->footer("Example: isomer explain model.onnx --rule merge-convolutions");
  command->callback([arguments, &exit_code] {
    exit_code = finish(arguments->files, [&](FileUses& uses) { return run(*arguments, uses); });
  });
}

}  // namespace isomer
