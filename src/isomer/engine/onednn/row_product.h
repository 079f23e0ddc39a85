#pragma once
// Products of a few rows by constant weights. Their time is that of reading the weights. A kernel of our own, which
// reads them in one stream: oneDNN's waits longer for weights that are not in the first two levels of cache.

#include <cstdint>

#include "isomer/engine/onednn/own_posts.h"

namespace isomer::onednn {

/// A product of row-major matrices, rows x inner by inner x columns.
struct RowProduct {
  int64_t rows = 0, inner = 0, columns = 0;
};

/// The maximum number of rows for which it may be faster than a kernel that is made for arithmetic.
inline constexpr int64_t kMaxRows = 8;

/// Returns the number of floats of the packed weights.
int64_t packed_weights(const RowProduct& product);
/// Packs row-major weights; transposed: columns x inner.
void pack_weights(const RowProduct& product, bool transposed, const float* from, float* to);

struct RowProductArguments {
  const float* a = nullptr;
  const float* weights = nullptr;  ///< packed
  const float* bias = nullptr;     ///< of each column; nullptr: none
  float* result = nullptr;         ///< row-major; may be an added value
};
/// Computes a product, with the current number of threads. Their number changes no bit of the result.
void run_row_product(const RowProduct& product, const RowProductArguments& arguments, const OwnPosts& posts);

}  // namespace isomer::onednn
