#pragma once
// Decides which nodes may form one group of siblings under `term...`.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "isomer/rules/dependence.h"
#include "isomer/rules/match.h"

namespace isomer {

/// The group of siblings that a matcher collects one by one in ascending order.
class Siblings {
 public:
  /// Keeps references to the graph and the rule.
  Siblings(const Graph& graph, const Rule& rule);

  /// Begins a group of nodes that match the term. Returns false if the target reads a value that depends on the first
  /// node, so that it cannot have siblings.
  bool begin(NodeId first, const Term& term, const Binding& binding);
  /// Whether the node's dependence on the group excludes it before it is matched.
  bool rule_out(NodeId id);
  /// Whether a value that the target reads from the latest elements of the sequences depends on the group.
  bool depends(const Binding& binding);
  /// Adds a node. Returns false and adds nothing if the target reads a value that depends on it.
  bool add(NodeId id) { return dependence_.add(id); }

  /// For a large group, the match with all siblings is sufficient: the matches that begin with its second, third, ...
  /// node would be as many and nearly as large. `alone` is the binding of the group's first node.
  void remember(const Binding& alone, const std::vector<NodeId>& group);
  bool in_large_group(NodeId id, const Binding& binding) const;

 private:
  const Graph& graph_;
  const Rule& rule_;
  const std::set<std::string> read_;  // variables that the target computes with
  Dependence dependence_;
  std::set<std::string> elements_;  // sequences of the term that the target computes with
  bool reads_all_ = false;          // the target computes with all variables of the term
  std::vector<std::pair<decltype(Binding::values), std::vector<NodeId>>> large_groups_;  // nodes ascending
};

/// The variables from which the target is computed.
std::set<std::string> read_by_target(const Rule& rule);
/// The values of these variables, without absent operands.
std::vector<ValueId> bound_values(const Binding& binding, const std::set<std::string>& names);
/// Whether the binding contains a sequence of the term.
bool binds_sequence(const Binding& binding, const Term& term);
/// Appends the last element of each sequence of the term to the same sequence of `to`.
void append_last(const Binding& from, const Term& term, Binding& to);

}  // namespace isomer
