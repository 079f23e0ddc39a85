#pragma once
// Computes values that depend only on constants.

#include <map>
#include <unordered_set>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer::replay {

/// The value hashes of weights that a model computes itself.
using OwnWeights = std::unordered_set<uint64_t>;
OwnWeights own_weights(const Graph& model);

/// Computes those values of a graph that depend only on constants, with the operators' reference kernels. Computed
/// values are cached.
class Computed {
 public:
  /// Keeps references. `own` belongs to the model that the graph is derived from.
  Computed(const Graph& graph, const OwnWeights& own) : graph_(graph), own_(own) {}

  /// Returns an Error if the value depends on more than constants, or if there is no kernel.
  Result<Tensor> of(ValueId value);

  /// Fails if an element of the value is stored as an infinity, NaN or zero, but has a different value in double
  /// precision, computed from constants and the model's own weights. The model's own weights are accepted as they are.
  Status check(ValueId value);

  /// Calls `check` for all weights that run-time operators or outputs read.
  Status check_all();

 private:
  struct Exact {
    Tensor elements;
    bool left_range = false;  ///< the computation exceeded the range of double precision
  };

  bool is_source(const Node& node) const;
  std::vector<NodeId> above(ValueId value) const;
  Result<Exact> exact(std::span<const NodeId> nodes, ValueId value);
  Status run(const Node& node);

  const Graph& graph_;
  const OwnWeights& own_;
  std::map<ValueId, Tensor> known_;
};

}  // namespace isomer::replay
