#pragma once
// How a substitution is told in a report.

#include "isomer/rules/match.h"
#include "isomer/search/report.h"

namespace isomer {

/// The name of a value, or "op#id" where it has none.
std::string value_label(const Graph& graph, ValueId value);

/// The step that applies `match` to `before` and gives `after`; `delta` is the change of the cost.
SearchStep step_of(const Graph& before, const Match& match, const Graph& after, double delta);

}  // namespace isomer
