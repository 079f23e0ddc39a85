#pragma once
// Descriptions of memory: how the elements of a real value lie, and of which type they are.

#include <dnnl.hpp>
#include <optional>
#include <span>
#include <vector>

#include "isomer/ir/type.h"

namespace isomer::onednn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

using ElementType = dnnl::memory::data_type;
inline constexpr ElementType kF32 = ElementType::f32;

/// Row-major elements of these extents; a scalar has one axis of extent 1, since oneDNN knows no rank 0.
Desc plain_desc(const Dims& dims, ElementType type = kF32);
/// Elements of these extents with given strides, in elements; row-major where they lie so.
Desc strided_desc(const Dims& dims, const Dims& strides, ElementType type = kF32);
/// Elements of these extents in whatever layout the primitive likes best.
Desc any_desc(const Dims& dims, ElementType type = kF32);
/// Channels (axis 1) in blocks of `block`, each innermost.
Desc channel_blocked_desc(const Dims& dims, int block, ElementType type = kF32);
/// The same places, in elements of another type.
Desc retyped(const Desc& desc, ElementType type);

/// Bytes of one element.
size_t element_size(const Desc& desc);

/// Extents of a concrete type, {1} for a scalar.
Dims dims_of(const TensorType& type);
Dims row_major_strides(const Dims& dims);
int64_t element_count(std::span<const int64_t> dims);

/// Whether the elements lie in row-major order without gaps, however that is described: strides of axes of extent 1
/// do not matter, nor do blocks that fill up exactly where nothing but ones follows.
bool lies_plain(const Desc& desc);
/// Whether two descriptions mean the same bytes at the same places.
bool same_layout(const Desc& a, const Desc& b);
/// Whether there are no gaps: the bytes of the description are its elements, and the zeros that fill up blocks.
bool is_packed(const Desc& desc);
/// No inner blocks: strides say everything.
bool is_strided(const Desc& desc);
/// Whether zeros fill up blocks.
bool has_padding(const Desc& desc);
/// The channel block of a layout, 1 where channels are not blocked.
int64_t channel_block(const Desc& desc);
Dims strides_of(const Desc& desc);
/// Axes in another order: axis i of the result is axis perm[i] of a strided description.
Desc permuted(const Desc& desc, const std::vector<int64_t>& perm);

/// The channel block that this processor's kernels like.
int native_block();

/// "plain", "channels in 16s", or strides; with the type in front where that is not f32.
std::string layout_str(const Desc& desc);

}  // namespace isomer::onednn
