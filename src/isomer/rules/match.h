#pragma once
// Where a rule matches in a graph.

#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/ir/graph.h"
#include "isomer/rules/expr.h"
#include "isomer/rules/rule.h"

namespace isomer {

/// A place where a rule applies: what its variables stand for, the values that the targets replace, in order, and the
/// nodes that the source pattern maps to, ascending.
struct Match {
  const Rule* rule = nullptr;
  Binding binding;
  std::vector<ValueId> roots;
  std::vector<NodeId> nodes = {};
};

/// Nodes by operator, so that a matcher sees only those that can be a root.
class OpIndex {
 public:
  explicit OpIndex(const Graph& graph);
  /// Ascending; opaque nodes and nodes that depend on constants alone are left out.
  std::span<const NodeId> nodes(const OpDef& op) const;

 private:
  std::vector<std::pair<const OpDef*, std::vector<NodeId>>> by_op_;
};

/// All matches whose conditions hold and whose rewrite closes no cycle, ordered by the first root. `term...` matches
/// the largest set of siblings that satisfies the conditions together with the first of them; a node of a large set
/// does not begin another. Stops at `limit` matches, and when the deadline (unless null) has passed. `all_weights`: the
/// condition weight(...) holds of every value.
std::vector<Match> find_matches(const Graph& graph, const OpIndex& index, const Rule& rule, size_t limit = SIZE_MAX,
                                const Deadline* deadline = nullptr, bool all_weights = false);

/// Whether the rule's source is one term that stands once: its matches then depend on what lies above their root alone.
bool single_root(const Rule& rule);

/// Why a rule does not match: what the attempt that came furthest failed on.
struct Miss {
  size_t progress = 0;      ///< nodes matched by then; all of them and one more where a condition failed
  std::string reason = {};  ///< empty: nothing was tried
};

/// Appends the matches that have this node as their (first) root. `miss`, if given, is told what else was tried.
void find_matches_at(const Graph& graph, const OpIndex& index, const Rule& rule, NodeId root, std::vector<Match>& out,
                     Miss* miss = nullptr);

/// Whether replacing all roots at once would make a value depend on itself: something that the target reads depends on
/// one of the roots.
bool closes_cycle(const Graph& graph, const Match& match);

}  // namespace isomer
