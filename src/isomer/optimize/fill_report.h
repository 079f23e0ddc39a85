#pragma once
// Fills a report: the options of the run, and the costs of the model and of the output.

#include <span>

#include "isomer/optimize/evaluation.h"
#include "isomer/rules/rule.h"

namespace isomer {

/// A report with only what the options say.
OptimizeReport begin_report(const OptimizeOptions& options);

/// Fills costs, memory, operators and whether limits are kept, and adds to the outcome what becomes of the output;
/// `report` must say whether `found` is one.
void fill_costs(const Graph& model, const Graph& found, const Evaluation& evaluation, OptimizeReport& report);

/// Fills the details. The rules are those of the search; `report` must have the verdicts of those in its steps.
void fill_details(const Graph& model, const Graph& found, const Evaluation& evaluation, std::span<const Rule> rules,
                  OptimizeReport& report);

}  // namespace isomer
