#pragma once
// The values that the checker tries for an attribute of an operator.

#include <optional>
#include <span>
#include <vector>

#include "isomer/ir/op.h"

namespace isomer {

/// An attribute of a node that is being generated: its operands and the attributes before it are known.
struct AttrSite {
  const OpDef& op;
  const AttrDef& def;
  std::span<const TensorType* const> operands;  // nullptr for an absent operand
  const Attrs& chosen;
  DType element;        ///< of literals
  const Ints& extents;  ///< values that the attribute may use for extents
};

struct AttrChoice {
  std::optional<AttrValue> value;  ///< nothing: the attribute is absent
  /// False for unusual values: a stride of 2, an axis counted from the back. If the checker cannot try all
  /// combinations, it bounds how many of these are combined.
  bool plain = true;
};

/// Returns all values within bounds, plain ones first. The result depends only on the operator, the bounds, the shape
/// of the first operand and the attributes axis and axes. It may include values that do not fit the operands: inference
/// rejects those. Empty: there is nothing to try.
std::vector<AttrChoice> attr_domain(const AttrSite& site);

/// Returns the order in which attributes are chosen: those that others depend on (axis, axes, group, ...) come first.
int attr_order(const AttrDef& def);

/// Returns all shapes of rank 0 to `max_rank` with these extents, by ascending rank.
std::vector<Ints> small_shapes(size_t max_rank, const Ints& extents);
/// Returns all lists of `size` elements of `values`.
std::vector<Ints> lists_of(size_t size, const Ints& values);

}  // namespace isomer
