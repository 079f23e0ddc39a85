#pragma once
// Rotary position embedding, part of the attention family.

#include "isomer/ir/op.h"

namespace isomer {

OpDef rotary_embedding_op();

}  // namespace isomer
