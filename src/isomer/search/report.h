#pragma once
// What every search returns: the graph it found and how it got there.

#include <cstdint>
#include <string>
#include <vector>

#include "isomer/ir/graph.h"

namespace isomer {

/// One step of a search: a rule, applied at some places at once.
struct SearchStep {
  std::string rule;
  uint64_t rule_hash = 0;
  /// Names (or "op#id") of the values that were replaced.
  std::vector<std::string> nodes = {};
  /// Operators before and after the step that depend on run-time inputs.
  size_t ops_before = 0;
  size_t ops_after = 0;
  /// Change of the cost under the roofline model, in microseconds.
  double delta_us = 0;
  /// Measured (or modelled) ratio of the latencies before and after; 0 where the step was taken without asking.
  double speedup = 0;
};

/// A candidate that could not be judged, and why: it does not run, its outputs differ, or it cannot be exported.
struct Rejection {
  std::string rule;
  std::string reason;
  bool operator==(const Rejection&) const = default;
};

struct SearchReport {
  std::string algorithm;
  std::string stop_reason = {};  ///< "exhausted", "time budget"
  int64_t candidates = 0;        ///< graphs that were built and looked at
  int64_t duplicates = 0;        ///< built, but seen before
  int64_t matches = 0;
  double seconds = 0;
  std::vector<SearchStep> steps = {};
  std::vector<Rejection> rejected = {};  ///< equal ones once
};

struct SearchResult {
  Graph graph;
  SearchReport report;
};

}  // namespace isomer
