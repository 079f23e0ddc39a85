#pragma once
// Groups similar matches of one rule, so that one measurement represents all of them.

#include <vector>

#include "isomer/rules/match.h"

namespace isomer {

/// Returns the free parameters (`choose`) of a match as text: "m=16 ". Empty if the rule has none.
std::string parameters_of(const Match& match);

/// Groups the matches by parameters, root operators, attributes and operand types. The groups are ordered by their
/// first match.
std::vector<std::vector<Match>> classes_of(const Graph& graph, std::vector<Match> matches);

/// Groups the matches only by parameters. The groups are ordered by their first match.
std::vector<std::vector<Match>> settings_of(std::vector<Match> matches);

}  // namespace isomer
