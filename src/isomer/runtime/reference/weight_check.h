#pragma once
// Whether the weights that rewrites make can be stored. (x * a) * b and x * (a * b) are equal over the reals, but in
// floating point a * b may be infinite or zero where x * a and the model's result are neither.

#include <unordered_map>
#include <unordered_set>

#include "isomer/base/deadline.h"
#include "isomer/ir/derivation.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// Checks the weights of graphs that come of one model. What the model itself computes of its constants is the model's
/// own and not checked: folded node by node in the model's precision, it is what the model means, infinite or not. A
/// weight that a rewrite made is refused where an element is an infinity, NaN or zero as it would be stored, but not
/// when it is computed in double precision from the model's own weights. Subnormal numbers are not refused.
class WeightCheck {
 public:
  explicit WeightCheck(const Graph& model);

  /// The weights of `graph` that must not be made: those that are refused as above, and those that cannot be checked:
  /// too large, or not computed before `end`. Each weight is computed once.
  RefusedWeights refused(const Graph& graph, const Deadline& end);

  /// Takes all weights of `graph` for checked: what folding a checked graph left of it.
  void trust(const Graph& graph);

  /// Elements of a weight that was computed for a check, by its value hash; null where they are not kept.
  const Tensor* computed(uint64_t value_hash) const;

 private:
  std::vector<ValueId> unchecked(const Graph& graph) const;
  Status check(const Graph& graph, ValueId value, const Deadline& end);
  void keep(uint64_t value_hash, const Tensor& tensor);

  std::unordered_set<uint64_t> own_;    // value hashes
  std::unordered_set<uint64_t> sound_;  // of weights that were checked
  std::unordered_map<uint64_t, Tensor> computed_;
  size_t computed_bytes_ = 0;
};

}  // namespace isomer
