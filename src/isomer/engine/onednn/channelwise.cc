#include "isomer/engine/onednn/channelwise.h"

#include <algorithm>

#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {
namespace {

constexpr int64_t kChannelGrain = 4096;  // minimum number of elements per thread

struct Bounds {
  float low;
  float high;
};

template <class Vector>
ISOMER_INLINE void map_vector(const float* from, float* to, const Vector& scale, const Vector& shift,
                              const Bounds& bounds) {
  Vector x;
  load(x, from);
  x = x * scale + shift;
  const Vector low = Vector{} + bounds.low;
  const Vector high = Vector{} + bounds.high;
  x = x < low ? low : x;
  x = x > high ? high : x;
  store(to, x);
}

ISOMER_INLINE float map_one(float from, float scale, float shift, const Bounds& bounds) {
  float x = from * scale + shift;
  x = x < bounds.low ? bounds.low : x;
  return x > bounds.high ? bounds.high : x;
}

/// Maps `count` adjacent elements of one channel.
template <class Vector>
ISOMER_INLINE void map_channel(const float* from, float* to, int64_t count, float scale, float shift,
                               const Bounds& bounds) {
  const Vector scales = Vector{} + scale;
  const Vector shifts = Vector{} + shift;
  int64_t i = 0;
  for (; i + kLanes<Vector> <= count; i += kLanes<Vector>) map_vector(from + i, to + i, scales, shifts, bounds);
  for (; i < count; ++i) to[i] = map_one(from[i], scale, shift, bounds);
}

/// Maps `repeats` repeats of the same channels, which fill kVectors vectors.
template <class Vector, size_t kVectors>
ISOMER_INLINE void map_block(const float* from, float* to, int64_t repeats, const float* scale, const float* shift,
                             const Bounds& bounds) {
  Vector scales[kVectors], shifts[kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    load(scales[v], scale + v * kLanes<Vector>);
    load(shifts[v], shift + v * kLanes<Vector>);
  }
  for (int64_t r = 0; r < repeats; ++r) {
    for (size_t v = 0; v < kVectors; ++v) {
      const auto at = static_cast<int64_t>(v) * kLanes<Vector>;
      map_vector(from + at, to + at, scales[v], shifts[v], bounds);
    }
    from += kVectors * kLanes<Vector>;
    to += kVectors * kLanes<Vector>;
  }
}

/// Maps `repeats` repeats of the same channels; several repeats fill a vector.
template <class Vector>
ISOMER_INLINE void map_narrow(const float* from, float* to, int64_t repeats, int64_t width, const float* scale,
                              const float* shift, const Bounds& bounds) {
  float scales[kLanes<Vector>], shifts[kLanes<Vector>];
  for (int64_t i = 0; i < kLanes<Vector>; ++i) {
    scales[i] = scale[i % width];
    shifts[i] = shift[i % width];
  }
  const int64_t whole = repeats * width / kLanes<Vector>;
  map_block<Vector, 1>(from, to, whole, scales, shifts, bounds);
  for (int64_t i = whole * kLanes<Vector>; i < repeats * width; ++i)
    to[i] = map_one(from[i], scales[i % width], shifts[i % width], bounds);
}

/// Maps `repeats` repeats of any number of channels.
template <class Vector>
ISOMER_INLINE void map_channels(const float* from, float* to, int64_t repeats, int64_t width, const float* scale,
                                const float* shift, const Bounds& bounds) {
  for (int64_t r = 0; r < repeats; ++r, from += width, to += width) {
    int64_t c = 0;
    for (; c + kLanes<Vector> <= width; c += kLanes<Vector>) {
      Vector scales, shifts;
      load(scales, scale + c);
      load(shifts, shift + c);
      map_vector(from + c, to + c, scales, shifts, bounds);
    }
    for (; c < width; ++c) to[c] = map_one(from[c], scale[c], shift[c], bounds);
  }
}

struct MapGroup {
  /// Maps `repeats` repeats of one group.
  template <class Vector>
  static ISOMER_INLINE void run(const float* from, float* to, int64_t repeats, int64_t width, const float* scale,
                                const float* shift, const Bounds& given) {
    const Bounds bounds = given;  // a copy that no store can alias
    if (width == 1) return map_channel<Vector>(from, to, repeats, *scale, *shift, bounds);
    if (width == kLanes<Vector>) return map_block<Vector, 1>(from, to, repeats, scale, shift, bounds);
    if (width == 2 * kLanes<Vector>) return map_block<Vector, 2>(from, to, repeats, scale, shift, bounds);
    if (kLanes<Vector> % width == 0) return map_narrow<Vector>(from, to, repeats, width, scale, shift, bounds);
    map_channels<Vector>(from, to, repeats, width, scale, shift, bounds);
  }
};

/// Returns whether the axes with these extents and strides are nested without gaps, the last innermost at `stride`.
bool packed_from(const Dims& dims, const Dims& strides, size_t begin, int64_t stride) {
  for (size_t axis = dims.size(); axis-- > begin;) {
    if (dims[axis] != 1 && strides[axis] != stride) return false;
    stride *= dims[axis];
  }
  return true;
}

}  // namespace

std::optional<ChannelLayout> channel_layout(const Desc& desc) {
  const Dims dims = desc.dims();
  if (dims.size() < 2 || desc.data.format_kind != dnnl_blocked || desc.data_type() != kF32) return std::nullopt;
  const int64_t inner = element_count(std::span(dims).subspan(2));
  if (lies_plain(desc) && inner == 1) return ChannelLayout{1, 1, dims[0], dims[1]};
  if (lies_plain(desc)) return ChannelLayout{dims[0] * dims[1], dims[1], inner, 1};
  const int64_t block = channel_block(desc);
  const Dims strides = strides_of(desc);
  if (block > 1) {
    const int64_t blocks = (dims[1] + block - 1) / block;
    const bool packed = packed_from(dims, strides, 2, block) && (blocks == 1 || strides[1] == inner * block) &&
                        (dims[0] == 1 || strides[0] == blocks * inner * block);
    if (!packed) return std::nullopt;
    return ChannelLayout{dims[0] * blocks, blocks, inner, block};
  }
  const bool last = is_strided(desc) && strides[1] == 1 && packed_from(dims, strides, 2, dims[1]) &&
                    (dims[0] == 1 || strides[0] == inner * dims[1]);
  if (!last) return std::nullopt;
  return ChannelLayout{dims[0], 1, inner, dims[1]};
}

void apply(const ChannelMap& map, const float* from, float* to) {
  const ChannelLayout& at = map.layout;
  const Bounds bounds{map.low, map.high};
  // A part may begin and end within a group.
  parallel_for(at.groups * at.repeats, std::max<int64_t>(kChannelGrain / at.width, 1), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t group = begin / at.repeats;
      const int64_t repeats = std::min(end, (group + 1) * at.repeats) - begin;
      const int64_t channel = group % at.groups_per_image * at.width;
      dispatch<MapGroup>(from + begin * at.width, to + begin * at.width, repeats, at.width, map.scale + channel,
                         map.shift + channel, bounds);
      begin += repeats;
    }
  });
}

}  // namespace isomer::onednn
