// Reductions over adjacent axes.

#include <algorithm>

#include "isomer/engine/onednn/channelwise.h"
#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/own_kernel.h"
#include "isomer/engine/onednn/reduction.h"
#include "isomer/ops/op_map.h"

namespace isomer::onednn {
namespace {

using Kind = Reduction::Kind;

std::optional<Reduction> reduction_of(const OpDef& op) {
  static const OpMap<Reduction> kReductions = {
      {"ReduceSum", {.kind = Kind::Sum}},
      {"ReduceMean", {.kind = Kind::Sum}},
      {"ReduceSumSquare", {.kind = Kind::SumOfSquares}},
      {"ReduceL1", {.kind = Kind::SumOfMagnitudes}},
      {"ReduceL2", {.kind = Kind::SumOfSquares, .root = true}},
      {"ReduceMax", {.kind = Kind::Largest}},
      {"ReduceMin", {.kind = Kind::Smallest}},
  };
  const Reduction* const known = kReductions.find(op);
  return known == nullptr ? std::nullopt : std::optional(*known);
}

/// Computes the extents before, within and after the reduced axes of row-major elements; returns false if the reduced
/// axes are not adjacent.
bool split_extents(const Dims& dims, const Ints& axes, Reduction& reduction) {
  bool behind = false;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1) continue;
    const bool reduced = std::ranges::find(axes, static_cast<int64_t>(axis)) != axes.end();
    if (reduced && behind) return false;
    behind = behind || (!reduced && reduction.count > 1);
    (reduced ? reduction.count : behind ? reduction.inner : reduction.outer) *= dims[axis];
  }
  return true;
}

}  // namespace

Result<bool> lower_reduce(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const ValueId x = graph.operands(node)[0];
  auto reduction = reduction_of(*node.op);
  if (!reduction || !is_dense(graph, x) || !is_dense(graph, node.result())) return false;
  const Dims dims = dims_of(graph.type(x));
  const Ints& axes = node.attrs.ints("axes");
  const Desc planned = form_desc(dims, builder.planned().in);
  if (builder.planned().in != kPlainForm) {
    // All pixels of images whose channels are not row-major. The channels of the result are, whatever their blocks.
    const ChannelLayout layout = *channel_layout(planned);
    reduction->outer = layout.groups;
    reduction->count = layout.repeats;
    reduction->inner = layout.width;
  } else if (!split_extents(dims, axes, *reduction)) {
    return false;
  }
  const Location from = builder.as(x, planned);
  if (node.op->name == "ReduceMean") reduction->factor = 1 / static_cast<float>(reduction->count);
  const Location to = builder.result(node.result(), plain_desc(dims_of(graph.type(node.result()))));
  emit_own(builder, {.name = node.op->name,
                     .from = {from},
                     .to = to,
                     .result = node.result(),
                     .run = [what = *reduction, from, to](Workspace& workspace) -> Status {
                       reduce(what, elements_at(workspace, from), mutable_elements_at(workspace, to));
                       return {};
                     }});
  return true;
}

}  // namespace isomer::onednn
