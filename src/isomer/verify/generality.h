#pragma once
// What of an operator's attributes a proof fixes, and what it is general in.

#include "isomer/ir/op.h"

namespace isomer {

/// How a proof treats an attribute of an operator.
enum class Generality : uint8_t {
  Fixed,     ///< this very value: an axis, a permutation, a mode
  Integer,   ///< any integer
  Integers,  ///< any integers, as many as there are; of shapes, entries of 0 and -1 are fixed
  Number,    ///< any real number
};
Generality generality(const OpDef& op, const AttrDef& attr);

}  // namespace isomer
