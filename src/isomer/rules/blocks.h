#pragma once
// Channel blocks that rules choose (`choose block ?m in [4, 8, 16]`). A rule is checked, proved and replayed with all
// of them. Only a search knows the device, and tries those that the device prefers.

#include <cstdint>
#include <span>
#include <vector>

#include "isomer/rules/match.h"
#include "isomer/rules/rule.h"

namespace isomer {

/// Returns the rules with matches only for blocks in `blocks`; empty: as they are. Their texts and hashes stay the
/// same.
std::vector<Rule> prefer_blocks(std::span<const Rule> rules, std::span<const int64_t> blocks);

/// Returns whether a candidate of a free parameter may be chosen: not if it is a block, and the device prefers others.
bool may_choose(const Choice& choice, const Dim& value);

/// Returns the blocks that a match has chosen, in the order of its rule's free parameters.
std::vector<int64_t> chosen_blocks(const Match& match);

}  // namespace isomer
