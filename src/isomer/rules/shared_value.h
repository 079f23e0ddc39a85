#pragma once
// The value that the first two roots of a rule both read. In most graphs, most values have one reader, so that most
// nodes are ruled out as a first root before anything is matched.

#include <cstddef>
#include <optional>
#include <vector>

#include "isomer/base/function_ref.h"
#include "isomer/ir/graph.h"
#include "isomer/rules/rule.h"

namespace isomer {

class SharedValue {
 public:
  /// Finds a variable that both roots need. There may be none, or the rule may match with one root.
  explicit SharedValue(const Rule& rule);

  /// Returns false only if no match has this first root, because the operators from the shared value to a second root
  /// are missing.
  bool may_have_second(const Graph& graph, NodeId first) const;

  /// What a rewrite changed, seen from the graph after it.
  struct Change {
    FunctionRef<bool(NodeId)> above;     ///< whether a node is new, or something is that a pattern reaches from it
    FunctionRef<bool(ValueId)> readers;  ///< whether a value has other readers than before
  };
  /// Returns false only if the matches with this first root are those of the graph before: nothing changed between the
  /// shared value and the possible roots, and these read no other value that is computed at run time. So a distant
  /// change neither opens nor closes a cycle through them.
  bool may_differ(const Graph& graph, NodeId first, const Change& change) const;

 private:
  struct Step {
    const OpDef* op;
    size_t operand;
  };
  using Steps = std::vector<Step>;

  bool find(const Term& first, const Term& second, Steps& steps);
  std::optional<ValueId> of(const Graph& graph, NodeId first) const;
  bool reaches_second(const Graph& graph, ValueId value, size_t step, NodeId first) const;
  bool may_differ_above(const Graph& graph, ValueId value, size_t step, ValueId shared, const Change& change) const;

  Steps down_;                       // from the first root to the shared value; empty: there is none
  std::vector<const OpDef*> above_;  // from the readers of the shared value to the second root
  bool all_share_ = false;           // there are no other roots
};

}  // namespace isomer
