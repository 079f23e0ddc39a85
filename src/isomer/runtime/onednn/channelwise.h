#pragma once
// A scale and shift for each channel, then bounds: what a batch normalization with its activation does, or a product
// with one number for each channel. Our own kernel, since oneDNN's is slower than memory, and knows fewer layouts.

#include <limits>
#include <optional>

#include "isomer/runtime/onednn/desc.h"

namespace isomer::onednn {

/// How a tensor lies, as far as channels matter: `groups` times `repeats` times `width` neighbours. Group g holds the
/// channels from (g mod groups_per_image) * width on, and each of its repeats holds all of them once.
struct ChannelLayout {
  int64_t groups = 0;
  int64_t groups_per_image = 0;
  int64_t repeats = 0;
  int64_t width = 0;
};

/// Nothing where elements are no f32, channels (axis 1) are neither row-major, nor in blocks, nor innermost, or where
/// there are gaps.
std::optional<ChannelLayout> channel_layout(const Desc& desc);

/// y = min(max(scale x + shift, low), high), in every channel.
struct ChannelMap {
  ChannelLayout layout;
  const float* scale = nullptr;  ///< of groups_per_image * width channels
  const float* shift = nullptr;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

/// Applies the map to a whole tensor, with the threads that are set. `to` may be `from`. NaN stays NaN.
void apply(const ChannelMap& map, const float* from, float* to);

}  // namespace isomer::onednn
