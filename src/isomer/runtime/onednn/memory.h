#pragma once
// What a program takes for activations.

#include "isomer/runtime/activation_memory.h"
#include "isomer/runtime/onednn/program.h"

namespace isomer::onednn {

/// Of one run of a program whose arena is laid out.
ActivationMemory activation_memory(const Program& program);

/// What a kernel reads and writes: its arguments, or the whole buffers where it is no primitive.
size_t bytes_touched(const Program& program, const Kernel& kernel);

}  // namespace isomer::onednn
