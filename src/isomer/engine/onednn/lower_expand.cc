// Broadcasts that copy the elements.

#include <algorithm>
#include <cstring>

#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/own_kernel.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

constexpr int64_t kExpandGrain = 16384;  // minimum number of elements per thread

/// Extents before and after; adjacent axes are joined if both are copied or both repeated. The last axis is contiguous.
struct Broadcast {
  Dims from = {}, to = {};
};

Broadcast joined(Dims from, const Dims& to) {
  from.insert(from.begin(), to.size() - from.size(), 1);
  Broadcast out;
  for (size_t axis = 0; axis < to.size(); ++axis) {
    if (to[axis] == 1) continue;
    const bool repeats = from[axis] != to[axis];
    if (!out.to.empty() && repeats == (out.from.back() != out.to.back())) {
      out.from.back() *= from[axis];
      out.to.back() *= to[axis];
    } else {
      out.from.push_back(from[axis]);
      out.to.push_back(to[axis]);
    }
  }
  if (out.to.empty()) out = {{1}, {1}};
  return out;
}

void write_row(const Broadcast& broadcast, int64_t row, const float* from, float* to) {
  const size_t last = broadcast.to.size() - 1;
  const int64_t width = broadcast.to[last];
  float* const out = to + row * width;
  int64_t source = 0;
  int64_t stride = broadcast.from[last];
  for (size_t axis = last; axis-- > 0;) {
    if (broadcast.from[axis] != 1) source += row % broadcast.to[axis] * stride;
    row /= broadcast.to[axis];
    stride *= broadcast.from[axis];
  }
  if (broadcast.from[last] == width) {
    std::memcpy(out, from + source, static_cast<size_t>(width) * sizeof(float));
  } else {
    std::fill(out, out + width, from[source]);
  }
}

}  // namespace

Result<bool> lower_expand(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const ValueId x = graph.operands(node)[0];
  if (!is_dense(graph, x) || !is_dense(graph, node.result())) return false;
  const Dims dims = dims_of(graph.type(node.result()));
  const Broadcast broadcast = joined(dims_of(graph.type(x)), dims);
  const Location from = builder.plain(x);
  const Location to = builder.result(node.result(), plain_desc(dims));
  emit_own(builder, {.name = node.op->name,
                     .from = {from},
                     .to = to,
                     .result = node.result(),
                     .run = [=](Workspace& workspace) -> Status {
                       const int64_t width = broadcast.to.back();
                       parallel_for(element_count(broadcast.to) / width, std::max<int64_t>(kExpandGrain / width, 1),
                                    [&](int64_t begin, int64_t end) {
                                      for (int64_t row = begin; row < end; ++row)
                                        write_row(broadcast, row, elements_at(workspace, from),
                                                  mutable_elements_at(workspace, to));
                                    });
                       return {};
                     }});
  return true;
}

}  // namespace isomer::onednn
