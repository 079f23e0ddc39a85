#pragma once
// How far away weights are when a kernel reads them: the number of bytes that a model accesses between two reads.

#include <span>
#include <vector>

#include "isomer/cost/concrete_types.h"
#include "isomer/engine/kernels.h"

namespace isomer {

/// Weights of fewer bytes are read so quickly that their distance does not matter.
inline constexpr double kSmallWeights = 4096;
/// Between this and kFarthestWeights, distances are rounded to half powers of two, so that versions of one model share
/// their measurements.
inline constexpr double kNearestWeights = 4 << 20;

/// Returns whether a value is made from the attributes of its node alone, such as zeros: a kernel may need these
/// elements, and they are not weights.
bool is_generated(const Graph& graph, ValueId value);

/// The distances in one graph. They are stack distances: bytes of distinct weights, each counted once.
class WeightReuse {
 public:
  /// Keeps references. `footprint`: bytes that one run of the whole model accesses.
  WeightReuse(const Graph& graph, const KernelPlan& plan, const ConcreteTypes& types, double footprint);

  /// Returns how far away the weights of a kernel are, by the largest of them; nothing if they are small. If a run
  /// reads them several times in a short span, the first reader finds them as the previous run left them.
  WeightReads of(size_t kernel) const;
  /// Returns the bytes of a kernel's weights if they are farther away than kNearestWeights, else 0.
  double far_bytes(size_t kernel) const;

 private:
  struct Weight {
    ValueId value;
    double bytes;
    std::vector<NodeId> readers;  ///< when the model runs, in their order
  };
  /// Returns the weights of a kernel, one for each operand.
  std::vector<ValueId> weights_of(size_t kernel) const;
  double bytes_of(std::span<const ValueId> values) const;
  /// Returns whether a node reads its weight when the model runs, not before.
  bool reads(NodeId reader) const;
  /// Returns the weights that are read when the model runs, by value.
  const std::vector<Weight>& weights() const;
  const Weight& weight(ValueId value) const;
  /// Returns the bytes accessed between the last reader of a weight and its first reader in the next run.
  double between_runs(const Weight& weight) const;
  /// Returns the bytes read since the reader before `reader`.
  double within_run(NodeId before, NodeId reader) const;
  /// Sums over weights that are not small.
  template <class Condition>
  double sum_of_weights(const Condition& condition) const;

  const Graph& graph_;
  const KernelPlan& plan_;
  const ConcreteTypes& types_;
  const double footprint_;
  mutable std::vector<Weight> weights_;  // computed on first use
};

}  // namespace isomer
