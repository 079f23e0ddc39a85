#pragma once
// Checks that a recorded application is an instance of its rule.

#include <unordered_map>

#include "isomer/certificate/expression.h"
#include "isomer/ir/derivation.h"

namespace isomer::replay {

/// A graph whose values can be found by their content hashes.
class NamedGraph {
 public:
  /// Keeps a reference.
  explicit NamedGraph(const Graph& graph);

  const Graph& graph() const { return graph_; }
  /// Returns an Error if the graph has no such value.
  Result<ValueId> find(uint64_t hash) const;

 private:
  const Graph& graph_;
  std::unordered_map<uint64_t, ValueId> values_;
};

/// A rule with everything that it is applied to.
struct Instance {
  const Rule& rule;
  std::vector<ValueId> roots;
  Variables variables;
};

/// Returns the instance that an application describes. Checks that every node, operand and attribute of the graph
/// agrees with the source pattern for the recorded values of the variables, and that every condition holds; an Error
/// says which does not. Only the order of the operands of commutative operators is searched for.
Result<Instance> check_instance(const NamedGraph& graph, const Rule& rule, const Application& application);

}  // namespace isomer::replay
