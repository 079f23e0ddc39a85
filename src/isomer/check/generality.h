#pragma once
// Which of an operator's attributes a proof fixes, and which it treats as unknown.

#include "isomer/ir/op.h"

namespace isomer {

/// How a proof treats an attribute.
enum class Generality : uint8_t {
  Fixed,     ///< this value only: an axis, a permutation, a mode
  Integer,   ///< any integer
  Integers,  ///< any integers in a list of this length; in shapes, entries of 0 and -1 are fixed
  Number,    ///< any real number
};
Generality generality(const AttrDef& attr);

/// Returns whether a value is the one of several that give a node the same result: axes counted from the front, in
/// ascending order unless other lists of the operator depend on their order; and shapes without 0 and -1, which only a
/// node that allows extents of 0 has for every result.
bool is_representative(const OpDef& op, const AttrDef& attr, const AttrValue& value);

/// Returns whether an attribute lists the extents of a shape.
bool lists_extents(const AttrDef& attr);

}  // namespace isomer
