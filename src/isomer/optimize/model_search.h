#pragma once
// The search from one form of a model: the model as it is, or with merged parameters.

#include <map>
#include <string>
#include <vector>

#include "isomer/ir/derivation.h"
#include "isomer/optimize/evaluation.h"
#include "isomer/optimize/rule_set.h"

namespace isomer {

/// What a search begins with.
struct SearchStart {
  Model model;
  Candidate candidate = {};  ///< the graph of the model, with the decisions that its file has
  /// How its inputs and outputs follow from those of the user's model; empty if they are the same.
  std::vector<MergedInput> merged = {};
};

/// What a search led to.
struct SearchOutcome {
  const SearchStart* start = nullptr;
  Evaluation evaluation;
  RuleSet rules;  ///< without those of which an application could not be proved
  Candidate found = {};
  SearchReport report = {};
  ProvedSteps proofs = {};
  std::optional<TeamsReport> teams = {};
  std::map<std::string, std::string> verdicts = {};  ///< of the rules in the steps, by name
};

/// Searches for a candidate all of whose steps are proved. If the objective or a limit depends on memory, decides then
/// what is computed twice; with several streams, which kernels run side by side. `start` must outlive the outcome, and
/// `evaluation` is one of its model. An Error for failures of the machine.
Result<SearchOutcome> search_model(const OptimizeOptions& options, const SearchStart& start, Evaluation evaluation,
                                   RuleSet rules, const SymbolValues& symbols, const Budget& budget);

}  // namespace isomer
