#include "isomer/onnx/sort_nodes.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "isomer/onnx/label.h"
#include "isomer/onnx/subgraphs.h"

namespace isomer {
namespace {

/// For each node, the nodes whose results it or its subgraphs use.
std::vector<std::vector<int>> sources_of(const NodeProtos& nodes) {
  std::unordered_map<std::string_view, int> producers;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string& output : nodes[i].output())
      if (!output.empty()) producers.emplace(output, i);
  std::vector<std::vector<int>> sources(static_cast<size_t>(nodes.size()));
  for (int i = 0; i < nodes.size(); ++i) {
    const auto use = [&](const std::string& name) {
      if (const auto made = producers.find(name); made != producers.end())
        sources[static_cast<size_t>(i)].push_back(made->second);
    };
    std::ranges::for_each(nodes[i].input(), use);
    if (has_subgraph(nodes[i])) std::ranges::for_each(captured_names(nodes[i]), use);
  }
  return sources;
}

/// Visits nodes depth first, each after its sources.
class Sorter {
 public:
  explicit Sorter(const NodeProtos& nodes)
      : nodes_(nodes), sources_(sources_of(nodes)), states_(sources_.size(), State::New) {}

  /// The positions of the nodes in sorted order.
  Result<std::vector<int>> run() {
    for (int i = 0; i < nodes_.size(); ++i) ISOMER_CHECK(visit(i));
    return std::move(order_);
  }

 private:
  enum class State : uint8_t { New, Open, Done };
  struct Visit {
    int node;
    size_t next = 0;  // of its sources
  };

  State& state(int node) { return states_[static_cast<size_t>(node)]; }

  void open(int node) {
    state(node) = State::Open;
    path_.push_back({node});
  }

  /// Not recursive, because a path may be as long as the graph.
  Status visit(int first) {
    if (state(first) == State::New) open(first);
    while (!path_.empty()) {
      Visit& top = path_.back();
      const auto& sources = sources_[static_cast<size_t>(top.node)];
      if (top.next == sources.size()) {
        order_.push_back(top.node);
        state(top.node) = State::Done;
        path_.pop_back();
        continue;
      }
      const int source = sources[top.next++];
      if (state(source) == State::Open) return cycle(source);
      if (state(source) == State::New) open(source);
    }
    return {};
  }

  /// An Error for a path whose end leads back to `start`.
  tl::unexpected<Error> cycle(int start) const {
    constexpr ptrdiff_t kShown = 8;
    const auto from = std::ranges::find(path_, start, &Visit::node);
    const ptrdiff_t length = path_.end() - from;
    std::vector<std::string> others;
    for (ptrdiff_t i = 1; i < std::min(length, kShown); ++i)
      others.push_back(node_label(nodes_[from[i].node], from[i].node));
    if (length > kShown) others.push_back(fmt::format("{} more nodes", length - kShown));
    const std::string first = node_label(nodes_[start], start);
    others.push_back(first);
    return fail("the graph is cyclic: {} uses {}", first, fmt::join(others, ", which uses "));
  }

  const NodeProtos& nodes_;
  std::vector<std::vector<int>> sources_;
  std::vector<State> states_;
  std::vector<Visit> path_;
  std::vector<int> order_;
};

void reorder(NodeProtos& nodes, const std::vector<int>& order) {
  std::vector<onnx::NodeProto*> taken(order.size());
  nodes.ExtractSubrange(0, nodes.size(), taken.data());
  for (const int from : order) nodes.AddAllocated(taken[static_cast<size_t>(from)]);
}

/// Sorts the subgraphs in the node's attributes.
Status sort_inside(onnx::NodeProto& node) {
  for (onnx::AttributeProto& attr : *node.mutable_attribute()) {
    if (attr.has_g()) ISOMER_CHECK(sort_nodes(*attr.mutable_g()->mutable_node()));
    for (onnx::GraphProto& graph : *attr.mutable_graphs()) ISOMER_CHECK(sort_nodes(*graph.mutable_node()));
  }
  return {};
}

}  // namespace

Status sort_nodes(NodeProtos& nodes) {
  for (int i = 0; i < nodes.size(); ++i)
    if (auto status = sort_inside(nodes[i]); !status) return fail_in(node_label(nodes[i], i), status.error());
  ISOMER_TRY(const std::vector<int> order, Sorter(nodes).run());
  if (!std::ranges::is_sorted(order)) reorder(nodes, order);
  return {};
}

}  // namespace isomer
