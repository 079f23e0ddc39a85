#include "isomer/optimize/fill_report.h"

#include "isomer/ir/label.h"
#include "isomer/optimize/options_table.h"
#include "isomer/search/part.h"

namespace isomer {
namespace {

/// Returns the number of operators of each name that run; opaque operators have their ONNX names.
std::map<std::string, int64_t> op_counts(const Graph& graph) {
  std::map<std::string, int64_t> counts;
  for (const NodeId id : run_time_nodes(graph)) ++counts[op_label(graph.node(id))];
  return counts;
}

}  // namespace

OptimizeReport begin_report(const OptimizeOptions& options) {
  OptimizeReport report;
  report.input = options.input;
  if (!options.dry_run) report.output = options.output;
  report.options = options_json(options);
  report.engine = options.costs.engine;
  report.threads = options.costs.engine_options.threads;
  report.streams = options.costs.engine_options.streams;
  report.minimizes_latency = options.objective.is_latency();
  return report;
}

void fill_costs(const Candidate& model, const Candidate& found, const Evaluation& evaluation, OptimizeReport& report) {
  const Candidate& after = report.improved ? found : model;
  if (evaluation.has_costs()) {
    if (auto metrics = evaluation.planned->metrics(model)) report.cost_before = *metrics;
    if (auto metrics = evaluation.planned->metrics(after)) report.cost_after = *metrics;
  }
  if (auto memory = evaluation.planned->memory(model)) report.memory_before = *memory;
  if (auto memory = evaluation.planned->memory(after)) report.memory_after = *memory;
  if (evaluation.costs.kernels != nullptr) report.kernels_measured = evaluation.costs.kernels->measured();
  report.ops_before = op_counts(model.graph);
  report.ops_after = op_counts(after.graph);
  if (report.interrupted) report.outcome = "interrupted; " + report.outcome;
  if (!report.improved) report.outcome += "; the output is the input";
  const Objective& objective = evaluation.objective;
  if (!objective.limits().empty() && report.cost_after)
    report.within_limits = objective.within_limits(*report.cost_after);
  if (!objective.limits().empty() && !report.cost_after)
    report.outcome += "; its cost is not known, so that the limits cannot be checked";
  if (report.within_limits == false)
    report.outcome += fmt::format(", which exceeds a limit ({})", objective.exceeded(*report.cost_after));
}

void fill_details(const Candidate& model, const Candidate& found, const Evaluation& evaluation,
                  std::span<const Rule> rules, OptimizeReport& report) {
  ReportDetails details{model, found};
  if (evaluation.has_costs()) {
    CostModel& costs = *evaluation.costs.model;
    details.kernels_before = costs.kernels(details.before).value_or(std::vector<PlannedKernel>());
    details.kernels_after = costs.kernels(details.after).value_or(std::vector<PlannedKernel>());
    if (auto metrics = evaluation.planned->metrics(details.after)) details.cost_after = *metrics;
  }
  if (auto memory = evaluation.planned->memory(details.after)) details.memory_after = *memory;
  for (const Rule& rule : rules)
    if (report.verdicts.contains(rule.name)) details.rules.emplace(rule.name, rule);
  report.details = std::move(details);
}

}  // namespace isomer
