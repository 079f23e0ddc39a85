#pragma once
// Computes signatures of kernels. A signature covers everything that a kernel's time depends on: its nodes with their
// attributes, the types of their operands, layouts, and how far away its weights are. It does not cover the weights'
// elements, names, or the position in the graph. Operands that attributes generate, such as zeros, count as attributes.

#include "isomer/cost/concrete_types.h"
#include "isomer/cost/weight_reuse.h"
#include "isomer/engine/kernels.h"

namespace isomer {

class KernelSigner {
 public:
  /// Keeps references. `footprint`: bytes that one run of the whole model accesses.
  KernelSigner(const Graph& graph, const KernelPlan& plan, const ConcreteTypes& types, double footprint);

  /// Returns a hash that is equal for kernels that take equally long.
  uint64_t signature(size_t kernel);
  uint64_t signature(const KernelPlan::Reorder& reorder) const;
  /// Returns the kernel as a separate graph, ready to be timed; its weights have made-up elements.
  Result<KernelRun> extract(size_t kernel) const;
  Result<KernelRun> extract(const KernelPlan::Reorder& reorder) const;
  /// Returns WeightReuse::far_bytes of a kernel.
  double far_bytes(size_t kernel) const { return reuse_.far_bytes(kernel); }
  /// "Conv+Relu f32[1,64,56,56] f32[64,64,3,3]"
  std::string describe(size_t kernel) const;
  std::string describe(const KernelPlan::Reorder& reorder) const;

 private:
  bool inside(size_t kernel, ValueId value) const;
  uint64_t decided_hash(const Node& node) const;
  TensorType type(ValueId value) const;

  const Graph& graph_;
  const KernelPlan& plan_;
  const ConcreteTypes& types_;
  const WeightReuse reuse_;
  std::vector<ValueId> seen_;  // temporary of `signature`, kept for its capacity
};

}  // namespace isomer
