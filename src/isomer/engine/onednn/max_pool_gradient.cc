#include "isomer/engine/onednn/max_pool_gradient.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {
namespace {

bool is_flat(const Graph& graph, ValueId value) { return graph.type(value).shape && graph.type(value).rank() == 1; }

}  // namespace

std::optional<MaxPoolGradient> max_pool_gradient(const Graph& graph, NodeId last) {
  const Node& reshape = graph.node(last);
  if (!is_named(reshape, "Reshape")) return std::nullopt;
  const ValueId sums = graph.operands(reshape)[0];
  const Node* const scatter = inner_maker(graph, sums, "ScatterElements");
  if (scatter == nullptr || scatter->attrs.text("reduction") != "add" || !is_flat(graph, sums)) return std::nullopt;
  const auto operands = graph.operands(*scatter);
  const Node* const positions = inner_maker(graph, operands[1], "Reshape");
  if (positions == nullptr || !are_zeros(graph, operands[0])) return std::nullopt;
  const ValueId found = graph.operands(*positions)[0];
  const Node* const pool = inner_maker(graph, found, "MaxPool");
  if (pool == nullptr || pool->num_results != 2 || found != pool->result(1) || graph.is_output(pool->result(0)) ||
      !graph.consumers(pool->result(0)).empty() || pool->attrs.integer("storage_order") != 0)
    return std::nullopt;
  const ValueId image = graph.operands(*pool)[0];
  if (!may_be_plannable(graph, image) || graph.type(image).rank() > 5 ||
      graph.type(reshape.result()) != graph.type(image) || !is_flat(graph, operands[2]))
    return std::nullopt;
  MaxPoolGradient out{graph.producer(found), image, operands[2]};
  out.inner = {out.pool, graph.producer(operands[1]), graph.producer(sums)};
  const Node* const flat = inner_maker(graph, operands[2], "Reshape");
  if (flat != nullptr && graph.type(graph.operands(*flat)[0]) == graph.type(pool->result(0))) {
    out.gradient = graph.operands(*flat)[0];
    out.inner.push_back(graph.producer(operands[2]));
  }
  std::ranges::sort(out.inner);
  return out;
}

std::vector<Group> with_max_pool_gradients(const Graph& graph, std::vector<Group> groups) {
  std::vector<bool> joined(graph.nodes().size(), false);
  for (Group& group : groups) {
    if (!group.posts.empty() || !group.inner.empty()) continue;
    const auto gradient = max_pool_gradient(graph, group.root);
    if (!gradient) continue;
    group.inner = gradient->inner;
    for (const NodeId node : group.inner) joined[node] = true;
  }
  std::erase_if(groups, [&](const Group& group) { return joined[group.root]; });
  return groups;
}

bool is_max_pool_gradient(const Graph& graph, const Group& group) {
  return !group.inner.empty() && is_named(graph.node(group.root), "Reshape");
}

namespace {

/// Elements of one or more adjacent channels of an image, and of the gradient of its pool.
struct Lanes {
  const float* from;
  const float* gradient;
  float* to;
  int64_t width;  ///< elements from one pixel to the next
};

/// Sets the pixels of a window that are within the image.
void find_pixels(const Window3& w, const Window3::Triple& o, std::vector<int64_t>& pixels) {
  pixels.clear();
  const auto z = w.positions_at(0, o[0]), y = w.positions_at(1, o[1]), x = w.positions_at(2, o[2]);
  for (int64_t i = z.first; i < z.second; ++i)
    for (int64_t j = y.first; j < y.second; ++j) {
      const int64_t row = (w.at(0, o[0], i) * w.input[1] + w.at(1, o[1], j)) * w.input[2];
      for (int64_t k = x.first; k < x.second; ++k) pixels.push_back(row + w.at(2, o[2], k));
    }
}

/// Gives the gradient of one window to the first maximum of each channel. Nothing is larger than a NaN, and the last
/// element from a NaN on counts, as in the reference kernel.
template <class Vector>
ISOMER_INLINE void give(const int64_t* pixels, int64_t count, const Lanes& lanes) {
  Vector best = Vector{} - std::numeric_limits<float>::infinity();
  Vector chosen = Vector{};
  for (int64_t i = 0; i < count; ++i) {
    Vector x;
    load(x, lanes.from + pixels[i] * lanes.width);
    const Vector number = Vector{} + static_cast<float>(i);
    Vector larger = x > best ? x : best;
    hide_origin(larger);
    larger = x != x ? x : larger;
    chosen = larger != best ? number : chosen;  // a NaN does not equal itself
    best = larger;
  }
  Vector gradient;
  load(gradient, lanes.gradient);
  for (int64_t i = 0; i < count; ++i) {
    float* const at = lanes.to + pixels[i] * lanes.width;
    const Vector number = Vector{} + static_cast<float>(i);
    Vector sum;
    load(sum, at);
    const Vector more = chosen == number ? gradient : Vector{};
    sum += more;
    store(at, sum);
  }
}

/// Likewise for one channel.
inline void give_one(const int64_t* pixels, int64_t count, const Lanes& lanes) {
  if (count == 0) return;
  float best = -std::numeric_limits<float>::infinity();
  int64_t chosen = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float x = lanes.from[pixels[i] * lanes.width];
    if (x <= best) continue;
    chosen = i;
    if (best == best) best = x;
  }
  lanes.to[pixels[chosen] * lanes.width] += *lanes.gradient;
}

struct GiveGradients {
  /// For one window and all channels of a pixel.
  template <class Vector>
  static ISOMER_INLINE void run(const int64_t* pixels, int64_t count, const Lanes& given) {
    Lanes lanes = given;
    int64_t c = 0;
    for (; c + kLanes<Vector> <= given.width; c += kLanes<Vector>) {
      give<Vector>(pixels, count, lanes);
      lanes.from += kLanes<Vector>;
      lanes.gradient += kLanes<Vector>;
      lanes.to += kLanes<Vector>;
    }
    for (; c < given.width; ++c) {
      give_one(pixels, count, lanes);
      ++lanes.from;
      ++lanes.gradient;
      ++lanes.to;
    }
  }
};

/// For all windows of the channels that lie together in the pixels of one image.
void give_all(const Window3& w, Lanes lanes) {
  std::memset(lanes.to, 0, static_cast<size_t>(w.input_size() * lanes.width) * sizeof(float));
  std::vector<int64_t> pixels;
  pixels.reserve(static_cast<size_t>(w.kernel_size()));
  const auto is_inner = [&](int64_t x) { return w.at(2, x, 0) >= 0 && w.at(2, x, w.kernel[2] - 1) < w.input[2]; };
  for (int64_t z = 0; z < w.output[0]; ++z)
    for (int64_t y = 0; y < w.output[1]; ++y) {
      int64_t found = -1;  // the first of the windows whose pixels are the same, only shifted
      for (int64_t x = 0; x < w.output[2]; ++x, lanes.gradient += lanes.width) {
        const bool inner = is_inner(x);
        if (!inner || found < 0) {
          find_pixels(w, {z, y, x}, pixels);
          found = inner ? x : -1;
        }
        const int64_t shift = inner ? (x - found) * w.stride[2] * lanes.width : 0;
        const Lanes shifted{lanes.from + shift, lanes.gradient, lanes.to + shift, lanes.width};
        if (lanes.width == 1)
          give_one(pixels.data(), static_cast<int64_t>(pixels.size()), shifted);
        else
          dispatch<GiveGradients>(pixels.data(), static_cast<int64_t>(pixels.size()), shifted);
      }
    }
}

}  // namespace

void run_max_pool_gradient(const Window3& window, const ChannelLayout& image, const float* from, const float* gradient,
                           float* to) {
  parallel_for(image.groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      const int64_t elements = window.input_size() * image.width;
      give_all(window, {from + group * elements, gradient + group * window.output_size() * image.width,
                        to + group * elements, image.width});
    }
  });
}

}  // namespace isomer::onednn
