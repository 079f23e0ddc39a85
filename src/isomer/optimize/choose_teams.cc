#include "isomer/optimize/choose_teams.h"

#include <map>

#include "isomer/ir/label.h"
#include "isomer/onnx/export.h"
#include "isomer/search/teams.h"

namespace isomer {
namespace {

/// Of the time that is left, what measuring the kernels may take; the rest is for complete graphs.
constexpr double kKernelsShare = 0.5;
constexpr const char* kByEngine = "left to the engine";

/// Returns the costs of as many threads as there are streams, which are kept with those of one thread.
Result<Costs> costs_of_all(const OptimizeOptions& options, const Graph& model, const SymbolValues& symbols) {
  CostOptions all = options.costs;
  all.engine_options.threads = options.costs.engine_options.streams;
  all.engine_options.streams = 1;
  return make_costs(all, model, symbols, options.progress, options.trace);
}

std::vector<KernelInRun> named(const Graph& graph, const TeamTimes& times, const PredictedRun& run) {
  std::vector<KernelInRun> out;
  for (size_t k = 0; k < times.kernels.size(); ++k) {
    const PlannedKernel& kernel = times.kernels[k];
    const Node& last = graph.node(kernel.nodes.back());
    std::string name;
    for (const NodeId id : kernel.nodes) name += (name.empty() ? "" : "+") + op_label(graph.node(id));
    const PredictedSpan& span = run.spans[k];
    out.push_back({.kernel = kernel.reorder ? "reorder" : name,
                   .result = last.num_results == 0 ? "" : graph.name(last.result()),
                   .stream = span.stream,
                   .start_us = span.start_us,
                   .us = span.us});
  }
  return out;
}

/// Returns a candidate with the teams that its kernels had in a run.
Candidate with_teams_of(std::span<const KernelInRun> run, const Model& model, Candidate candidate) {
  std::map<std::string, Team> teams;
  for (const KernelInRun& kernel : run)
    if (kernel.kernel != "reorder") teams.emplace(kernel.result, kernel.stream ? Team::One : Team::All);
  const auto names = export_names(model.with(candidate.graph));
  for (ValueId value = 0; names && value < names->size(); ++value)
    if (const auto team = teams.find((*names)[value]); team != teams.end())
      candidate.decisions.teams.emplace(value, team->second);
  return candidate;
}

}  // namespace

bool chooses_teams(const OptimizeOptions& options) {
  const EngineOptions& engine = options.costs.engine_options;
  return engine.streams > 1 && engine.stages && options.objective.is_latency() && options.objective.limits().empty() &&
         times_graphs(options);
}

Candidate with_fastest_teams(const OptimizeOptions& options, const Candidate& candidate, const Model& model,
                             const SymbolValues& symbols, const Evaluation& evaluation, const Budget& budget,
                             TeamsReport& report) {
  evaluation.set_deadline(budget.end);
  auto all = costs_of_all(options, model.graph, symbols);
  if (!all) {
    report.problem = all.error().message;
    return candidate;
  }
  all->model->measure_until(budget.share(kKernelsShare).end);
  const auto times = team_times(candidate, *evaluation.costs.model, *all->model);
  if (!times) {
    report.problem = times.error().message;
    return candidate;
  }
  options.progress("measuring teams of threads");
  const auto streams = static_cast<size_t>(options.costs.engine_options.streams);
  const auto choose = [&](const char* name, const Candidate& teams) {
    const PredictedRun run = predicted_run(teams, *times, streams);
    report.chosen = name;
    report.predicted_us = run.us;
    report.predicted = named(teams.graph, *times, run);
  };
  if (const auto run = measured_run(candidate, evaluation)) choose(kByEngine, with_teams_of(*run, model, candidate));
  const std::pair<const char*, Candidate> others[] = {
      {"from the times of kernels", with_stages(candidate, *times, streams)},
      {"all threads", with_team(candidate, *times, Team::All)},
      {"one thread", with_team(candidate, *times, Team::One)}};
  Candidate best = candidate;
  for (const auto& [name, other] : others) {
    if (budget.end.passed()) break;
    if (other.hash() == best.hash()) continue;
    const auto ratio = measure_closely(*evaluation.evaluator, best, other, 1, budget.end);
    if (!ratio) continue;
    report.tried.push_back({name, predicted_run(other, *times, streams).us, *ratio});
    if (ratio->low <= 1) continue;
    best = other;
    choose(name, best);
  }
  return best;
}

Result<std::vector<KernelInRun>> measured_run(const Candidate& candidate, const Evaluation& evaluation) {
  ISOMER_TRY(const Trace trace, evaluation.runs->traced(candidate));
  std::vector<KernelInRun> out;
  double begin = 0;
  for (const TraceSpan& span : trace.spans()) {
    if (span.category == "run") begin = span.start;
    if (span.category == "run") continue;
    const std::map<std::string, std::variant<double, std::string>> notes(span.notes.begin(), span.notes.end());
    const bool alone = std::get<double>(notes.at("threads")) > 1;
    out.push_back({.kernel = span.name,
                   .result = std::get<std::string>(notes.at("result")),
                   .stream = alone ? std::nullopt : std::optional(span.track),
                   .start_us = span.start - begin,
                   .us = span.duration});
  }
  return out;
}

}  // namespace isomer
