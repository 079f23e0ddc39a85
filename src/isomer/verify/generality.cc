#include "isomer/verify/generality.h"

#include <algorithm>

namespace isomer {

Generality generality(const OpDef& op, const AttrDef& attr) {
  static constexpr std::string_view kLists[] = {"pads", "strides", "dilations",      "kernel_shape", "starts",
                                                "ends", "split",   "output_padding", "shape"};
  if (attr.kind == AttrKind::Int && attr.name == "group") return Generality::Integer;
  if (attr.kind == AttrKind::Ints && std::ranges::find(kLists, attr.name) != std::end(kLists))
    return Generality::Integers;
  if (attr.kind == AttrKind::Float) return Generality::Number;
  if (attr.kind == AttrKind::Tensor && op.name != "Constant") return Generality::Number;
  return Generality::Fixed;
}

}  // namespace isomer
