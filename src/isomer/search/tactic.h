#pragma once
// Tactics: sequences of many rule applications that only pay as a whole.

#include <span>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/rules/rule.h"
#include "isomer/search/report.h"

namespace isomer {

struct TacticResult : Candidate {
  std::vector<SearchStep> steps = {};  ///< one per rule that was applied, in the order of first application
  int64_t matches = 0;
};

/// Returns the candidates that a tactic makes, one for each setting of the seeds' free parameters (`choose`), or none
/// if no seed matches. A stage whose seeds do not match is skipped. A stage ends when its `then` rules change nothing
/// more, after `rounds`, or at the deadline. They choose the channel blocks that the seeds have chosen. Rules of the
/// tactic that are not among `rules`, and places where a rule would create a refused weight, are skipped.
std::vector<TacticResult> run_tactic(const Candidate& candidate, const Tactic& tactic, std::span<const Rule> rules,
                                     const Deadline& deadline = Deadline::never(),
                                     const RefusedWeights* refused = nullptr, int rounds = 500);

}  // namespace isomer
