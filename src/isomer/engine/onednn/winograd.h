#pragma once
// Convolutions with windows of 3 x 3 by Winograd's algorithm F(4 x 4, 3 x 3): tiles of the image and weights are
// transformed, so that a quarter of the multiplications remain (Lavin and Gray, "Fast Algorithms for Convolutional
// Neural Networks", 2016). A kernel of our own, since oneDNN's is slower on most layers and needs AVX-512.
//
// The maximum error, relative to the largest element of the result, is one to three times that of the direct algorithm.
// An infinite element of the image makes all elements of its tiles NaN.

#include <cstdint>

#include "isomer/engine/onednn/own_posts.h"

namespace isomer::onednn {

/// A convolution with windows of 3 x 3, strides of 1, and channels that fill blocks of `native_block()` in the image
/// and in the result. A transposed one is a convolution with turned windows.
struct WinogradConv {
  int64_t images = 0;
  int64_t channels = 0, height = 0, width = 0;              ///< of the image
  int64_t out_channels = 0, out_height = 0, out_width = 0;  ///< of the result
  int64_t top = 0, left = 0;                                ///< rows and columns of zeros before the image
  bool transposed = false;  ///< the weights are those of a transposed convolution: by channels of the image first
};

/// Returns the number of floats of the operator's weights.
int64_t given_weights(const WinogradConv& conv);
/// Returns the number of floats of the transformed weights.
int64_t winograd_weights(const WinogradConv& conv);
/// Transforms row-major weights of the operator, in the current number of threads.
void transform_weights(const WinogradConv& conv, const float* from, float* to);

/// Returns the number of floats of scratch memory for this number of parts.
int64_t winograd_scratch(const WinogradConv& conv, int parts);

struct WinogradArguments {
  const float* image = nullptr;
  const float* weights = nullptr;  ///< transformed
  const float* bias = nullptr;     ///< of each channel of the result; nullptr: none
  float* result = nullptr;         ///< may be an added value
  float* scratch = nullptr;
};
/// Computes a convolution in `parts` parts, which the current number of threads share.
void run_winograd(const WinogradConv& conv, const WinogradArguments& arguments, const OwnPosts& posts, int parts);

}  // namespace isomer::onednn
