#include "isomer/optimize/confirm.h"

#include <algorithm>

namespace isomer {
namespace {

/// Compares the outputs of a candidate with the model's. In reduced precision, also reports the loss.
Status compare(const OptimizeOptions& options, const Candidate& candidate, const Evaluation& evaluation,
               OptimizeReport& report) {
  constexpr int kInputs = 3;
  options.progress("comparing outputs");
  ISOMER_TRY(report.equivalence, evaluation.runs->equivalence(candidate, kInputs));
  if (evaluation.costs.exact == nullptr || !report.equivalence->holds) return {};
  const DType dtype = options.costs.engine_options.dtype;
  ISOMER_TRY(report.equivalence->precision, evaluation.runs->precision(candidate, dtype, kInputs));
  return {};
}

/// Times the candidate and the model in turn. If the ratio differs much between loads, a few loads are not enough; then
/// more follow, unless the first ones took long. If runs take seconds, there are fewer loads, at least one.
Result<Measured> time_against_model(const Candidate& candidate, const Evaluation& evaluation,
                                    const OptimizeOptions& options, const Deadline& deadline) {
  constexpr double kWide = 0.1;
  constexpr int kMaxRounds = 3;
  options.progress("confirming the latency");
  PairedTimes times;
  Interval speedup;
  for (int round = 0; round < kMaxRounds && (round == 0 || !deadline.passed()); ++round) {
    const double seconds = std::max(round == 0 ? deadline.left() / 2 : deadline.left(), 1.0);
    ISOMER_TRY(auto more, evaluation.runs->time_against_model(candidate, options.confirm, seconds));
    times.add(std::move(more));
    speedup = times.ratio(options.seed);
    if (speedup.high - speedup.low < kWide * speedup.value) break;
  }
  return Measured{median(flattened(times.first)), median(flattened(times.second)), speedup};
}

/// Returns the ratio of costs from which a graph counts as better. Measured kernels have errors; a roofline has none.
double min_ratio(const OptimizeOptions& options) {
  const bool by_kernels =
      options.objective.is_latency() && options.costs.engine != "roofline" && !times_graphs(options);
  return by_kernels ? options.min_speedup : 1;
}

/// Decides by the costs. `into_limits`: the model exceeds limits that the graph keeps, so that the graph is worth
/// having at any speed.
void decide_by_costs(const OptimizeOptions& options, bool better, bool into_limits, OptimizeReport& report) {
  report.improved = better;
  const char* const costs = options.costs.engine == "roofline" ? "under the roofline model" : "by the costs of kernels";
  const std::string& objective = options.objective.text();
  if (into_limits) {
    report.outcome = "within the limits, which the model exceeds; ";
    report.outcome += report.measured ? fmt::format("{:.2f}x as fast", report.measured->speedup.value) : "not measured";
  } else if (report.measured) {
    report.outcome = fmt::format("{} {}; {:.2f}x as fast", better ? "smaller" : "no smaller", objective,
                                 report.measured->speedup.value);
  } else if (better) {
    report.outcome = fmt::format("cheaper {}; not measured", costs);
  } else if (const double ratio = min_ratio(options); ratio > 1) {
    report.outcome = fmt::format("the best graph found is not {:g} times as fast {}", ratio, costs);
  } else {
    report.outcome = fmt::format("no cheaper graph {}", costs);
  }
}

tl::unexpected<Error> nothing_measured(const Error& error) {
  return fail("nothing could be measured: {}", error.message);
}

/// Checks that the cost of the model is known if costs decide; otherwise does nothing.
Status cost_of_model(const Candidate& model, const Evaluation& evaluation) {
  if (evaluation.times_graphs && evaluation.objective.is_latency()) return {};
  return evaluation.deciding().metrics(model).map([](const Metrics&) {});
}

/// Returns why no candidate could be measured, if not even the model can be; empty if the model can be measured. If the
/// model fails, the failures say nothing about the candidates. An Error if the machine is the reason, and not that the
/// engine does not run this model or that its outputs cannot be compared.
Result<std::string> why_unmeasured(const Candidate& model, const Evaluation& evaluation, const OptimizeReport& report) {
  if (evaluation.runs == nullptr || evaluation.runs->timed() > 0 || report.search.rejected.empty()) return "";
  const auto itself = evaluation.runs->equivalence(model, 1);
  if (itself) return "";
  if (!evaluation.runs->check_machine(model)) return nothing_measured(itself.error());
  return itself.error().message;
}

std::string none_is_better(const OptimizeOptions& options, const OptimizeReport& report, const Evaluation& evaluation) {
  const SearchReport& search = report.search;
  const bool ended_early = search.stop_reason == "time budget" || report.interrupted;
  if (search.candidates == 0 && ended_early) return "no time to look for candidates";
  if (search.candidates == 0 && search.stop_reason == "memory") return "no memory to look for candidates";
  if (search.candidates == 0 && search.stop_reason == "growth limit")
    return "every substitution exceeds the growth limit";
  if (search.candidates == 0) return "no substitution applies";
  const bool times = evaluation.times_graphs && options.objective.is_latency();
  const bool none_timed = times && evaluation.runs->timed() == 0 && !search.rejected.empty();
  if (none_timed && ended_early) return fmt::format("no time to measure any of {} candidates", search.candidates);
  return fmt::format("none of {} candidates is better", search.candidates);
}

}  // namespace

void decide_by_latency(const OptimizeOptions& options, OptimizeReport& report) {
  const Interval& speedup = report.measured->speedup;
  report.improved = speedup.low > 1 && speedup.value >= options.min_speedup;
  if (report.improved) {
    report.outcome = fmt::format("{:.2f}x faster", speedup.value);
    return;
  }
  const std::string why = speedup.low > 1 ? fmt::format("the gain is below --min-speedup {:g}", options.min_speedup)
                                          : "no significant gain";
  report.outcome = fmt::format("{} ({:.3f}x, 95% [{:.3f}, {:.3f}])", why, speedup.value, speedup.low, speedup.high);
}

Status confirm(const OptimizeOptions& options, const Candidate& model, const Candidate& found,
               const Evaluation& evaluation, OptimizeReport& report) {
  // The confirmation has its own time limit. Runs that take longer are finished but not repeated.
  constexpr double kSeconds = 100;
  const Deadline deadline = Deadline::after(kSeconds, options.stop_discards ? options.stop : nullptr);
  evaluation.confirm_until(deadline);
  if (found.hash() == model.hash()) {
    ISOMER_TRY(const std::string why, why_unmeasured(model, evaluation, report));
    if (const auto cost = cost_of_model(model, evaluation); !cost) {
      report.outcome = "the cost of the model is not known, so that no costs can be compared: " + cost.error().message;
      return {};
    }
    report.outcome = why.empty() ? none_is_better(options, report, evaluation) : "no candidate can be measured: " + why;
    if (!why.empty()) return {};
    // Reduced precision changes even the unmodified model.
    return evaluation.costs.exact == nullptr ? Status() : compare(options, found, evaluation, report);
  }
  if (!evaluation.within_limits(found)) {
    report.outcome = "the best graph found exceeds a limit";
    if (const auto metrics = evaluation.deciding().metrics(found))
      report.outcome += fmt::format(" ({})", options.objective.exceeded(*metrics));
    return {};
  }
  const bool into_limits = !evaluation.within_limits(model);
  if (evaluation.runs != nullptr) {
    const Status compared = compare(options, found, evaluation, report);
    if (!compared) {
      if (!evaluation.runs->check_machine(found)) return nothing_measured(compared.error());
      report.outcome = "the optimized graph was dropped: " + compared.error().message;
      return {};
    }
    if (!report.equivalence->holds) {
      report.outcome = "the optimized graph was dropped: " + report.equivalence->problem;
      return {};
    }
    if (evaluation.times_graphs) {
      ISOMER_TRY(report.measured, time_against_model(found, evaluation, options, deadline));
    }
  }
  if (report.measured && options.objective.is_latency() && !into_limits)
    decide_by_latency(options, report);
  else
    decide_by_costs(options, evaluation.predicted_better(model, found, min_ratio(options)), into_limits, report);
  return {};
}

}  // namespace isomer
