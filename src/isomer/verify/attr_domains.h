#pragma once
// The values that the checker tries for an attribute of an operator.

#include <optional>
#include <span>
#include <vector>

#include "isomer/ir/op.h"

namespace isomer {

/// An attribute of a node that is being made up: its operands and the attributes that come before it are known.
struct AttrSite {
  const OpDef& op;
  const AttrDef& def;
  std::span<const TensorType* const> operands;  // null for an absent one
  const Attrs& chosen;
  DType element;        ///< of literals
  const Ints& extents;  ///< that the attribute may set freely
};

struct AttrChoice {
  std::optional<AttrValue> value;  ///< nothing: the attribute is absent
  /// False for values off the beaten track: a stride of 2, an axis counted from the back. The checker bounds how many
  /// of them stand together where it cannot try all combinations.
  bool plain = true;
};

/// Every value within bounds, plain ones first. Depends on the shape of the first operand and on the attributes axis
/// and axes alone, beside the operator and the bounds. Values that do not fit the operands may be among them: inference
/// refuses those. Empty: there is nothing to try.
std::vector<AttrChoice> attr_domain(const AttrSite& site);

/// The order in which attributes are chosen: those that others depend on (axis, axes, group, ...) come first.
int attr_order(const AttrDef& def);

/// All shapes of rank 0 to `max_rank` with these extents, ranks ascending.
std::vector<Ints> small_shapes(size_t max_rank, const Ints& extents);
/// All lists of `size` elements out of `values`.
std::vector<Ints> lists_of(size_t size, const Ints& values);

}  // namespace isomer
