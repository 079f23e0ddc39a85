#pragma once
// The matches of all rules in a graph, found afresh or inherited from the graph that it was made of.

#include <span>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/rules/delta.h"

namespace isomer {

/// By rule, in the order of the rules; of one rule, by root. At most `limit` of each rule, and those
/// that are found before the deadline.
std::vector<Match> all_matches(const Graph& graph, std::span<const Rule> rules, size_t limit = SIZE_MAX,
                               const Deadline& deadline = Deadline::never());

/// A graph that a rewrite was applied to.
struct Rewrite {
  const Graph& before;
  const std::vector<Match>& matches;  ///< all of `before`
  const Delta& delta;                 ///< what the rewrite made of it
  std::vector<bool> marks = {};       ///< nodes of `before`, by id; empty: none
};
/// What the graph after a rewrite has from the graph before.
struct Inherited {
  /// The same as all_matches(after, rules), in the same order: a match that no change can reach is the parent's
  /// (OCGGS's reuse). A rule with several roots is matched afresh, since a rewrite far away can close or open a cycle
  /// between them.
  std::vector<Match> matches;
  /// Nodes that are new, and those that stand for marked ones.
  std::vector<bool> marks;
};
Inherited inherit(const Rewrite& rewrite, const Graph& after, std::span<const Rule> rules);

}  // namespace isomer
