#pragma once
// Computing what depends on constants alone.

#include <map>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer::replay {

/// The elements of a graph's values that depend on constants alone, by the operators' reference kernels. What was
/// computed once is kept.
class Computed {
 public:
  /// Keeps a reference.
  explicit Computed(const Graph& graph) : graph_(graph) {}

  /// An Error where the value depends on more than constants, or where there is no kernel.
  Result<Tensor> of(ValueId value);

 private:
  Status run(const Node& node);

  const Graph& graph_;
  std::map<ValueId, Tensor> known_;
};

}  // namespace isomer::replay
