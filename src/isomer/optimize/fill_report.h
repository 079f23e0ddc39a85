#pragma once
// Fills a report: the options of the run, and the costs of the model and of the output.

#include <span>

#include "isomer/optimize/evaluation.h"
#include "isomer/rules/rule.h"

namespace isomer {

/// Returns a report that holds only what follows from the options.
OptimizeReport begin_report(const OptimizeOptions& options);

/// Fills costs, memory, operators and whether limits are kept, and adds to the outcome whether the output is the input.
/// `report.improved` must be set.
void fill_costs(const Candidate& model, const Candidate& found, const Evaluation& evaluation, OptimizeReport& report);

/// Fills the details. `rules` are those of the search; `report` must have the verdicts of the rules in its steps.
void fill_details(const Candidate& model, const Candidate& found, const Evaluation& evaluation,
                  std::span<const Rule> rules, OptimizeReport& report);

}  // namespace isomer
