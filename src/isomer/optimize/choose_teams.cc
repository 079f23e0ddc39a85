#include "isomer/optimize/choose_teams.h"

#include <algorithm>
#include <map>

#include "isomer/ir/label.h"
#include "isomer/onnx/export.h"
#include "isomer/plan/divisions.h"
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

/// Chooses between the teams of one candidate.
class TeamChoice {
 public:
  TeamChoice(const OptimizeOptions& options, const Candidate& candidate, const Evaluation& evaluation, TeamTimes times,
             std::vector<std::string> names, TeamsReport& report)
      : streams_(static_cast<size_t>(options.costs.engine_options.streams)),
        evaluation_(evaluation),
        times_(std::move(times)),
        names_(std::move(names)),
        report_(report),
        best_(candidate),
        by_engine_(candidate) {}

  /// Predicts the teams that the engine chooses, which a run shows.
  void predict_engine() {
    const auto run = measured_run(best_, evaluation_);
    if (!run) report_.problem = run.error().message;
    if (!run) return;
    std::map<std::string, Team> teams;
    for (const KernelInRun& kernel : *run)
      if (kernel.kernel != "reorder") teams.emplace(kernel.result, kernel.stream ? Team::One : Team::All);
    for (ValueId value = 0; value < names_.size(); ++value)
      if (const auto team = teams.find(names_[value]); team != teams.end())
        by_engine_.decisions.teams.emplace(value, team->second);
    choose(kByEngine, by_engine_);
  }

  /// Tries the teams that follow from the times of kernels, and the same one for all.
  Candidate try_all(const Deadline& end) {
    if (!times_.all_us.empty()) attempt("from the times of kernels", with_stages(first_teams(), times_, streams_), end);
    attempt("all threads", with_team(first_teams(), times_, Team::All), end);
    attempt("one thread", with_team(first_teams(), times_, Team::One), end);
    const Candidate divided = divided_everywhere(first_teams(), Division::Axis0, streams_);
    if (!divided.decisions.divisions.empty()) attempt("batch in parts", divided, end);
    return std::move(best_);
  }

 private:
  /// Returns the candidate with the teams that it came with, and without its divisions.
  Candidate first_teams() const {
    Candidate out(best_.graph, first_);
    out.decisions.divisions.clear();
    return out;
  }

  void attempt(const char* name, const Candidate& other, const Deadline& end) {
    if (end.passed() || other.hash() == best_.hash()) return;
    if (report_.chosen == kByEngine && other.decisions == by_engine_.decisions) return;
    const auto ratio = measure_closely(*evaluation_.evaluator, best_, other, 1, end);
    if (!ratio) report_.problem = ratio.error().message;
    if (!ratio) return;
    report_.tried.push_back({name, predicted_us(other), *ratio});
    if (ratio->low <= 1) return;
    best_ = other;
    choose(name, other);
  }

  /// Nothing if times of kernels are not known, as those of parts.
  std::optional<PredictedRun> predicted(const Candidate& teams) const {
    if (times_.all_us.empty() || !teams.decisions.divisions.empty()) return std::nullopt;
    return predicted_run(teams, times_, streams_);
  }
  std::optional<double> predicted_us(const Candidate& teams) const {
    const auto run = predicted(teams);
    return run ? std::optional(run->us) : std::nullopt;
  }

  void choose(const char* name, const Candidate& teams) {
    const auto run = predicted(teams);
    report_.chosen = name;
    report_.predicted_us = run ? std::optional(run->us) : std::nullopt;
    report_.predicted = run ? named(*run) : std::vector<KernelInRun>();
  }

  std::vector<KernelInRun> named(const PredictedRun& run) const {
    std::vector<KernelInRun> out;
    for (size_t k = 0; k < times_.kernels.size(); ++k) {
      const PlannedKernel& kernel = times_.kernels[k];
      const Node& last = best_.graph.node(kernel.nodes.back());
      std::string name;
      for (const NodeId id : kernel.nodes) name += (name.empty() ? "" : "+") + op_label(best_.graph.node(id));
      out.push_back({.kernel = kernel.reorder ? "reorder" : name,
                     .result = last.num_results == 0 ? "" : names_[last.result()],
                     .stream = run.spans[k].stream,
                     .start_us = run.spans[k].start_us,
                     .us = run.spans[k].us});
    }
    return out;
  }

  const size_t streams_;
  const Evaluation& evaluation_;
  const TeamTimes times_;
  const std::vector<std::string> names_;  // of values in the file
  TeamsReport& report_;
  Candidate best_;
  const Decisions first_ = best_.decisions;
  Candidate by_engine_;
};

}  // namespace

bool chooses_teams(const OptimizeOptions& options) {
  const EngineOptions& engine = options.costs.engine_options;
  return engine.streams > 1 && engine.stages && options.objective.is_latency() && options.objective.limits().empty() &&
         times_graphs(options);
}

Candidate with_fastest_teams(const OptimizeOptions& options, const Candidate& candidate, const Model& model,
                             const SymbolValues& symbols, const Evaluation& evaluation, const Budget& budget,
                             TeamsReport& report) {
  const auto failed = [&](const Error& error) {
    report.problem = error.message;
    return candidate;
  };
  evaluation.set_deadline(budget.end);
  auto names = export_names(model.with(candidate.graph));
  if (!names) return failed(names.error());
  auto all = costs_of_all(options, model.graph, symbols);
  if (!all) return failed(all.error());
  all->model->measure_until(budget.share(kKernelsShare).end);
  auto times = team_times(candidate, *evaluation.costs.model, *all->model);
  if (!times) return failed(times.error());
  options.progress("measuring teams of threads");
  TeamChoice choice(options, candidate, evaluation, std::move(*times), std::move(*names), report);
  choice.predict_engine();
  return choice.try_all(budget.end);
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

void add_run(const std::vector<KernelInRun>& run, const std::string& name, double start, Trace& trace) {
  for (const KernelInRun& kernel : run)
    trace.add({.name = kernel.kernel,
               .category = kernel.kernel == "reorder" ? "reorder" : "kernel",
               .start = start + kernel.start_us,
               .duration = kernel.us,
               .track = trace.track(fmt::format("{}, stream {}", name, kernel.stream.value_or(0) + 1)),
               .notes = {{"result", kernel.result}, {"streams", kernel.stream ? "one" : "all"}}});
}

}  // namespace isomer
