// Copies of rows: slices of a table by indices, and tensors with a border around them.

#include <algorithm>
#include <cstring>

#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/own_kernel.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/ops/axis.h"
#include "isomer/ops/indices.h"

namespace isomer::onednn {
namespace {

constexpr int64_t kGatherGrain = 16384;  // minimum number of elements per thread

/// Copies the slices of a table [outer, extent, inner] at `count` indices.
template <class Index>
Status gather_rows(const AxisSplit& table, const float* from, const Index* indices, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) {
    ISOMER_TRY([[maybe_unused]] const int64_t at, checked_index(indices[i], table.extent));
  }
  parallel_for(table.outer * count, std::max<int64_t>(kGatherGrain / std::max<int64_t>(table.inner, 1), 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   const int64_t index = static_cast<int64_t>(indices[row % count]);
                   const int64_t at = index < 0 ? index + table.extent : index;
                   std::memcpy(to + row * table.inner, from + (row / count * table.extent + at) * table.inner,
                               static_cast<size_t>(table.inner) * sizeof(float));
                 }
               });
  return {};
}

}  // namespace

Result<bool> lower_gather(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto operands = graph.operands(node);
  const TensorType& type = graph.type(operands[1]);
  if (!is_dense(graph, operands[0]) || !is_dense(graph, node.result()) || !type.shape || !concrete(*type.shape))
    return false;
  const bool wide = type.dtype == DType::Int64;
  if (!wide && type.dtype != DType::Int32) return false;
  const Dims dims = dims_of(graph.type(operands[0]));
  const AxisSplit table = axis_split(dims, node.attrs.integer("axis"));
  const int64_t count = element_count(dims_of(type));
  const Location from = builder.plain(operands[0]);
  const Location indices = builder.at(operands[1]);
  const Location to = builder.result(node.result(), plain_desc(dims_of(graph.type(node.result()))));
  emit_own(builder, {.name = "Gather",
                     .from = {from, indices},
                     .to = to,
                     .result = node.result(),
                     .run = [=](Workspace& workspace) -> Status {
                       const std::byte* const which = workspace.address(indices);
                       const float* const rows = elements_at(workspace, from);
                       float* const out = mutable_elements_at(workspace, to);
                       if (wide) return gather_rows(table, rows, reinterpret_cast<const int64_t*>(which), count, out);
                       return gather_rows(table, rows, reinterpret_cast<const int32_t*>(which), count, out);
                     }});
  return true;
}

namespace {

/// A row-major tensor with a border along any axes; the last axis is contiguous.
struct Border {
  Dims from = {}, to = {}, begin = {};  // extents, and the position of the first element (negative: it is cut off)
  float fill = 0;
};

/// Computes row `row` of a border's result; rows are counted over all axes but the last.
void pad_row(const Border& border, int64_t row, const float* from, float* to) {
  const size_t last = border.to.size() - 1;
  const int64_t width = border.to[last];
  float* const out = to + row * width;
  int64_t source = 0;
  int64_t stride = border.from[last];
  bool inside = true;
  for (size_t axis = last; axis-- > 0;) {
    const int64_t at = row % border.to[axis] - border.begin[axis];
    row /= border.to[axis];
    inside = inside && at >= 0 && at < border.from[axis];
    source += at * stride;
    stride *= border.from[axis];
  }
  const int64_t first = inside ? std::clamp<int64_t>(border.begin[last], 0, width) : width;
  const int64_t end = inside ? std::clamp<int64_t>(border.begin[last] + border.from[last], first, width) : width;
  std::fill(out, out + first, border.fill);
  if (end > first)
    std::memcpy(out + first, from + source + first - border.begin[last],
                static_cast<size_t>(end - first) * sizeof(float));
  std::fill(out + end, out + width, border.fill);
}

void pad(const Border& border, const float* from, float* to) {
  const int64_t width = border.to.back();
  parallel_for(element_count(border.to) / width, std::max<int64_t>(kGatherGrain / width, 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) pad_row(border, row, from, to);
               });
}

/// Makes `channels` adjacent ones part of the last axis.
void widen(Border& border, int64_t channels) {
  for (Dims* extents : {&border.from, &border.to, &border.begin}) extents->back() *= channels;
}

/// Changes a border to that of the same elements in a form, which must have their channels unchanged and adjacent.
void rearrange(Border& border, Form form) {
  const int64_t channels = border.from[1];
  if (form != kLastForm) {
    border.from[1] = border.to[1] = (channels + form - 1) / form;
    return widen(border, form);
  }
  for (Dims* extents : {&border.from, &border.to, &border.begin}) extents->erase(extents->begin() + 1);
  widen(border, channels);
}

}  // namespace

Result<bool> lower_pad(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const ValueId x = graph.operands(node)[0];
  if (node.attrs.text("mode") != "constant" || !is_dense(graph, x) || !is_dense(graph, node.result())) return false;
  if (graph.type(x).rank() == 0) return false;
  Border border{dims_of(graph.type(x)), dims_of(graph.type(node.result()))};
  const Ints& pads = node.attrs.ints("pads");
  border.begin.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(border.from.size()));
  if (node.attrs.has("constant_value")) border.fill = node.attrs.tensor("constant_value").data<float>()[0];
  const Location at = builder.at(x);
  const bool suits = at.desc.data_type() == kF32 && form_of(at.desc) == builder.planned().in;
  const Form form = suits ? builder.planned().in : kPlainForm;
  const Location from = form == kPlainForm ? builder.plain(x) : at;
  const Location to = builder.result(node.result(), form_desc(border.to, form));
  if (form != kPlainForm) rearrange(border, form);
  emit_own(
      builder,
      {.name = "Pad", .from = {from}, .to = to, .result = node.result(), .run = [=](Workspace& workspace) -> Status {
         pad(border, elements_at(workspace, from), mutable_elements_at(workspace, to));
         return {};
       }});
  return true;
}

}  // namespace isomer::onednn
