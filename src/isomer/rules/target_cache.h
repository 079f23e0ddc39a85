#pragma once
// Targets of matches that differ only in where they are. A search meets the same match in many graphs.

#include <memory>
#include <optional>
#include <unordered_map>

#include "isomer/rules/match_target.h"

namespace isomer {

/// Must not outlive the rules.
class TargetCache {
 public:
  /// Returns the target that the match carries, one that an equal match had before, or a new one. Matches are equal if
  /// rule, attributes, types, elements of bound constants, and the places that are bound to one value are the same: a
  /// target depends on nothing else.
  std::shared_ptr<const MatchTarget> of(const Graph& graph, const Match& match);

 private:
  std::unordered_map<uint64_t, std::shared_ptr<const MatchTarget>> known_;  // only for lookups
};

}  // namespace isomer
