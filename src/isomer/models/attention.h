#pragma once
// Attention heads.

#include "isomer/models/layers.h"

namespace isomer {

/// Reshapes [S,D] to [H,S,D/H], or [N,S,D] to [N,H,S,D/H]. `transposed` swaps the last two axes.
ValueId split_heads(Net& net, ValueId x, int64_t heads, bool transposed = false);

/// Reshapes back to [S,D] or [N,S,D].
ValueId join_heads(Net& net, ValueId x);

/// The extents of a sequence: [S,D], or [N,S,D] for batches above 1.
Ints sequence_dims(const Net& net, int64_t length, int64_t width);

/// softmax(q k^T / sqrt(D/H)) v for each head of the already projected q, k and v. If `mask` is given, scores where it
/// is false are excluded.
ValueId attention(Net& net, ValueId q, ValueId k, ValueId v, int64_t heads, ValueId mask = kNoValue);

}  // namespace isomer
