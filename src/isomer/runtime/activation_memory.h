#pragma once
// The memory that one run of a compiled graph takes for activations.

#include <cstddef>

namespace isomer {

/// Bytes that one run of a plan holds at the same time. Not among them: weights, and what the data decides (text,
/// results whose extents only the run tells).
struct ActivationMemory {
  size_t arena = 0;    ///< one block for all activations between kernels and their scratch memory
  size_t scratch = 0;  ///< of the arena, the most that one kernel takes as scratch memory
  size_t inputs = 0;   ///< the caller's tensors
  size_t outputs = 0;  ///< tensors for the caller
  /// The most that results of one kernel of the reference executor take until they are copied into the arena.
  size_t results = 0;

  size_t total() const { return arena + inputs + outputs + results; }
};

}  // namespace isomer
