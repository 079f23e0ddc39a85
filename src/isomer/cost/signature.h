#pragma once
// What a kernel's time depends on: its nodes with their attributes, the types of what they read, layouts, and how far
// away its weights are. Not the weights themselves, names, or where in a graph it stands.

#include "isomer/cost/concrete_types.h"
#include "isomer/engine/kernels.h"

namespace isomer {

/// Weights below this many bytes are read too fast for their distance to matter.
inline constexpr double kSmallWeights = 4096;
/// Between these, distances are rounded to half powers of two, so that versions of one model share their measurements.
inline constexpr double kNearestWeights = 4 << 20;

class KernelSigner {
 public:
  /// Keeps references. `footprint`: bytes that one run of the whole model touches.
  KernelSigner(const Graph& graph, const KernelPlan& plan, const ConcreteTypes& types, double footprint);

  /// Equal for kernels that take equally long.
  uint64_t signature(size_t kernel);
  uint64_t signature(const KernelPlan::Reorder& reorder) const;
  /// The same kernel by itself, ready to be timed; its weights are made up.
  Result<KernelRun> extract(size_t kernel) const;
  Result<KernelRun> extract(const KernelPlan::Reorder& reorder) const;
  /// "Conv+Relu f32[1,64,56,56] f32[64,64,3,3]"
  std::string describe(size_t kernel) const;
  std::string describe(const KernelPlan::Reorder& reorder) const;
  /// Bytes that a kernel reads and writes; what stays within it does not count.
  double bytes(size_t kernel) const;

 private:
  bool inside(size_t kernel, ValueId value) const;
  /// Bytes that are touched after a kernel's weights were last read, in few steps; 0 where that does not matter.
  double distance(size_t kernel) const;
  /// Bytes that are touched after a weight was last read, by a kernel before this one or in the run before.
  double since_last_read(size_t kernel, ValueId weight) const;
  /// Bytes of weights that nodes up to each one read, from the first on.
  std::vector<double> bytes_of_weights() const;
  TensorType type(ValueId value) const;

  const Graph& graph_;
  const KernelPlan& plan_;
  const ConcreteTypes& types_;
  const double footprint_;
  std::vector<ValueId> seen_;            // by `signature`, kept for its room
  mutable std::vector<double> touched_;  // bytes_of_weights(), when first needed
};

}  // namespace isomer
