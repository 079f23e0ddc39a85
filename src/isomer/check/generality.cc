#include "isomer/check/generality.h"

namespace isomer {

Generality generality(const AttrDef& attr) {
  switch (attr.domain) {
    case AttrDomain::Groups:
      return Generality::Integer;
    case AttrDomain::Parts:
    case AttrDomain::Shape:
    case AttrDomain::SameSize:
    case AttrDomain::Starts:
    case AttrDomain::Ends:
    case AttrDomain::Window:
    case AttrDomain::Strides:
    case AttrDomain::WindowPads:
    case AttrDomain::OutputPadding:
    case AttrDomain::Pads:
      return Generality::Integers;
    default:
      return attr.kind == AttrKind::Float || attr.kind == AttrKind::Tensor ? Generality::Number : Generality::Fixed;
  }
}

bool lists_extents(const AttrDef& attr) {
  return attr.domain == AttrDomain::Shape || attr.domain == AttrDomain::SameSize;
}

}  // namespace isomer
