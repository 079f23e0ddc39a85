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
  /// them again soon and then leaves them, that is said of all readers but the first, which finds them as the run
  /// before has left them.
  WeightReads of(size_t kernel) const;

 private:
  /// Nodes that read a weight when the model runs, in their order.
  std::vector<NodeId> readers_of(ValueId weight) const;
  /// Those that are read when the model runs, without the small ones.
  std::vector<ValueId> weights_read() const;
  /// Bytes touched between the last reader of a weight and the first one of the next run.
  double between_runs(ValueId weight) const;
  /// Bytes read since the reader before `reader`.
  double within_run(NodeId before, NodeId reader) const;
  template <class Condition>
  double sum_of_weights(const Condition& condition) const;

  const Graph& graph_;
  const KernelPlan& plan_;
  const ConcreteTypes& types_;
  const double footprint_;
  mutable std::vector<ValueId> weights_;  // weights_read(), when first needed
};

}  // namespace isomer
