#pragma once
// A kernel as a model of its own, such that ONNX Runtime runs it as it would inside a larger graph.

#include "isomer/engine/kernels.h"
#include "isomer/onnx/model.h"

namespace isomer {

/// Names of values that only bring the kernel's operands into their layouts begin so; the time of the nodes that make
/// them does not count.
inline constexpr const char* kHarness = "isomer_harness";

/// The model to run. By itself, a node that works on blocked operands in its surrounding would find plain ones: a
/// pooling or a convolution in front of it (the harness) makes blocked ones.
Result<Model> kernel_model(const KernelRun& run);

/// A small model that uses the usual kernels: run before a kernel is timed, it brings ONNX Runtime's own code near, as
/// the nodes before do in a larger model.
Result<Model> warming_model();

/// A chain of `length` nodes that do next to nothing.
Result<Model> chain_model(int length);

}  // namespace isomer
