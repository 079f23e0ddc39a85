#include "isomer/optimize/choose_teams.h"

#include <utility>

#include "isomer/engine/inputs.h"
#include "isomer/ir/label.h"
#include "isomer/onnx/export.h"
#include "isomer/optimize/run_teams.h"
#include "isomer/plan/divisions.h"
#include "isomer/search/divided_teams.h"

namespace isomer {
namespace {

/// Of the time that is left, what measuring the kernels may take; the rest is for complete graphs.
constexpr double kKernelsShare = 0.6;
constexpr const char* kByEngine = "left to the engine";

size_t streams_of(const OptimizeOptions& options) { return static_cast<size_t>(options.costs.engine_options.streams); }

/// Chooses between the teams of one candidate.
class TeamChoice {
 public:
  TeamChoice(const OptimizeOptions& options, const Candidate& candidate, const Evaluation& evaluation, TeamTimes times,
             std::vector<std::string> names, TeamsReport& report)
      : streams_(streams_of(options)),
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
    by_engine_ = with_teams_of(std::move(by_engine_), names_, *run);
    choose(kByEngine, by_engine_);
  }

  /// Tries the teams that follow from the times of kernels, and the same one for all.
  Candidate try_all(const Deadline& end) {
    if (!times_.all_us.empty()) attempt("from the times of kernels", with_stages(first_teams(), times_, streams_), end);
    const Candidate divided = divided_everywhere(first_teams(), Division::Axis0, streams_);
    if (!divided.decisions.divisions.empty()) attempt("batch in parts", divided, end);
    attempt("all threads", with_team(first_teams(), times_, Team::All), end);
    attempt("one thread", with_team(first_teams(), times_, Team::One), end);
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

  Result<Prediction> predicted(const Candidate& teams) const {
    return predict(teams, times_, *evaluation_.costs.model, streams_);
  }
  /// Nothing if times of kernels are not known.
  std::optional<double> predicted_us(const Candidate& teams) {
    const auto prediction = predicted(teams);
    if (!prediction) report_.problem = prediction.error().message;
    return prediction ? std::optional(prediction->run.us) : std::nullopt;
  }

  void choose(const char* name, const Candidate& teams) {
    const auto prediction = predicted(teams);
    if (!prediction) report_.problem = prediction.error().message;
    report_.chosen = name;
    report_.predicted_us = prediction ? std::optional(prediction->run.us) : std::nullopt;
    report_.predicted = prediction ? named(*prediction) : std::vector<KernelInRun>();
  }

  std::vector<KernelInRun> named(const Prediction& prediction) const {
    std::vector<KernelInRun> out;
    for (size_t k = 0; k < prediction.kernels.size(); ++k) {
      const PlannedKernel& kernel = prediction.kernels[k];
      const Node& last = prediction.graph.node(kernel.nodes.back());
      const ValueId result = last.num_results == 0 ? kNoValue : prediction.originals[last.result()];
      std::string name;
      for (const NodeId id : kernel.nodes) name += (name.empty() ? "" : "+") + op_label(prediction.graph.node(id));
      out.push_back({.kernel = kernel.reorder ? "reorder" : name,
                     .result = result == kNoValue ? "" : names_[result],
                     .stream = prediction.run.spans[k].stream,
                     .start_us = prediction.run.spans[k].start_us,
                     .us = prediction.run.spans[k].us});
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
  auto all = make_costs(with_all_threads(options.costs), model.graph, symbols, options.progress, options.trace);
  if (!all) return failed(all.error());
  const Deadline kernels = budget.share(kKernelsShare).end;
  all->model->measure_until(kernels);
  auto times = team_times(candidate, *evaluation.costs.model, *all->model);
  if (!times) return failed(times.error());
  options.progress("measuring teams of threads");
  // Without the types of all inputs, only parts of models without symbols are predicted.
  times->inputs = concrete_inputs(candidate.graph, symbols).value_or(std::vector<TensorType>());
  report.problem = times->problem;
  evaluation.costs.model->measure_until(kernels);
  if (!times->all_us.empty()) {
    auto parts = part_times(candidate, *times, *evaluation.costs.model, streams_of(options));
    if (parts) times->part_us = std::move(*parts);
    if (!parts) report.problem = parts.error().message;
  }
  TeamChoice choice(options, candidate, evaluation, std::move(*times), std::move(*names), report);
  choice.predict_engine();
  Candidate fastest = choice.try_all(budget.end);
  evaluation.costs.model->measure_until(budget.end);
  return fastest;
}

Result<std::vector<KernelInRun>> measured_run(const Candidate& candidate, const Evaluation& evaluation) {
  return evaluation.runs->traced(candidate).map(kernels_in);
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
