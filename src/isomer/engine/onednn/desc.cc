#include "isomer/engine/onednn/desc.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace isomer::onednn {
namespace {

bool is_blocked_kind(const Desc& desc) { return desc.data.format_kind == dnnl_blocked; }

/// Strides of inner blocks and outer axes from the outermost to the innermost, without those of extent 1.
struct Run {
  int64_t extent;
  int64_t stride;
};

/// The extents of an axis split into its outer part and inner blocks, in the order in which they make up its index.
bool contiguous(const std::vector<Run>& runs) {
  int64_t stride = 1;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (run->extent == 1) continue;
    if (run->stride != stride) return false;
    stride *= run->extent;
  }
  return true;
}

}  // namespace

Dims row_major_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<int64_t>(dims[i], 1);
  return strides;
}

std::vector<ElementType> element_types(DType dtype) {
  return dtype == DType::BFloat16 ? std::vector{ElementType::bf16, kF32} : std::vector{kF32};
}

Desc plain_desc(const Dims& dims, ElementType type) { return {dims, type, row_major_strides(dims)}; }
Desc strided_desc(const Dims& dims, const Dims& strides, ElementType type) {
  // OneDNN 2.6.3 does not recognize row-major elements, and computes nothing, if the strides of axes of extent 1 differ
  // from those of row-major elements.
  Desc desc = plain_desc(dims, type);
  // Set here, since oneDNN's constructor refuses every second element of 57 columns: it takes the rows to overlap.
  std::ranges::copy(strides, desc.data.format_desc.blocking.strides);
  return lies_plain(desc) ? plain_desc(dims, type) : desc;
}
Desc any_desc(const Dims& dims, ElementType type) { return {dims, type, dnnl::memory::format_tag::any}; }

std::optional<Desc> layout_of(const Dims& dims, Layout layout, int block, ElementType type) {
  if (layout == Layout::Plain) return plain_desc(dims, type);
  if (dims.size() < 3 || dims.size() > 5 || dims[1] % block != 0) return std::nullopt;
  return channel_blocked_desc(dims, block, type);
}

Desc form_desc(const Dims& dims, Form form, ElementType type) {
  if (form == kPlainForm) return plain_desc(dims, type);
  if (form != kLastForm) return channel_blocked_desc(dims, static_cast<int>(form), type);
  Dims strides = row_major_strides(dims);
  for (size_t axis = 2; axis < dims.size(); ++axis) strides[axis] *= dims[1];
  strides[1] = 1;
  return strided_desc(dims, strides, type);
}

Desc retyped(const Desc& desc, ElementType type) {
  Desc other = desc;
  other.data.data_type = dnnl::memory::convert_to_c(type);
  return other;
}

size_t element_size(const Desc& desc) { return dnnl::memory::data_type_size(desc.data_type()); }

Desc channel_blocked_desc(const Dims& dims, int block, ElementType type) {
  using Tag = dnnl::memory::format_tag;
  const auto of = [&](Tag four, Tag eight, Tag sixteen) {
    return Desc(dims, type, block == 16 ? sixteen : block == 8 ? eight : four);
  };
  switch (dims.size()) {
    case 3:
      return of(Tag::aBc4b, Tag::aBc8b, Tag::aBc16b);
    case 4:
      return of(Tag::aBcd4b, Tag::aBcd8b, Tag::aBcd16b);
    default:
      return of(Tag::aBcde4b, Tag::aBcde8b, Tag::aBcde16b);
  }
}

Dims dims_of(const TensorType& type) {
  const auto dims = concrete(*type.shape);
  return dims->empty() ? Dims{1} : Dims(dims->begin(), dims->end());
}

int64_t element_count(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

bool is_packed(const Desc& desc) {
  if (!is_blocked_kind(desc)) return false;
  const auto& padded = desc.data.padded_dims;
  return desc.get_size() == static_cast<size_t>(element_count({padded, padded + desc.data.ndims})) * element_size(desc);
}

bool is_strided(const Desc& desc) {
  return is_blocked_kind(desc) && desc.data.format_desc.blocking.inner_nblks == 0 && !has_padding(desc);
}

Dims strides_of(const Desc& desc) {
  const auto& strides = desc.data.format_desc.blocking.strides;
  return {strides, strides + desc.data.ndims};
}

bool has_padding(const Desc& desc) {
  for (int i = 0; i < desc.data.ndims; ++i)
    if (desc.data.padded_dims[i] != desc.data.dims[i]) return true;
  return false;
}

bool lies_plain(const Desc& desc) {
  if (!is_blocked_kind(desc) || has_padding(desc)) return false;
  const auto& blocking = desc.data.format_desc.blocking;
  std::vector<Run> runs;
  for (int axis = 0; axis < desc.data.ndims; ++axis) {
    int64_t outer = desc.data.dims[axis];
    std::vector<Run> inner;
    int64_t stride = 1;
    for (int b = blocking.inner_nblks; b-- > 0;) {
      if (blocking.inner_idxs[b] == axis) inner.insert(inner.begin(), {blocking.inner_blks[b], stride});
      stride *= blocking.inner_blks[b];
    }
    for (const Run& run : inner) outer /= run.extent;
    runs.push_back({outer, blocking.strides[axis]});
    runs.insert(runs.end(), inner.begin(), inner.end());
  }
  return contiguous(runs);
}

bool same_layout(const Desc& a, const Desc& b) {
  if (a == b) return true;
  if (a.dims() != b.dims() || a.data.data_type != b.data.data_type) return false;
  if (lies_plain(a) && lies_plain(b)) return true;
  if (!is_strided(a) || !is_strided(b)) return false;
  for (int i = 0; i < a.data.ndims; ++i) {
    if (a.data.dims[i] != 1 && a.data.format_desc.blocking.strides[i] != b.data.format_desc.blocking.strides[i])
      return false;
  }
  return true;
}

int64_t channel_block(const Desc& desc) {
  if (!is_blocked_kind(desc)) return 1;
  const auto& blocking = desc.data.format_desc.blocking;
  return blocking.inner_nblks == 1 && blocking.inner_idxs[0] == 1 ? blocking.inner_blks[0] : 1;
}

Form form_of(const Desc& desc) {
  if (channel_block(desc) > 1) return channel_block(desc);
  if (lies_plain(desc)) return kPlainForm;
  const bool last =
      is_strided(desc) && desc.data.ndims > 2 && same_layout(desc, form_desc(desc.dims(), kLastForm, desc.data_type()));
  return last ? kLastForm : kStridedForm;
}

Desc permuted(const Desc& desc, const std::vector<int64_t>& perm) {
  const Dims dims = desc.dims();
  if (!is_strided(desc)) {
    std::vector<int> places(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) places[static_cast<size_t>(perm[i])] = static_cast<int>(i);
    return desc.permute_axes(places);
  }
  const Dims strides = strides_of(desc);
  Dims new_dims;
  Dims new_strides;
  for (const int64_t axis : perm) {
    new_dims.push_back(dims[static_cast<size_t>(axis)]);
    new_strides.push_back(strides[static_cast<size_t>(axis)]);
  }
  return strided_desc(new_dims, new_strides, desc.data_type());
}

namespace {

std::string places_str(const Desc& desc) {
  if (lies_plain(desc)) return "plain";
  if (channel_block(desc) > 1) return fmt::format("channels in {}s", channel_block(desc));
  if (is_strided(desc)) return fmt::format("strides {}", fmt::join(strides_of(desc), ","));
  return "blocked";
}

}  // namespace

std::string layout_str(const Desc& desc) {
  return desc.data_type() == kF32 ? places_str(desc) : "bf16 " + places_str(desc);
}

int native_block() {
  const auto isa = dnnl::get_effective_cpu_isa();
  return (static_cast<unsigned>(isa) & static_cast<unsigned>(dnnl::cpu_isa::avx512_core)) ==
                 static_cast<unsigned>(dnnl::cpu_isa::avx512_core)
             ? 16
             : 8;
}

}  // namespace isomer::onednn
