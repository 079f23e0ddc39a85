#pragma once
// How far away weights are when a kernel reads them: how much a model touches since it last did.

#include <vector>

#include "isomer/cost/concrete_types.h"
#include "isomer/engine/kernels.h"

namespace isomer {

/// Weights below this many bytes are read too fast for their distance to matter.
inline constexpr double kSmallWeights = 4096;
/// Between this and kFarthestWeights, distances are rounded to half powers of two, so that versions of one model share
/// their measurements.
inline constexpr double kNearestWeights = 4 << 20;

/// The distances in one graph. They are stack distances: bytes of different weights, each counted once.
class WeightReuse {
 public:
  /// Keeps references. `footprint`: bytes that one run of the whole model touches.
  WeightReuse(const Graph& graph, const KernelPlan& plan, const ConcreteTypes& types, double footprint);

  /// How the weights of a kernel come to it, by the largest of them; nothing where they are small. Where a run reads
  /// them again soon and then leaves them, its first reader finds them as the run before has left them.
  WeightReads of(size_t kernel) const;

 private:
  struct Weight {
    ValueId value;
    double bytes;
    std::vector<NodeId> readers;  ///< when the model runs, in their order
  };
  /// Whether a node reads its weight when the model runs, not before.
  bool reads(NodeId reader) const;
  /// Those that are read when the model runs, by value.
  const std::vector<Weight>& weights() const;
  const Weight& weight(ValueId value) const;
  /// Bytes touched between the last reader of a weight and the first one of the next run.
  double between_runs(const Weight& weight) const;
  /// Bytes read since the reader before `reader`.
  double within_run(NodeId before, NodeId reader) const;
  /// Of those that are not small.
  template <class Condition>
  double sum_of_weights(const Condition& condition) const;

  const Graph& graph_;
  const KernelPlan& plan_;
  const ConcreteTypes& types_;
  const double footprint_;
  mutable std::vector<Weight> weights_;  // when first needed
};

}  // namespace isomer
