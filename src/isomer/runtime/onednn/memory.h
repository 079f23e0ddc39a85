#pragma once
// What a program takes for activations.

#include "isomer/runtime/activation_memory.h"
#include "isomer/runtime/onednn/program.h"

namespace isomer::onednn {

/// Of one run of a program whose arena is laid out.
ActivationMemory activation_memory(const Program& program);

}  // namespace isomer::onednn
