#pragma once
// Makes a model of one kernel that ONNX Runtime runs as it would run the kernel in a larger graph.

#include "isomer/engine/kernels.h"
#include "isomer/onnx/model.h"

namespace isomer {

/// Prefix of values that only bring the kernel's operands into their layouts. The time of the nodes that make them is
/// not counted.
inline constexpr const char* kHarness = "isomer_harness";

/// Returns the model to run. In the original graph a node may work on blocked operands; alone, it would have plain
/// ones. So a pooling or a convolution in front of it (the harness) makes blocked operands.
Result<Model> kernel_model(const KernelRun& run);

/// Returns a small model with the usual kernels. It runs before a kernel is timed, to bring ONNX Runtime's code into
/// the caches, as the previous nodes of a larger model do.
Result<Model> warming_model();

/// Returns a chain of `length` nodes that do almost nothing.
Result<Model> chain_model(int length);

}  // namespace isomer
