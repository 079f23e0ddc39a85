#pragma once
// Tactics: changes of many rule applications that only pay as a whole.

#include <span>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/rules/rule.h"
#include "isomer/search/report.h"

namespace isomer {

struct TacticResult {
  Graph graph;
  std::vector<SearchStep> steps;  ///< one for each rule that was applied, in the order of their first application
  int64_t matches = 0;
};

/// The graphs that a tactic makes, stage by stage; a stage whose seeds match nowhere is passed over. One graph for
/// every setting of the seeds' free parameters (`choose`); none where no seed matches at all. A stage ends when its
/// `then` rules change nothing more, after `rounds`, or at the deadline. Rules of the tactic that are not among `rules`
/// are left out, and so are places where a rule would make a refused weight.
std::vector<TacticResult> run_tactic(const Graph& graph, const Tactic& tactic, std::span<const Rule> rules,
                                     const Deadline& deadline = Deadline::never(),
                                     const RefusedWeights* refused = nullptr, int rounds = 500);

}  // namespace isomer
