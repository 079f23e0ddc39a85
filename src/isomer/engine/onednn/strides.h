#pragma once
// The places of the elements of values that are not in blocks of channels. Extents may be unknown, and no oneDNN object
// is needed.

#include <span>
#include <vector>

#include "isomer/ir/graph.h"

namespace isomer::onednn {

/// By axis: how many elements apart its neighbors are.
using Strides = std::vector<Dim>;

/// Returns the strides without gaps, for an order of the axes from the outermost to the innermost.
Strides packed(const Shape& extents, std::span<const int64_t> order);
Strides row_major(const Shape& extents);
/// Row-major, except that the elements of one axis are adjacent.
Strides innermost(const Shape& extents, size_t axis);

/// Returns the order of the axes, from the largest stride to the smallest.
Ints order_of(const Strides& strides);

/// Returns whether two strides mean the same places. Those of axes of extent 1 do not matter.
bool same_places(const Shape& extents, const Strides& a, const Strides& b);
/// Returns whether the elements along the last axis whose extent is not 1 are adjacent.
bool has_rows(const Shape& extents, const Strides& strides);
/// Returns whether there are no gaps between the elements.
bool is_packed(const Shape& extents, const Strides& strides);

/// Returns the strides of the results of a transposition or cut; `strides` are the operand's.
Strides viewed(const Node& view, Strides strides);

}  // namespace isomer::onednn
