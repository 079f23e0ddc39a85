#pragma once
// The matches of all rules in a graph, computed anew or inherited from the graph before a rewrite.

#include <span>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/rules/delta.h"
#include "isomer/search/rule_index.h"

namespace isomer {

/// Returns matches in the order of the rules, those of one rule by root. Returns at most `limit` per rule, and only
/// those that are found before the deadline.
std::vector<Match> all_matches(const Graph& graph, const RuleIndex& rules, size_t limit = SIZE_MAX,
                               const Deadline& deadline = Deadline::never());
std::vector<Match> all_matches(const Graph& graph, std::span<const Rule> rules, size_t limit = SIZE_MAX,
                               const Deadline& deadline = Deadline::never());

/// A graph that a rewrite was applied to.
struct Rewrite {
  const Graph& before;
  const std::vector<Match>& matches;  ///< all of `before`
  const Delta& delta;                 ///< the result of the rewrite
  std::vector<bool> marks = {};       ///< nodes of `before`, by id; empty: none
};
/// What the graph after a rewrite inherits from the graph before.
struct Inherited {
  /// Equals all_matches(after, rules), in the same order. Matches that the change cannot affect are taken from the
  /// parent (OCGGS's reuse). Those with several roots are matched anew where a distant rewrite can close or open a
  /// cycle between the roots.
  std::vector<Match> matches;
  /// Nodes that are new, and those that correspond to marked nodes.
  std::vector<bool> marks;
};
Inherited inherit(const Rewrite& rewrite, const Graph& after, const RuleIndex& rules);

}  // namespace isomer
