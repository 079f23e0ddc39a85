// Interpolation, where oneDNN and ONNX agree.

#include <algorithm>

#include "isomer/engine/onednn/lower.h"

namespace isomer::onednn {
namespace {

using dnnl::algorithm;

/// Returns the factor by which each axis grows; nothing if given scales contradict the extents.
std::optional<std::vector<float>> factors(const Node& node, const Dims& from, const Dims& to) {
  std::vector<float> factors;
  for (size_t axis = 2; axis < from.size(); ++axis)
    factors.push_back(static_cast<float>(to[axis]) / static_cast<float>(from[axis]));
  if (!node.attrs.has("scales")) return factors;
  const Floats& scales = node.attrs.floats("scales");
  for (size_t i = 0; i < scales.size(); ++i) {
    const auto axis = node.attrs.has("axes") ? node.attrs.ints("axes")[i] : static_cast<int64_t>(i);
    const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(from.size()) : axis);
    if (scales[i] * static_cast<float>(from[at]) != static_cast<float>(to[at])) return std::nullopt;
  }
  return factors;
}

/// OneDNN takes the centers of elements as their positions; of two equally near elements it may choose either.
std::optional<algorithm> algorithm_of(const Node& node, const Dims& from, const Dims& to,
                                      std::span<const float> factors) {
  const std::string& mode = node.attrs.text("mode");
  const std::string& places = node.attrs.text("coordinate_transformation_mode");
  if (node.attrs.text("keep_aspect_ratio_policy") != "stretch") return std::nullopt;
  if (node.attrs.integer("antialias") != 0 || node.attrs.integer("exclude_outside") != 0) return std::nullopt;
  bool single = false;
  for (size_t axis = 2; axis < to.size(); ++axis) single = single || (to[axis] == 1 && from[axis] != 1);
  const bool centers = places == "half_pixel" || (places == "pytorch_half_pixel" && !single);
  if (mode == "linear") return centers ? std::optional(algorithm::resampling_linear) : std::nullopt;
  if (mode != "nearest") return std::nullopt;
  // With integer factors no position is halfway between two elements, and rounding down from the edges is the same.
  const std::string& rounding = node.attrs.text("nearest_mode");
  const bool whole = std::ranges::all_of(factors, [](float f) { return f == static_cast<float>(static_cast<int>(f)); });
  const bool nearest = centers && rounding.starts_with("round");
  if (!whole || (!nearest && !(places == "asymmetric" && rounding == "floor"))) return std::nullopt;
  return algorithm::resampling_nearest;
}

}  // namespace

Result<bool> lower_resize(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const ValueId x = graph.operands(node)[0];
  if (!is_dense(graph, x) || !is_dense(graph, node.result())) return false;
  const Dims from = dims_of(graph.type(x));
  const Dims to = dims_of(graph.type(node.result()));
  if (from.size() < 3 || from.size() > 5 || from[0] != to[0] || from[1] != to[1]) return false;
  const auto scale = factors(node, from, to);
  const auto how = scale ? algorithm_of(node, from, to, *scale) : std::nullopt;
  if (!how) return false;
  const auto describe = [&](const Desc& layout) {
    return attempt([&] {
      const dnnl::resampling_forward::desc what(dnnl::prop_kind::forward_inference, *how, *scale, layout,
                                                any_desc(to, layout.data_type()));
      return dnnl::resampling_forward::primitive_desc(what, scratch_by_user(), builder.engine(), true);
    });
  };
  auto desc = describe(builder.at(x).desc);
  if (!desc || is_reference(desc->impl_info_str())) desc = describe(plain_desc(from));
  if (!desc || is_reference(desc->impl_info_str())) return false;
  const Location src = builder.as(x, desc->src_desc());
  const Location dst = builder.result(node.result(), desc->dst_desc());
  builder.emit(group_name(graph, group), *desc, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}}, {node.result()});
  builder.place(node.result(), dst);
  return true;
}

}  // namespace isomer::onednn
