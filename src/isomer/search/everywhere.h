#pragma once
// A rule applied wherever it matches.

#include "isomer/base/deadline.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/report.h"

namespace isomer {

/// A graph after a rule was applied at all places, and again on the result, until nothing new appears (or after
/// `rounds`, at the deadline, or where it goes on growing). Places where it would make a refused weight are left out.
struct Everywhere {
  Graph graph;
  SearchStep step;
  int64_t matches = 0;
  bool changed = false;
};
Everywhere apply_everywhere(const Graph& graph, const Rule& rule, const Deadline& deadline = Deadline::never(),
                            const RefusedWeights* refused = nullptr, int rounds = 30);

/// Operators that depend on run-time inputs (constants and inputs excepted).
size_t run_time_ops(const Graph& graph);

}  // namespace isomer
