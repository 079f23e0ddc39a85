#pragma once
// What a certificate keeps of matches.

#include "isomer/ir/derivation.h"
#include "isomer/rules/match.h"

namespace isomer {

/// The match in terms that outlive the graph.
Application record(const Graph& graph, const Match& match);

/// The move that applies these matches at once.
Move record_move(const Graph& before, std::span<const Match* const> applied, const Graph& after);

}  // namespace isomer
