#pragma once
// The report of an optimization: its data, and its forms for people and programs. The pipeline fills it.

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "isomer/base/stats.h"
#include "isomer/cost/cost_model.h"
#include "isomer/ir/derivation.h"
#include "isomer/rules/rule.h"
#include "isomer/search/engine_runs.h"
#include "isomer/search/report.h"

namespace isomer {

/// Median latencies in microseconds, and the ratio of the paired runs with its interval.
struct Measured {
  double before_us = 0;
  double after_us = 0;
  Interval speedup;
};

/// What the page shows in addition to the figures.
struct ReportDetails {
  Candidate before;
  Candidate after;  ///< what the search found, even if the output is the input
  /// As in CostModel; empty if the costs do not name kernels.
  std::vector<PlannedKernel> kernels_before = {};
  std::vector<PlannedKernel> kernels_after = {};
  std::optional<Metrics> cost_after = std::nullopt;             ///< of `after`
  std::optional<ActivationMemory> memory_after = std::nullopt;  ///< of `after`
  std::map<std::string, Rule> rules = {};                       ///< those in the steps, by name
};

/// How the steps are proved.
struct ProvedSteps {
  size_t searches = 1;  ///< `search` is the last of them
  double seconds = 0;   ///< of earlier searches and of proofs
  /// Rules in the steps, with the number of their applications that are proved as they stand; empty with
  /// --allow-tested.
  std::map<std::string, size_t> at_use;
  /// Number of the other applications, for which the general proofs of their rules stand.
  size_t in_general = 0;
  /// Rules that the search was repeated without, with the reason why an application could not be proved.
  std::map<std::string, std::string> not_proved;
};

/// A kernel in a run on several streams.
struct KernelInRun {
  std::string kernel;                 ///< the operators that it computes, or "reorder"
  std::string result;                 ///< the name of its result
  std::optional<size_t> stream = {};  ///< nothing: all of them
  double start_us = 0;                ///< since the run began
  double us = 0;
};

/// How the teams of kernels were chosen (Decisions::teams).
struct TeamsReport {
  struct Tried {
    std::string teams;
    std::optional<double> predicted_us;  ///< nothing if the kernels or parts of them were not measured in time
    Interval speedup;                    ///< over the best of those before it
  };
  std::string chosen = {};  ///< empty: left to the engine, and nothing is predicted
  std::vector<Tried> tried = {};
  std::string problem = {};                           ///< why some were not tried or predicted
  std::optional<double> predicted_us = std::nullopt;  ///< of the chosen ones
  std::vector<KernelInRun> predicted = {};
  std::vector<KernelInRun> measured = {};  ///< in one run of the output
};

struct OptimizeReport {
  std::filesystem::path input;
  std::optional<std::filesystem::path> output;        ///< nothing in a dry run
  nlohmann::json options = nlohmann::json::object();  ///< of the run, by name
  std::string engine;                                 ///< "roofline": a cost model, no engine
  int threads = 1;                                    ///< of the engine
  int streams = 1;                                    ///< likewise
  bool minimizes_latency = true;                      ///< costs of steps are microseconds
  std::string engine_version;
  std::string provider = {};  ///< as Engine::provider
  std::string device;
  SearchReport search;         ///< its steps lead to the output or, if that is the input, to a graph that was dropped
  int64_t peak_rss_bytes = 0;  ///< maximum memory that the process has used so far
  std::map<std::string, std::string> verdicts;  ///< of the rules in the steps, by name
  ProvedSteps proofs;
  std::optional<Metrics> cost_before;  ///< by the engine's kernels, or the roofline model
  std::optional<Metrics> cost_after;
  /// By the engine's plan; nothing if the engine has none. If present, the costs have its total.
  std::optional<ActivationMemory> memory_before;
  std::optional<ActivationMemory> memory_after;
  size_t kernels_measured = 0;             ///< in this run; kernels known from earlier runs do not count
  std::optional<Measured> measured;        ///< nothing without an engine
  std::optional<Equivalence> equivalence;  ///< nothing without an engine
  std::map<std::string, int64_t> ops_before;
  std::map<std::string, int64_t> ops_after;
  nlohmann::json decisions = nlohmann::json::object();          ///< of the output, by the names of values
  nlohmann::json decisions_dropped = nlohmann::json::object();  ///< of the model, and not among those
  std::vector<MergedInput> merged = {};  ///< of the output; empty: it has the inputs and outputs of the model
  std::optional<bool> within_limits;     ///< whether the output keeps the limits; nothing without limits or costs
  std::optional<TeamsReport> teams = std::nullopt;  ///< nothing without several streams
  bool improved = false;                            ///< false: the output is the input
  bool interrupted = false;                         ///< the caller ended the search early
  std::string outcome;                              ///< one sentence
  std::optional<ReportDetails> details;             ///< on request
};

/// The report with the fields of the public contract.
nlohmann::json to_json(const OptimizeReport& report);
/// Merged inputs as a list.
nlohmann::json merged_json(const std::vector<MergedInput>& merged);
/// A cost by its dimensions; null if there is none.
nlohmann::json metrics_json(const std::optional<Metrics>& metrics);
/// A memory by its parts; null if there is none.
nlohmann::json memory_json(const std::optional<ActivationMemory>& memory);
/// "3.2 MiB: arena 2.6 MiB (scratch of it up to 1.0 KiB), inputs 588.0 KiB, outputs 3.9 KiB"
std::string memory_str(const ActivationMemory& memory);
/// The report as one HTML file that needs no other; `report` must have its details.
std::string html_page(const OptimizeReport& report);
/// The summary for the terminal.
std::string summary(const OptimizeReport& report);

}  // namespace isomer
