#pragma once
// Describes a substitution for a report.

#include "isomer/rules/match.h"
#include "isomer/search/report.h"

namespace isomer {

/// Returns the name of a value, or "op#id" if it has none.
std::string value_label(const Graph& graph, ValueId value);

/// Returns the step that applies `match` to `before` and results in `after`; `change` is that of the cost.
SearchStep step_of(const Graph& before, const Match& match, const Graph& after, const CostChange& change);

}  // namespace isomer
