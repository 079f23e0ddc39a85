#include "isomer/check/generality.h"

#include <algorithm>

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

namespace {

/// Returns whether an operator has other lists, whose entries may belong to its axes in their order.
bool has_other_lists(const OpDef& op, const AttrDef& axes) {
  return std::ranges::any_of(op.attrs, [&](const AttrDef& other) {
    return other.name != axes.name && (other.kind == AttrKind::Ints || other.kind == AttrKind::Floats);
  });
}

}  // namespace

bool is_representative(const OpDef& op, const AttrDef& attr, const AttrValue& value) {
  const auto at_least = [](int64_t min) { return [min](int64_t entry) { return entry >= min; }; };
  switch (attr.domain) {
    case AttrDomain::Axis:
    case AttrDomain::AxisOrEnd:
      return std::get<int64_t>(value) >= 0;
    case AttrDomain::Axes:
    case AttrDomain::ResultAxes:
      return std::ranges::all_of(std::get<Ints>(value), at_least(0)) &&
             (has_other_lists(op, attr) || std::ranges::is_sorted(std::get<Ints>(value)));
    case AttrDomain::SameSize:
      return std::ranges::all_of(std::get<Ints>(value), at_least(1));
    default:
      return true;
  }
}

bool lists_extents(const AttrDef& attr) {
  return attr.domain == AttrDomain::Shape || attr.domain == AttrDomain::SameSize;
}

}  // namespace isomer
