#pragma once
// Making the certificate of a run: what the search recorded, joined by the constants that were folded in between.

#include <set>
#include <span>
#include <string>

#include "isomer/certificate/certificate.h"
#include "isomer/onnx/model.h"
#include "isomer/optimize/optimize.h"
#include "isomer/optimize/rule_set.h"

namespace isomer {

/// Adds the names of the rules that the moves apply, those inside parts included.
void collect_rules(std::span<const Move> moves, std::set<std::string>& names);

/// The moves from `start` to `end` that a search's steps took, with the constants that it folded in between; none where
/// the graphs are the same. An Error where they do not lead there.
Result<std::vector<Move>> moves_of(const Graph& start, const Graph& end, const SearchReport& search,
                                   const RuleSet& rules);

/// All but the output: the stamp of the input file, and the moves from the model's graph to `graph`, each of which is
/// replayed. `search` led to `graph`; where that is the model's own, its steps do not count. An Error where they do not
/// lead there.
Result<replay::Certificate> begin_certificate(const OptimizeOptions& options, const Model& model, const Graph& graph,
                                              const SearchReport& search, const RuleSet& rules);

/// Adds the stamp of the output file, which must read as `graph`, and writes the certificate.
Status finish_certificate(const OptimizeOptions& options, const Model& model, const Graph& graph,
                          replay::Certificate certificate);

}  // namespace isomer
