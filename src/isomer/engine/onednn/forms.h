#pragma once
// The memory layouts of values, as far as kernels distinguish them. No oneDNN object is needed to compare them.

#include "isomer/ir/graph.h"
#include "isomer/plan/layout.h"

namespace isomer::onednn {

/// The number of channels in a block, or one of the following constants.
using Form = int64_t;
inline constexpr Form kPlainForm = 1;     ///< row-major
inline constexpr Form kLastForm = 0;      ///< channels innermost
inline constexpr Form kStridedForm = -1;  ///< with gaps, or in another order
inline constexpr Form kGivenForm = -2;    ///< of operands only: as it lies

/// Layouts that are neither row-major nor native blocks cost about the same as the latter.
Layout layout_of(Form form);

/// Returns whether a value is f32, has a rank that blocked layouts have, and a known number of channels.
bool fits_blocks(const Graph& graph, ValueId value);
/// Returns the number of channels of a value that fits blocks.
int64_t channels_of(const Graph& graph, ValueId value);
/// Returns whether a value fits blocks of this many channels, and fills them.
bool fills_blocks(const Graph& graph, ValueId value, Form block);
/// Returns whether a value is known to have no elements.
bool is_empty(const Graph& graph, ValueId value);

/// Returns whether elements of a value in this form are in row-major order. If there is only one pixel, they are if
/// channels fill their blocks.
bool lies_plain(const Graph& graph, ValueId value, Form form);
/// Returns whether two forms of a value mean the same bytes at the same places.
bool alike(const Graph& graph, ValueId value, Form a, Form b);

}  // namespace isomer::onednn
