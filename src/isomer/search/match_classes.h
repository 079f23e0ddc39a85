#pragma once
// Matches of one rule that are alike, so that one measurement speaks for all of them.

#include <vector>

#include "isomer/rules/match.h"

namespace isomer {

/// The free parameters (`choose`) of a match as text: "m=16 "; empty where the rule has none.
std::string parameters_of(const Match& match);

/// The matches in classes of equal parameters, root operators, attributes and operand types, ordered by their first
/// match.
std::vector<std::vector<Match>> classes_of(const Graph& graph, std::vector<Match> matches);

/// The matches in classes of equal parameters alone, ordered by their first match.
std::vector<std::vector<Match>> settings_of(std::vector<Match> matches);

}  // namespace isomer
