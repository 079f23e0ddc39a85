#pragma once
// The value that the first two roots of a rule both read. In most graphs, most values have one reader, so that most
// nodes are ruled out as a first root before anything is matched.

#include <cstddef>
#include <vector>

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

 private:
  struct Step {
    const OpDef* op;
    size_t operand;
  };
  using Steps = std::vector<Step>;

  bool find(const Term& first, const Term& second, Steps& steps);
  bool reaches_second(const Graph& graph, ValueId value, size_t step, NodeId first) const;

  Steps down_;                       // from the first root to the shared value; empty: there is none
  std::vector<const OpDef*> above_;  // from the readers of the shared value to the second root
};

}  // namespace isomer
