#pragma once
// Which nodes may form one group of siblings under `term...`.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "isomer/rules/dependence.h"
#include "isomer/rules/match.h"

namespace isomer {

/// The group of siblings that a matcher gathers, one after the other in ascending order.
class Siblings {
 public:
  /// Keeps references.
  Siblings(const Graph& graph, const Rule& rule);

  /// Begins a group of nodes that match the term. False where the target reads something that depends on the first
  /// node, so that it can have no siblings.
  bool begin(NodeId first, const Term& term, const Binding& binding);
  /// Whether a node depends on the group in a way that shows before it is matched.
  bool rule_out(NodeId id);
  /// Whether something that the target reads of the latest element of the sequences depends on the group.
  bool depends(const Binding& binding);
  /// Adds a node; false, and nothing is added, where the target reads something that depends on it.
  bool add(NodeId id) { return dependence_.add(id); }

  /// Of a large group, the one match with all siblings is enough: the matches that begin with its second, third, ...
  /// would be as many and nearly as large. `alone` is what the first of the group bound.
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

/// Whether a sequence of the term is bound.
bool binds_sequence(const Binding& binding, const Term& term);
/// Appends the last elements of the term's sequences to those in `to`.
void append_last(const Binding& from, const Term& term, Binding& to);

}  // namespace isomer
