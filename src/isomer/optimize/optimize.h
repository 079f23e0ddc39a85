#pragma once
// The pipeline that a user calls: import, search, confirm, export, report.

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/base/file_uses.h"
#include "isomer/base/trace.h"
#include "isomer/cost/costs.h"
#include "isomer/cost/objective.h"
#include "isomer/engine/engine.h"
#include "isomer/engine/inputs.h"
#include "isomer/search/engine_runs.h"
#include "isomer/search/report.h"
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

/// Median latencies in microseconds, and the ratio of the paired runs with its interval.
struct Measured {
  double before_us = 0;
  double after_us = 0;
  Interval speedup;
};

/// What a picture of a run needs beyond its figures.
struct ReportDetails {
  Graph before;
  Graph after;  ///< what the search found, even where the output is the input
  /// As in CostModel; empty where the costs do not tell.
  std::vector<PlannedKernel> kernels_before = {};
  std::vector<PlannedKernel> kernels_after = {};
  std::optional<Metrics> cost_after = std::nullopt;             ///< of `after`
  std::optional<ActivationMemory> memory_after = std::nullopt;  ///< likewise
  std::map<std::string, Rule> rules = {};                       ///< those in the steps, by name
};

/// How the steps came to rest on proofs.
struct ProvedSteps {
  size_t searches = 1;  ///< `search` is the last of them
  double seconds = 0;   ///< of earlier searches and of proofs
  /// Rules in the steps that are proved for the very places where they were applied, with the number of these.
  std::map<std::string, size_t> at_use;
  /// Rules that the search was repeated without, with why an application could not be proved.
  std::map<std::string, std::string> not_proved;
};

struct OptimizeReport {
  OptimizeOptions options;
  std::string engine_version;
  std::string provider = {};  ///< as Engine::provider
  std::string device;
  SearchReport search;  ///< its steps lead to the output, or, where that is the input, to a graph that was dropped
  int64_t peak_rss_bytes = 0;                   ///< most memory that the process held so far
  std::map<std::string, std::string> verdicts;  ///< of the rules in the steps, by name
  ProvedSteps proofs;
  std::optional<Metrics> cost_before;  ///< by the engine's kernels, or the roofline model
  std::optional<Metrics> cost_after;
  std::optional<ActivationMemory>
      memory_before;  ///< by the engine's plan, where it tells; then the costs have its total
  std::optional<ActivationMemory> memory_after;
  size_t kernels_measured = 0;             ///< in this run, rather than known from earlier ones
  std::optional<Measured> measured;        ///< nothing without an engine
  std::optional<Equivalence> equivalence;  ///< likewise
  std::map<std::string, int64_t> ops_before;
  std::map<std::string, int64_t> ops_after;
  std::optional<bool> within_limits;     ///< whether the output keeps the limits; nothing without limits or costs
  bool improved = false;                 ///< false: the output is the input
  bool interrupted = false;              ///< the search was ended by `OptimizeOptions::stop`
  std::string outcome;                   ///< one sentence
  std::optional<ReportDetails> details;  ///< on request
};

/// Whether complete graphs are timed.
inline bool times_graphs(const OptimizeOptions& options) {
  return options.costs.engine != "roofline" && !options.costs_only && !options.costs.locked;
}

/// Runs the pipeline and writes the output. An Error (bad input, no engine, output not writable) leaves nothing behind.
Result<OptimizeReport> optimize(const OptimizeOptions& options);

/// The report with the fields of the public contract.
nlohmann::json to_json(const OptimizeReport& report);
/// A cost by its dimensions; null where there is none.
nlohmann::json metrics_json(const std::optional<Metrics>& metrics);
/// A memory by its parts; null where there is none.
nlohmann::json memory_json(const std::optional<ActivationMemory>& memory);
/// "3.2 MiB: arena 2.6 MiB (scratch of it up to 1.0 KiB), inputs 588.0 KiB, outputs 3.9 KiB"
std::string memory_str(const ActivationMemory& memory);
/// The report as one HTML file that needs no other; `report` must have its details.
std::string html_page(const OptimizeReport& report);
/// The summary for the terminal.
std::string summary(const OptimizeReport& report);

}  // namespace isomer
