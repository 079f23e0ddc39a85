#include "isomer/engine/onednn/max_pool_gradient.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/vectors.h"

namespace isomer::onednn {
namespace {

bool is_named(const Node& node, const char* name) {
  return !node.is_opaque() && !node.is_input() && !node.is_constant() && node.op->domain.empty() &&
         node.op->name == name;
}

bool are_zeros(const Graph& graph, ValueId value) {
  const Node& node = graph.producer_node(value);
  const Tensor* const data = is_named(node, "ConstantOfShape") && node.attrs.has("value") ? &node.attrs.tensor("value")
                                                                                          : graph.constant(value);
  return data != nullptr && data->dtype() == DType::Float &&
         std::ranges::all_of(data->data<float>(), [](float number) { return number == 0; });
}

/// Returns whether a value has one reader and is not an output.
bool is_read_once(const Graph& graph, ValueId value) {
  return graph.consumers(value).size() == 1 && !graph.is_output(value);
}

bool is_flat(const Graph& graph, ValueId value) { return graph.type(value).shape && graph.type(value).rank() == 1; }

/// Returns the maker of a value if it has this name and nothing else reads the value.
const Node* inner_maker(const Graph& graph, ValueId value, const char* name) {
  const Node& node = graph.producer_node(value);
  return is_named(node, name) && is_read_once(graph, value) ? &node : nullptr;
}

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

/// The positions of a window that are within the image, and the first element of the window.
struct SeenWindow {
  std::pair<int64_t, int64_t> z, y, x;

  template <class See>
  ISOMER_INLINE void each(const Window3& w, const Window3::Triple& o, const See& see) const {
    for (int64_t i = z.first; i < z.second; ++i)
      for (int64_t j = y.first; j < y.second; ++j) {
        const int64_t row = (w.at(0, o[0], i) * w.input[1] + w.at(1, o[1], j)) * w.input[2];
        for (int64_t k = x.first; k < x.second; ++k) see(row + w.at(2, o[2], k));
      }
  }
};

/// Elements of one or more adjacent channels of an image, and of the gradient of its pool.
struct Lanes {
  const float* from;
  const float* gradient;
  float* to;
  int64_t width;  ///< elements from one pixel to the next
};

/// Gives the gradient of one window to the first maximum of each channel. A NaN is larger than all, and the last
/// element that is not smaller than a NaN counts, as in the reference kernel.
template <class Vector>
ISOMER_INLINE void give(const Window3& w, const Window3::Triple& o, const SeenWindow& seen, const Lanes& lanes,
                        int64_t result) {
  Vector best = Vector{} - std::numeric_limits<float>::infinity();
  Vector chosen = Vector{};
  float number = 0;
  seen.each(w, o, [&](int64_t pixel) {
    Vector x;
    load(x, lanes.from + pixel * lanes.width);
    // Nothing is larger than a NaN, and a NaN does not equal itself.
    const Vector larger = x > best ? x : x != x ? x : best;
    chosen = larger == best ? chosen : Vector{} + number;
    best = larger;
    number += 1;
  });
  Vector gradient;
  load(gradient, lanes.gradient + result * lanes.width);
  number = 0;
  seen.each(w, o, [&](int64_t pixel) {
    float* const at = lanes.to + pixel * lanes.width;
    Vector sum;
    load(sum, at);
    sum = chosen == number ? sum + gradient : sum;
    store(at, sum);
    number += 1;
  });
}

struct GiveGradients {
  /// For all channels of `width` that begin at the lanes' first one.
  template <class Vector>
  static ISOMER_INLINE void run(const Window3& w, const Lanes& given) {
    std::memset(given.to, 0, static_cast<size_t>(w.input_size() * given.width) * sizeof(float));
    int64_t result = 0;
    for (int64_t z = 0; z < w.output[0]; ++z)
      for (int64_t y = 0; y < w.output[1]; ++y)
        for (int64_t x = 0; x < w.output[2]; ++x, ++result) {
          const Window3::Triple o = {z, y, x};
          const SeenWindow seen{w.positions_at(0, z), w.positions_at(1, y), w.positions_at(2, x)};
          Lanes lanes = given;
          int64_t c = 0;
          const auto move = [&](int64_t by) {
            c += by;
            lanes.from += by;
            lanes.gradient += by;
            lanes.to += by;
          };
          while (c + kLanes<Vector> <= given.width) {
            give<Vector>(w, o, seen, lanes, result);
            move(kLanes<Vector>);
          }
          while (c < given.width) {
            give<float>(w, o, seen, lanes, result);
            move(1);
          }
        }
  }
};

}  // namespace

void run_max_pool_gradient(const Window3& window, const ChannelLayout& image, const float* from, const float* gradient,
                           float* to) {
  parallel_for(image.groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      const int64_t elements = window.input_size() * image.width;
      dispatch<GiveGradients>(window,
                              Lanes{from + group * elements, gradient + group * window.output_size() * image.width,
                                    to + group * elements, image.width});
    }
  });
}

}  // namespace isomer::onednn
