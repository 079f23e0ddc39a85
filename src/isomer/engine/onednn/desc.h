#pragma once
// Memory descriptions: the layout and the type of the elements of a floating-point value.

#include <dnnl.hpp>
#include <optional>
#include <span>
#include <vector>

#include "isomer/engine/onednn/forms.h"
#include "isomer/ir/type.h"
#include "isomer/plan/layout.h"

namespace isomer::onednn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

using ElementType = dnnl::memory::data_type;
inline constexpr ElementType kF32 = ElementType::f32;
/// Returns the types to try for a kernel that computes in Float or BFloat16 if it can, best first.
std::vector<ElementType> element_types(DType dtype);

/// Row-major elements of these extents. A scalar has one axis of extent 1, since oneDNN does not support rank 0.
Desc plain_desc(const Dims& dims, ElementType type = kF32);
/// Elements of these extents with given strides, in elements; described as row-major if that is their order.
Desc strided_desc(const Dims& dims, const Dims& strides, ElementType type = kF32);
/// Elements of these extents in the layout that the primitive chooses.
Desc any_desc(const Dims& dims, ElementType type = kF32);
/// Channels (axis 1) in blocks of `block` (4, 8 or 16), each innermost.
Desc channel_blocked_desc(const Dims& dims, int block, ElementType type = kF32);
/// Elements of these extents in a layout; blocks have `block` channels. Nothing if they do not fill blocks, or have a
/// rank without blocked layouts.
std::optional<Desc> layout_of(const Dims& dims, Layout layout, int block, ElementType type = kF32);
/// Elements of these extents in a form that is a layout: any but kStridedForm. Blocks have 4, 8 or 16 channels.
Desc form_desc(const Dims& dims, Form form, ElementType type = kF32);
/// The same layout with elements of another type.
Desc retyped(const Desc& desc, ElementType type);

/// Bytes of one element.
size_t element_size(const Desc& desc);

/// Extents of a concrete type, {1} for a scalar.
Dims dims_of(const TensorType& type);
Dims row_major_strides(const Dims& dims);
int64_t element_count(std::span<const int64_t> dims);

/// Returns whether the elements are in row-major order without gaps, however that is described: strides of axes of
/// extent 1 do not matter, nor do blocks that are exactly filled and followed only by axes of extent 1.
bool lies_plain(const Desc& desc);
/// Returns whether two descriptions mean the same bytes at the same places.
bool same_layout(const Desc& a, const Desc& b);
/// Returns whether there are no gaps: the bytes of the description are its elements, and the zeros that pad blocks.
bool is_packed(const Desc& desc);
/// Returns whether there are no inner blocks, so that strides describe the layout completely.
bool is_strided(const Desc& desc);
/// Returns whether blocks are padded with zeros.
bool has_padding(const Desc& desc);
/// Returns the channel block of a layout; 1 if channels are not blocked.
int64_t channel_block(const Desc& desc);
/// Returns the form of a value in this layout; kStridedForm for all layouts that no other form describes.
Form form_of(const Desc& desc);
Dims strides_of(const Desc& desc);
/// Permutes axes: axis i of the result is axis perm[i] of the description.
Desc permuted(const Desc& desc, const std::vector<int64_t>& perm);

/// Returns the channel block that this processor's kernels prefer.
int native_block();

/// Returns "plain", "channels in 16s", or strides; preceded by the type if that is not f32.
std::string layout_str(const Desc& desc);

}  // namespace isomer::onednn
