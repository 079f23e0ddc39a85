// Writes at places that indices give: rows that are scattered into a tensor, and positions that are marked.

#include <algorithm>
#include <cstring>

#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/own_kernel.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/ops/axis.h"
#include "isomer/ops/indices.h"

namespace isomer::onednn {
namespace {

constexpr int64_t kScatterGrain = 16384;  // minimum number of elements per thread

/// Adds a row to another.
struct AddRow {
  template <class Vector>
  ISOMER_INLINE static void run(const float* from, int64_t count, float* to) {
    int64_t i = 0;
    for (; i + kLanes<Vector> <= count; i += kLanes<Vector>) {
      Vector sum, more;
      load(sum, to + i);
      load(more, from + i);
      store(to + i, Vector(sum + more));
    }
    for (; i < count; ++i) to[i] += from[i];
  }
};

/// Rows of `run` elements that are written, or added, at coordinates along the leading axes.
struct Scattering {
  Dims extents = {};  ///< of the axes of the coordinates
  int64_t rows = 0;
  int64_t run = 1;
  int64_t elements = 0;  ///< of the result
  bool adds = false;
};

/// Fails if a coordinate is out of range.
template <class Index>
Status check_coordinates(const Scattering& what, const Index* coordinates) {
  for (int64_t row = 0; row < what.rows; ++row)
    for (const int64_t extent : what.extents) ISOMER_CHECK(checked_index(*coordinates++, extent));
  return {};
}

/// The offset of a row's coordinates, which are in range, in the result.
template <class Index>
int64_t place_of(const Scattering& what, const Index* coordinates) {
  int64_t at = 0;
  for (const int64_t extent : what.extents) {
    const auto index = static_cast<int64_t>(*coordinates++);
    at = at * extent + (index < 0 ? index + extent : index);
  }
  return at * what.run;
}

/// Copies all elements, or clears them if there is nothing to copy.
void copy_all(const float* from, int64_t count, float* to) {
  if (from == to) return;
  parallel_for(count, kScatterGrain, [&](int64_t begin, int64_t end) {
    const auto bytes = static_cast<size_t>(end - begin) * sizeof(float);
    if (from == nullptr)
      std::memset(to + begin, 0, bytes);
    else
      std::memcpy(to + begin, from + begin, bytes);
  });
}

/// `from`: what the rows are written over; nullptr: zeros.
template <class Index>
Status scatter(const Scattering& what, const float* from, const Index* indices, const float* updates, float* to) {
  const auto length = static_cast<int64_t>(what.extents.size());
  ISOMER_CHECK(check_coordinates(what, indices));
  copy_all(from, what.elements, to);
  // Rows may be written twice, in their order; so threads share the elements of each row.
  parallel_for(what.run, std::max<int64_t>(kScatterGrain / std::max<int64_t>(what.rows, 1), 16),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = 0; row < what.rows; ++row) {
                   const int64_t at = place_of(what, indices + row * length) + begin;
                   const float* const update = updates + row * what.run + begin;
                   if (what.adds)
                     dispatch<AddRow>(update, end - begin, to + at);
                   else
                     std::memcpy(to + at, update, static_cast<size_t>(end - begin) * sizeof(float));
                 }
               });
  return {};
}

/// The element type of indices, if kernels of ours read it.
std::optional<DType> index_type(const Graph& graph, ValueId value) {
  const TensorType& type = graph.type(value);
  const bool known = type.dtype == DType::Int64 || type.dtype == DType::Int32;
  return known && type.shape && concrete(*type.shape) ? std::optional(type.dtype) : std::nullopt;
}

}  // namespace

Result<bool> lower_scatter(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto operands = graph.operands(node);
  const std::string& reduction = node.attrs.text("reduction");
  const auto index = index_type(graph, operands[1]);
  if ((reduction != "none" && reduction != "add") || !index || !is_dense(graph, node.result()) ||
      !is_dense(graph, operands[2]))
    return false;
  const Dims dims = dims_of(graph.type(node.result()));
  const Dims coordinates = dims_of(graph.type(operands[1]));
  const auto length = static_cast<size_t>(coordinates.back());
  const std::span<const int64_t> all(dims);
  Scattering what{.extents = {dims.begin(), dims.begin() + static_cast<ptrdiff_t>(length)},
                  .rows = element_count(std::span(coordinates).first(coordinates.size() - 1)),
                  .run = element_count(all.subspan(length)),
                  .elements = element_count(all),
                  .adds = reduction == "add"};
  std::optional<Location> from;
  if (!are_zeros(graph, operands[0])) from = builder.plain(operands[0]);
  const Location which = builder.at(operands[1]);
  const Location updates = builder.plain(operands[2]);
  std::vector<Location> read = {which, updates};
  if (from) read.push_back(*from);
  // Rows may be read after others were written.
  const bool is_apart = from && from->buffer != updates.buffer;
  const Location to = builder.result(node.result(), plain_desc(dims), is_apart ? from : std::nullopt);
  emit_own(builder, {.name = node.op->name,
                     .from = read,
                     .to = to,
                     .result = node.result(),
                     .run = [=, wide = *index == DType::Int64](Workspace& workspace) -> Status {
                       const float* const old = from ? elements_at(workspace, *from) : nullptr;
                       const float* const rows = elements_at(workspace, updates);
                       const std::byte* const indices = workspace.address(which);
                       float* const out = mutable_elements_at(workspace, to);
                       if (wide) return scatter(what, old, reinterpret_cast<const int64_t*>(indices), rows, out);
                       return scatter(what, old, reinterpret_cast<const int32_t*>(indices), rows, out);
                     }});
  return true;
}

namespace {

/// Marks one of `split.extent` positions for each index; an index out of range marks none. `values`: elsewhere, and
/// where it is marked.
template <class Index>
void mark(const AxisSplit& split, const Index* indices, const float* values, float* to) {
  const int64_t count = split.outer * split.inner;
  parallel_for(count * split.extent, kScatterGrain,
               [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, values[0]); });
  for (int64_t n = 0; n < count; ++n) {
    const auto index = static_cast<int64_t>(indices[n]);
    if (index < -split.extent || index >= split.extent) continue;
    const int64_t at = index < 0 ? index + split.extent : index;
    to[split.start(n / split.inner, n % split.inner) + at * split.inner] = values[1];
  }
}

}  // namespace

Result<bool> lower_one_hot(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto operands = graph.operands(node);
  const auto index = index_type(graph, operands[0]);
  if (!index || !is_dense(graph, operands[1]) || !is_dense(graph, node.result())) return false;
  const Dims dims = dims_of(graph.type(node.result()));
  const AxisSplit split = axis_split(dims, node.attrs.integer("axis"));
  const Location which = builder.at(operands[0]);
  const Location values = builder.plain(operands[1]);
  const Location to = builder.result(node.result(), plain_desc(dims));
  emit_own(builder, {.name = node.op->name,
                     .from = {which, values},
                     .to = to,
                     .result = node.result(),
                     .run = [=, wide = *index == DType::Int64](Workspace& workspace) -> Status {
                       const std::byte* const indices = workspace.address(which);
                       const float* const both = elements_at(workspace, values);
                       float* const out = mutable_elements_at(workspace, to);
                       if (wide)
                         mark(split, reinterpret_cast<const int64_t*>(indices), both, out);
                       else
                         mark(split, reinterpret_cast<const int32_t*>(indices), both, out);
                       return {};
                     }});
  return true;
}

}  // namespace isomer::onednn
