#pragma once
// What a kernel's time depends on: its nodes with their attributes, the types of what they read, layouts, and how far
// away its weights are. Not the weights themselves, names, or where in a graph it stands.

#include "isomer/cost/concrete_types.h"
#include "isomer/cost/weight_reuse.h"
#include "isomer/engine/kernels.h"

namespace isomer {

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
  TensorType type(ValueId value) const;

  const Graph& graph_;
  const KernelPlan& plan_;
  const ConcreteTypes& types_;
  const WeightReuse reuse_;
  std::vector<ValueId> seen_;  // by `signature`, kept for its room
};

}  // namespace isomer
