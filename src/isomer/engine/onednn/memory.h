#pragma once
// The memory that a program takes for activations.

#include "isomer/engine/onednn/program.h"
#include "isomer/ops/activation_memory.h"

namespace isomer::onednn {

/// Returns the memory of one run of a program whose arena is laid out.
ActivationMemory activation_memory(const Program& program);

/// Returns the bytes that a kernel reads and writes: those of its arguments, or of whole buffers if it is not a
/// primitive.
size_t bytes_touched(const Program& program, const Kernel& kernel);

}  // namespace isomer::onednn
