#include "isomer/engine/onednn/filter_gradient.h"

#include <algorithm>
#include <vector>

#include "isomer/engine/onednn/conv_problem.h"
#include "isomer/engine/onednn/fusion.h"

namespace isomer::onednn {
namespace {

/// Whether a node is a transposition that reverses the first `count` axes.
bool reverses(const Node& node, size_t count) {
  if (node.is_opaque() || node.is_input() || node.is_constant() || !node.op->has(Trait::Permutation)) return false;
  const Ints& perm = node.attrs.ints("perm");
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i < count ? count - 1 - i : i)) return false;
  return perm.size() > count;
}

/// A value with axes exchanged, and the nodes that do so, last one first.
struct Exchange {
  ValueId from = kNoValue;
  std::vector<NodeId> nodes = {};
};

std::optional<Exchange> exchange(const Graph& graph, ValueId value) {
  const NodeId id = graph.producer(value);
  if (!reverses(graph.node(id), 2)) return std::nullopt;
  return Exchange{graph.operands(graph.node(id))[0], {id}};
}

/// [batch, groups * channels, ...] as [channels, groups * batch, ...].
std::optional<Exchange> exchange_in_groups(const Graph& graph, ValueId value, int64_t groups) {
  if (groups == 1) return exchange(graph, value);
  Exchange out{value};
  const auto go_on = [&](bool found) {
    if (!found) return false;
    out.nodes.push_back(graph.producer(out.from));
    out.from = graph.operands(graph.producer_node(out.from))[0];
    return true;
  };
  const auto is_reshape = [&] { return is_named(graph.producer_node(out.from), "Reshape"); };
  if (!go_on(is_reshape()) || !go_on(reverses(graph.producer_node(out.from), 3))) return std::nullopt;
  const auto& split = graph.type(out.from).shape;  // [batch, groups, channels, ...]
  if (!go_on(is_reshape())) return std::nullopt;
  const auto& joined = graph.type(value).shape;
  const auto& given = graph.type(out.from).shape;
  const auto pixels = [](const Shape& shape, ptrdiff_t axes) { return Shape(shape.begin() + axes, shape.end()); };
  const bool fits = given && split && joined && given->size() >= 3 && split->size() == given->size() + 1 &&
                    joined->size() == given->size() && (*split)[1].is(groups) && (*split)[0] == (*given)[0] &&
                    (*joined)[0] == (*split)[2] && pixels(*split, 3) == pixels(*given, 2) &&
                    pixels(*joined, 2) == pixels(*given, 2);
  return fits ? std::optional(std::move(out)) : std::nullopt;
}

struct Exchanges {
  Exchange image, gradient;
};

std::optional<Exchanges> exchanges(const Graph& graph, const Node& node) {
  if (!is_named(node, "Conv")) return std::nullopt;
  const auto operands = graph.operands(node);
  if (operands.size() > 2 && operands[2] != kNoValue) return std::nullopt;
  auto image = exchange_in_groups(graph, operands[0], node.attrs.integer("group"));
  auto gradient = exchange(graph, operands[1]);
  if (!image || !gradient) return std::nullopt;
  if (graph.is_constant_derived(image->from) || graph.is_constant_derived(gradient->from)) return std::nullopt;
  return Exchanges{std::move(*image), std::move(*gradient)};
}

/// Whether all readers of a value are filter gradients for which `node` exchanges axes, or lead to those in at most
/// `steps` steps.
bool only_feeds(const Graph& graph, ValueId value, NodeId node, int steps) {
  const auto readers = graph.consumers(value);
  if (graph.is_output(value)) return false;
  return !readers.empty() && std::ranges::all_of(readers, [&](NodeId reader) {
    const Node& reads = graph.node(reader);
    if (const auto found = exchanges(graph, reads)) {
      const auto has = [&](const Exchange& exchange) {
        return std::ranges::find(exchange.nodes, node) != exchange.nodes.end();
      };
      return has(found->gradient) ||
             (has(found->image) && (found->image.nodes.size() == 1 || reads_groups(graph, reads)));
    }
    return steps > 0 && (is_named(reads, "Reshape") || reverses(reads, 3)) &&
           only_feeds(graph, reads.result(), node, steps - 1);
  });
}

}  // namespace

std::optional<FilterGradient> filter_gradient(const Graph& graph, const Node& node) {
  const auto found = exchanges(graph, node);
  if (!found) return std::nullopt;
  const auto& [image, gradient] = *found;
  return FilterGradient{image.from, gradient.from, image.nodes.back(), gradient.nodes.back()};
}

bool reads_groups(const Graph& graph, const Node& node) {
  return is_named(node, "Conv") && node.attrs.integer("group") > 1 && read_filter_gradient(graph, node).has_value();
}

bool feeds_filter_gradients(const Graph& graph, const Node& node) {
  const bool exchanges = reverses(node, 2) || reverses(node, 3) || is_named(node, "Reshape");
  return exchanges && only_feeds(graph, node.result(), graph.producer(node.result()), 2);
}

}  // namespace isomer::onednn
