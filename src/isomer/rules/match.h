#pragma once
// Finds the matches of a rule in a graph.

#include <memory>
#include <span>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/ir/graph.h"
#include "isomer/rules/expr.h"
#include "isomer/rules/match_plan.h"
#include "isomer/rules/op_index.h"
#include "isomer/rules/rule.h"

namespace isomer {

class MatchTarget;

/// A place where a rule applies: the values of its variables, the values that the targets replace (in order), and the
/// nodes that the source pattern matches (ascending).
struct Match {
  const Rule* rule = nullptr;
  Binding binding;
  std::vector<ValueId> roots;
  std::vector<NodeId> nodes = {};
  /// What replaces the roots (match_target.h); nullptr: it is instantiated when it is needed. Searches, which consider
  /// a match in many graphs, keep it.
  std::shared_ptr<const MatchTarget> target = nullptr;
};

/// All matches whose conditions hold and whose rewrite creates no cycle, ordered by the first root. `term...` matches
/// the largest set of siblings that satisfies the conditions together with the first of them; a node of a large set
/// does not begin another set. Commutative operators match in both orders. Of those in an operand `term...`, the first
/// eight do; then each repetition matches once, if possible with values of the same types and operators as in the first
/// repetition. Stops at `limit` matches or when the deadline (if not nullptr) has passed. `all_weights`: the condition
/// weight(...) holds for every value.
std::vector<Match> find_matches(const Graph& graph, const OpIndex& index, const MatchPlan& plan,
                                size_t limit = SIZE_MAX, const Deadline* deadline = nullptr, bool all_weights = false);

/// Why a rule does not match: the reason why the longest attempt failed.
struct Miss {
  size_t progress = 0;      ///< number of matched nodes; one more than all if a condition failed
  std::string reason = {};  ///< empty if there was no attempt
};

/// Appends the matches with this node as their first root. `miss`, if not nullptr, receives the longest failed attempt.
void find_matches_at(const Graph& graph, const OpIndex& index, const MatchPlan& plan, NodeId root,
                     std::vector<Match>& out, Miss* miss = nullptr);
/// Returns the matches with one of these possible first roots, in the order of the roots.
std::vector<Match> find_matches_from(const Graph& graph, const OpIndex& index, const MatchPlan& plan,
                                     std::span<const NodeId> roots);

/// Returns the matches that replace the results of exactly these nodes, in this order. For `term...`, the siblings may
/// be any set that satisfies the conditions, not only the largest one. The nodes must be distinct.
std::vector<Match> find_matches_of(const Graph& graph, const OpIndex& index, const MatchPlan& plan,
                                   std::span<const NodeId> roots);

/// Whether replacing all roots at once would create a cycle, because a value that the target reads depends on a root.
bool closes_cycle(const Graph& graph, const Match& match);

}  // namespace isomer
