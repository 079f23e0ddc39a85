#pragma once
// The memory for activations of one run of a compiled graph.

#include <cstddef>

namespace isomer {

/// Bytes that one run of a plan holds at the same time. This excludes weights and everything whose size depends on the
/// data (text, results whose extents are known only at run time).
struct ActivationMemory {
  size_t arena = 0;    ///< one block for all activations between kernels and for their scratch memory
  size_t scratch = 0;  ///< part of the arena: the maximum scratch memory of one kernel
  size_t inputs = 0;   ///< tensors of the caller
  size_t outputs = 0;  ///< tensors for the caller
  /// The maximum size of the results of reference kernels that run at the same time, before they are copied into the
  /// arena.
  size_t results = 0;

  size_t total() const { return arena + inputs + outputs + results; }
};

}  // namespace isomer
