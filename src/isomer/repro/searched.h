#pragma once
// Searches of experiments: from networks with folded batch normalizations, by the roofline of a described device.

#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "isomer/cost/roofline.h"
#include "isomer/onnx/model.h"
#include "isomer/repro/experiment.h"
#include "isomer/rules/rule.h"
#include "isomer/search/options.h"
#include "isomer/search/report.h"

namespace isomer {

/// A network that experiments begin with.
struct StartNetwork {
  std::string name;
  Model model;

  /// The content hash of its graph, as 16 hex digits.
  std::string hash() const;
};

/// Builds a benchmark network and folds its batch normalizations into convolutions. They cost nothing on a device that
/// fuses them, so they would only hide matches from the rules.
Result<StartNetwork> start_network(const std::string& name);

/// What a search found.
struct Searched {
  Metrics before = {}, after = {};
  double cpu_seconds = 0;  ///< processor time of the search, without that of other programs
  size_t layouts = 0;      ///< number of values whose layout is decided
  SearchReport report = {};

  /// Whether a limit ended the search before it had seen everything that it looks for.
  bool cut_off() const { return report.stop_reason != "exhausted"; }
  /// "" or "cut off (memory)".
  std::string ended() const { return cut_off() ? "cut off (" + report.stop_reason + ")" : ""; }
  /// Whether it found a graph that is cheaper than the network.
  bool improved() const { return after.latency_us < before.latency_us * (1 - 1e-9); }
  double speedup() const { return before.latency_us / after.latency_us; }
  /// How often each rule is used on the way to the result.
  std::map<std::string, int> uses() const;
};

/// "enlarge-row x 2, merge-two-convolutions x 1"; "none" if there are none.
std::string text_of(const std::map<std::string, int>& uses);

/// Runs a search of parts (part_searches.h) by its name in `search`, from the network as it is: without simplification,
/// repeated searches, or rules that are not given. The memory and the seconds of `search` are replaced by those of
/// `options`. The result depends on time only if the report says that time ended the search.
Result<Searched> search_by_costs(const StartNetwork& network, std::span<const Rule> rules, CostModel& costs,
                                 SearchOptions search, const ReproOptions& options);
/// The same, by the roofline of a device.
Result<Searched> search_by_roofline(const StartNetwork& network, std::span<const Rule> rules,
                                    const RooflineOptions& device, SearchOptions search, const ReproOptions& options);

/// MetaFlow's algorithm 1 as published, in parts of at most `split` operators (0: no split). A part ends after
/// `graphs`.
SearchOptions backtracking(double alpha, int64_t split, int64_t graphs = std::numeric_limits<int64_t>::max());

/// Search options without limits on growth, length, candidates or steps without a gain: a search ends when it is
/// exhausted, or by memory or time.
SearchOptions unlimited(const std::string& search);

}  // namespace isomer
