#pragma once
// Whether a recorded application is an instance of its rule.

#include <unordered_map>

#include "isomer/ir/derivation.h"
#include "isomer/verify/replay/expression.h"

namespace isomer::replay {

/// A graph whose values can be found by their content hashes.
class NamedGraph {
 public:
  /// Keeps a reference.
  explicit NamedGraph(const Graph& graph);

  const Graph& graph() const { return graph_; }
  /// An Error where the graph has no such value.
  Result<ValueId> find(uint64_t hash) const;

 private:
  const Graph& graph_;
  std::unordered_map<uint64_t, ValueId> values_;
};

/// A rule with all that it is applied to.
struct Instance {
  const Rule& rule;
  std::vector<ValueId> roots;
  Variables variables;
};

/// The instance that an application describes: every node, operand and attribute of the graph is what the source
/// pattern says once its variables stand for what is recorded, and every condition holds. An Error says what is not so.
/// Nothing is searched for but the order of the operands of commutative operators.
Result<Instance> check_instance(const NamedGraph& graph, const Rule& rule, const Application& application);

}  // namespace isomer::replay
