#pragma once
// Heads of attention.

#include "isomer/models/layers.h"

namespace isomer {

/// [S,D] as [H,S,D/H], or [N,S,D] as [N,H,S,D/H]. `transposed` swaps the last two axes.
ValueId split_heads(Net& net, ValueId x, int64_t heads, bool transposed = false);

/// Back to [S,D] or [N,S,D].
ValueId join_heads(Net& net, ValueId x);

/// Extents of a sequence: [S,D], and [N,S,D] for batches above 1.
Ints sequence_dims(const Net& net, int64_t length, int64_t width);

/// softmax(q k^T / sqrt(D/H)) v over heads of already projected q, k and v. Where `mask` is given, scores where it is
/// false are out.
ValueId attention(Net& net, ValueId q, ValueId k, ValueId v, int64_t heads, ValueId mask = kNoValue);

}  // namespace isomer
