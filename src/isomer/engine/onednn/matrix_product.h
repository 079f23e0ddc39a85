#pragma once
// Products of two matrices that are both computed in a run, as in training steps. A kernel of our own: oneDNN's are
// slow for some layouts unless one matrix is put in another layout first. Blocks and loops are those of Goto and van de
// Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008); but a row-major second matrix is not packed if it
// is read for few rows, or has few. Then the time is that of memory.

#include <cstdint>

#include "isomer/engine/onednn/own_posts.h"

namespace isomer::onednn {

/// How a matrix lies in memory.
struct MatrixLayout {
  int64_t stride = 0;       ///< floats between rows; if it is transposed, between columns
  bool transposed = false;  ///< columns are contiguous, not rows
};

/// A product of matrices, rows x inner by inner x columns, all at least 1. The result is row-major.
struct MatrixProduct {
  int64_t rows = 0, inner = 0, columns = 0;
  MatrixLayout a = {}, b = {};
};

/// Returns the number of floats of scratch memory for this number of parts.
int64_t matrix_product_scratch(const MatrixProduct& product, int parts);

/// Returns whether no partial sums are stored, so that the result may take the place of an added value.
bool sums_at_once(const MatrixProduct& product, int parts);

struct MatrixProductArguments {
  const float* a = nullptr;
  const float* b = nullptr;
  const float* bias = nullptr;  ///< of each column; nullptr: none
  float* result = nullptr;      ///< no added value, unless sums_at_once
  float* scratch = nullptr;
};
/// Computes a product in `parts` parts, which the current number of threads share. Their numbers change no bit of the
/// result.
void run_matrix_product(const MatrixProduct& product, const MatrixProductArguments& arguments, const OwnPosts& posts,
                        int parts);

}  // namespace isomer::onednn
