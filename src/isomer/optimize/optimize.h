#pragma once
// The pipeline that a user calls: import, search, confirm, export, report.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/base/file_uses.h"
#include "isomer/base/trace.h"
#include "isomer/cost/costs.h"
#include "isomer/cost/objective.h"
#include "isomer/engine/engine.h"
#include "isomer/engine/inputs.h"
#include "isomer/report/report.h"
#include "isomer/search/options.h"

namespace isomer {

struct OptimizeOptions {
  std::filesystem::path input;
  std::filesystem::path output;
  bool force = false;    ///< `output` may overwrite an input
  bool dry_run = false;  ///< search and confirm, but write nothing
  FileUses files;        ///< other files of the caller; none of them may be a file of the run

  CostOptions costs;  ///< the engine and its costs; under the roofline model nothing is confirmed
  SearchOptions search;
  /// The expression to minimize, over the dimensions of a cost, with hard limits. Only the latency is measured on
  /// complete graphs; all else is decided by the costs.
  Objective objective;
  /// Costs of kernels decide about the latency too, and no complete graph is timed. Locked costs imply this.
  bool costs_only = false;
  uint64_t seed = 1;
  ShapeOptions shapes;

  std::string rules_file;               ///< instead of the built-in rules
  std::vector<std::string> skip_rules;  ///< names
  std::filesystem::path certificate;    ///< the file for the certificate of the output; empty: none
  /// In a training step, also search with the parameters that can be merged as one input. The output then has other
  /// inputs and outputs, if that is faster.
  bool merge_parameters = false;
  /// Also accept results that rely on rules that were tested but not proved, neither in general nor where they were
  /// applied.
  bool allow_tested = false;
  /// Maximum difference of an output, relative to its largest element; without one, that of Movement.
  std::optional<double> tolerance = std::nullopt;
  /// The final graph must be this many times as fast as the model, and its whole interval must lie above 1. Otherwise
  /// the model is returned.
  double min_speedup = 1.02;
  bool details = false;        ///< keep the details of the report
  bool stop_discards = false;  ///< whether optimize() fails after `stop` and writes nothing
  TimingOptions confirm{.warmup = 2, .min_runs = 16, .max_runs = 2000, .seconds = 4};

  /// Called often. If it returns true, the search ends, and the best graph so far is confirmed and written. nullptr:
  /// never.
  Deadline::Stop stop = nullptr;
  /// Called with a line that describes the current activity.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
  /// Records the phases of the run, the steps of the search, every measurement, and the numbers of candidates and
  /// kernels over time. nullptr: disabled.
  Trace* trace = nullptr;
};

/// Returns whether complete graphs are timed.
inline bool times_graphs(const OptimizeOptions& options) {
  return options.costs.engine != "roofline" && !options.costs_only && !options.costs.locked;
}

/// Runs the pipeline and writes the output. An Error (bad input, no engine, output not writable) leaves no file behind.
Result<OptimizeReport> optimize(const OptimizeOptions& options);

}  // namespace isomer
