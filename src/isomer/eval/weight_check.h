#pragma once
// Checks whether the weights that rewrites create can be stored. (x * a) * b and x * (a * b) are equal over the reals,
// but in floating point a * b may be infinite or zero although x * a and the model's result are neither.

#include <unordered_map>
#include <unordered_set>

#include "isomer/base/deadline.h"
#include "isomer/base/result.h"
#include "isomer/ir/derivation.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// Adds weights to `refused`. Returns an Error with the reason of one of them, if there are any.
Status add_refused(RefusedWeights& refused, const RefusedWeights& weights);

/// Checks the weights of graphs derived from one model. Values that the model itself computes from its constants are
/// not checked: folding them node by node in the model's precision is what the model means, infinite or not. A weight
/// that a rewrite created is refused if an element is stored as an infinity, NaN or zero, but has a different value in
/// double precision, computed from the model's own weights. Subnormal numbers are not refused.
class WeightCheck {
 public:
  /// Large weights are computed on so many threads.
  explicit WeightCheck(const Graph& model, int threads = 1);

  /// Returns the weights of `graph` that must not be created: those that are refused as above, and those that cannot be
  /// checked because they are too large or not computed before `end`. Each weight is computed once. What is returned
  /// and kept does not depend on the number of threads, if there is enough time.
  RefusedWeights refused(const Graph& graph, const Deadline& end);

  /// Marks all weights of `graph` as checked. `graph` is the folded form of a checked graph.
  void trust(const Graph& graph);

  /// Returns the elements of a weight that was computed for a check, by its value hash; an empty tensor if they were
  /// not kept. Keeps, up to a limit, those that take long to compute for their size.
  Tensor computed(uint64_t value_hash) const;

 private:
  std::vector<ValueId> unchecked(const Graph& graph) const;
  /// Returns the elements of a weight if they are to be kept; else an empty tensor. An Error if the weight is refused.
  Result<Tensor> check(const Graph& graph, ValueId value, const Deadline& end) const;
  void keep(uint64_t value_hash, const Tensor& tensor);

  const int threads_;
  std::unordered_set<uint64_t> own_;    // value hashes
  std::unordered_set<uint64_t> sound_;  // of weights that were checked
  std::unordered_map<uint64_t, Tensor> computed_;
  size_t computed_bytes_ = 0;
};

}  // namespace isomer
