#pragma once
// Records matches for certificates.

#include "isomer/ir/derivation.h"
#include "isomer/rules/match.h"

namespace isomer {

/// The match in terms that remain valid without the graph.
Application record(const Graph& graph, const Match& match);

/// The move that applies these matches together.
Move record_move(const Graph& before, std::span<const Match* const> applied, const Graph& after);

}  // namespace isomer
