#pragma once
// A scale and shift per channel, then bounds: a batch normalization with its activation, or a product with one number
// per channel. A kernel of our own, since oneDNN's is slower than memory and supports fewer layouts.

#include <limits>
#include <optional>

#include "isomer/engine/onednn/desc.h"

namespace isomer::onednn {

/// The positions of channels in a tensor: `groups` times `repeats` times `width` adjacent elements. Group g holds the
/// channels from (g mod groups_per_image) * width on, and each of its repeats holds all of them once.
struct ChannelLayout {
  int64_t groups = 0;
  int64_t groups_per_image = 0;
  int64_t repeats = 0;
  int64_t width = 0;
};

/// Returns nothing if the elements are not f32, if channels (axis 1) are neither row-major, nor in blocks, nor
/// innermost, or if there are gaps.
std::optional<ChannelLayout> channel_layout(const Desc& desc);

/// y = min(max(scale x + shift, low), high), in every channel.
struct ChannelMap {
  ChannelLayout layout;
  const float* scale = nullptr;  ///< for groups_per_image * width channels
  const float* shift = nullptr;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

/// Applies the map to a whole tensor, with the current number of threads. `to` may be `from`. NaN stays NaN.
void apply(const ChannelMap& map, const float* from, float* to);

}  // namespace isomer::onednn
