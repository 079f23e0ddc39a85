#pragma once
// Makes the certificate of a run from the moves that the search recorded and the constants that were folded between
// them.

#include <set>
#include <span>
#include <string>

#include "isomer/certificate/certificate.h"
#include "isomer/certificate/replay.h"
#include "isomer/onnx/model.h"
#include "isomer/optimize/model_search.h"
#include "isomer/optimize/optimize.h"
#include "isomer/optimize/rule_set.h"

namespace isomer {

/// Adds the names of the rules that the moves apply, including those inside parts.
void collect_rules(std::span<const Move> moves, std::set<std::string>& names);

/// Returns the moves from `start` to `end` that the steps of a search took, with the constants that it folded between
/// them; no moves if the graphs are equal. Each move is replayed: `watch` sees every application, and `known` constants
/// are not computed again. An Error if the steps do not lead to `end`.
Result<std::vector<Move>> moves_of(const Graph& start, const Graph& end, const SearchReport& search,
                                   const RuleSet& rules, const replay::Watch& watch = {},
                                   const replay::KnownConstants& known = {});

/// Returns a certificate without the stamp of the output: the stamp of the input file, which has the model, what was
/// merged, and the moves to `graph`. Each move is replayed. `search` led from `start` to `graph`; if that is the graph
/// of `start`, the steps are ignored. An Error if the steps do not lead to `graph`.
Result<replay::Certificate> begin_certificate(const OptimizeOptions& options, const Model& model,
                                              const SearchStart& start, const Graph& graph, const SearchReport& search,
                                              const RuleSet& rules);

/// Adds the stamp and the decisions of the output file, and writes the certificate. An Error if the file does not read
/// as `graph`.
Status finish_certificate(const OptimizeOptions& options, const Model& model, const Graph& graph,
                          replay::Certificate certificate);

}  // namespace isomer
