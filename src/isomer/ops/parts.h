#pragma once
// Parts of operator families that are in separate files.

#include <vector>

#include "isomer/ir/op.h"

namespace isomer {

OpDef clip_op();                   // clip.cc, of the activations
std::vector<OpDef> softmax_ops();  // softmax.cc, of the activations
std::vector<OpDef> cast_ops();     // cast.cc, of the unary operators
OpDef einsum_op();                 // einsum.cc, of the products
std::vector<OpDef> window_ops();   // window_function.cc, of the generators

}  // namespace isomer
