#pragma once
// Depthwise convolutions with square windows. A kernel of our own: it reads an element of the image once for up to
// seven adjacent results, while oneDNN's kernels read it once for each if channels are innermost, and compute vectors
// of channels that do not exist.

#include <cstdint>

#include "isomer/engine/onednn/own_posts.h"

namespace isomer::onednn {

/// A convolution of each channel by itself, with windows of 3 x 3, 5 x 5 or 7 x 7 and strides of 1 or 2. Channels are
/// innermost (at least `min_depthwise_channels()`), or they fill blocks of `native_block()`. A transposed one with
/// strides of 1 is a convolution with turned windows.
struct DepthwiseConv {
  int64_t images = 0;
  int64_t channels = 0;
  int64_t height = 0, width = 0;          ///< of the image
  int64_t out_height = 0, out_width = 0;  ///< of the result
  int64_t top = 0, left = 0;              ///< rows and columns of zeros before the image, may be negative
  int64_t window = 0, stride = 0;         ///< of both axes
  bool blocked = false;
  bool transposed = false;  ///< the weights are those of a transposed convolution
};

/// Returns how many channels a convolution needs whose channels are innermost.
int64_t min_depthwise_channels();
/// Returns the number of floats of packed weights.
int64_t depthwise_weights(const DepthwiseConv& conv);
/// Packs row-major weights of the operator: all channels of each element of the window.
void pack_depthwise_weights(const DepthwiseConv& conv, const float* from, float* to);

/// Returns whether some results are computed twice. Then no added value may be where the result will be.
bool computes_twice(const DepthwiseConv& conv);

struct DepthwiseArguments {
  const float* image = nullptr;
  const float* weights = nullptr;  ///< packed
  const float* bias = nullptr;     ///< of each channel; nullptr: none
  float* result = nullptr;         ///< may be an added value, unless results are computed twice
};
/// Computes a convolution with the current number of threads, which changes no bit of the result.
void run_depthwise(const DepthwiseConv& conv, const DepthwiseArguments& arguments, const OwnPosts& posts);

}  // namespace isomer::onednn
