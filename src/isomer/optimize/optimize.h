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
#include "isomer/search/searches.h"

namespace isomer {

struct OptimizeOptions {
  std::filesystem::path input;
  std::filesystem::path output;
  bool force = false;    ///< `output` may be an input
  bool dry_run = false;  ///< search and confirm, write nothing
  FileUses files;        ///< other files of the caller: none of them may be a file of the run

  CostOptions costs;  ///< the engine; the roofline model confirms nothing
  SearchOptions search;
  /// What is made as small as possible: an expression over the dimensions of a cost, with hard limits. Anything but the
  /// latency is decided by the costs alone.
  Objective objective;
  /// The latency, too, is decided by the costs of kernels: no complete graph is timed. So it is where costs are locked.
  bool costs_only = false;
  uint64_t seed = 1;
  ShapeOptions shapes;

  std::string rules_file;               ///< instead of the built-in rules
  std::vector<std::string> skip_rules;  ///< names
  std::filesystem::path certificate;    ///< where the certificate of the output goes; empty: none
  /// Also hand out what rests on rules that are tested, but proved neither in general nor where they were applied.
  bool allow_tested = false;
  double tolerance = 1e-4;  ///< of outputs, relative to the largest element
  /// The final graph must be this much faster than the model, with the whole interval above 1; else the model is
  /// returned.
  double least_speedup = 1.02;
  bool details = false;  ///< keep the details of the report
  TimingOptions confirm{.warmup = 2, .min_runs = 16, .max_runs = 2000, .seconds = 4};

  /// Asked often whether to end the search, then to confirm the best graph so far and write it; null: never.
  Deadline::Stop stop = nullptr;
  /// Called with a line on what goes on.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
  /// Gets the phases of the run, the steps of the search, every measurement, and the numbers of candidates and kernels
  /// over time; null: nobody.
  Trace* trace = nullptr;
};

/// Whether complete graphs are timed.
inline bool times_graphs(const OptimizeOptions& options) {
  return options.costs.engine != "roofline" && !options.costs_only && !options.costs.locked;
}

/// Runs the pipeline and writes the output. An Error (bad input, no engine, output not writable) leaves nothing behind.
Result<OptimizeReport> optimize(const OptimizeOptions& options);

}  // namespace isomer
