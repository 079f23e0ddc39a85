#pragma once
// Computing what depends on constants alone.

#include <map>
#include <unordered_set>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer::replay {

/// The value hashes of weights that a model computes itself.
using OwnWeights = std::unordered_set<uint64_t>;
OwnWeights own_weights(const Graph& model);

/// The elements of a graph's values that depend on constants alone, by the operators' reference kernels. What was
/// computed once is kept.
class Computed {
 public:
  /// Keeps references. `own` is of the model that the graph comes of.
  Computed(const Graph& graph, const OwnWeights& own) : graph_(graph), own_(own) {}

  /// An Error where the value depends on more than constants, or where there is no kernel.
  Result<Tensor> of(ValueId value);

  /// Fails where an element of the value is an infinity, NaN or zero as it is stored, but not when it is computed in
  /// double precision from constants and the model's own weights, which are what they are.
  Status check(ValueId value);

  /// `check` of all weights that operators at run time, or outputs, read.
  Status check_all();

 private:
  struct Exact {
    Tensor elements;
    bool left_range = false;  ///< of double precision, on the way
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
