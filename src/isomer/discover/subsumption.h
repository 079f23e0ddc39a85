#pragma once
// Removes rules that are instances of others.

#include <span>

#include "isomer/discover/generalize.h"

namespace isomer {

/// Returns `rules` without those that another rule replaces: on a sample of the small graphs that a rule applies to, of
/// every rank, one application of the other rule gives the same graph. Simpler rules are kept first. Sorted by name.
std::vector<CheckedRule> without_instances(std::vector<CheckedRule> rules, int threads);

}  // namespace isomer
