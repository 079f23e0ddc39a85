#pragma once
// Products by constant weights with an eighth fewer multiplications: of the eight products of the halves of both
// matrices, Strassen's algorithm makes seven (Strassen, "Gaussian Elimination is not Optimal", 1969). A kernel of our
// own. As in Huang et al., "Strassen's Algorithm Reloaded" (2016), a product is added to the parts of the result that
// need it when it leaves the registers; sums of weights are made beforehand.
//
// Columns of the weights are scaled by powers of two, as are the rows of a row-major A, so that a large one adds no
// error to others (Ballard et al., "Improving the Numerical Stability of Fast Matrix Multiplication", 2016). The
// maximum error is one to two times that of the definition, relative to the largest element: of a row and column, or of
// all pixels of an image and a column. If a row, or a column of the weights, has an element that is infinite or NaN,
// all its results are NaN; in an image, those of other pixels can be NaN, too.

#include <cstdint>

#include "isomer/engine/onednn/own_posts.h"

namespace isomer::onednn {

/// A product of matrices, rows x inner by inner x columns. The first one and the result are row-major, or images with a
/// row for each pixel and channels in blocks of `native_block()`: then it is a convolution with windows of one element.
struct StrassenProduct {
  int64_t rows = 0, inner = 0, columns = 0;
  int64_t pixels = 0;  ///< of an image; 0: row-major
};

/// Returns whether the kernel computes a product: each half of the inner extent fills blocks, if there are any, and
/// each half of the columns fills panels.
bool has_strassen(const StrassenProduct& product);
/// Returns whether that may be faster than all eight products.
bool is_worth_strassen(const StrassenProduct& product);

/// Returns the number of floats of the packed weights: about 7/4 of the weights.
int64_t strassen_weights(const StrassenProduct& product);
/// Packs row-major weights; transposed: columns x inner.
void pack_strassen_weights(const StrassenProduct& product, bool transposed, const float* from, float* to);

/// Returns the number of floats of scratch memory for one thread, or for several.
int64_t strassen_scratch(const StrassenProduct& product, int threads);

struct StrassenArguments {
  const float* a = nullptr;
  const float* weights = nullptr;  ///< packed
  const float* bias = nullptr;     ///< of each column; nullptr: none
  float* result = nullptr;         ///< no added value
  float* scratch = nullptr;
};
/// Computes a product, with the current number of threads; `threads` is the number for which there is scratch memory.
/// The numbers change no bit of the result.
void run_strassen(const StrassenProduct& product, const StrassenArguments& arguments, const OwnPosts& posts,
                  int threads);

}  // namespace isomer::onednn
