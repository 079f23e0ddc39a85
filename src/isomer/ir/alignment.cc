#include "isomer/ir/alignment.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

namespace isomer {
namespace {

/// Pairs the nodes of two graphs.
class Aligner {
 public:
  Aligner(const Graph& before, const Graph& after)
      : before_(before),
        after_(after),
        to_after_(before.nodes().size(), kNoNode),
        to_before_(after.nodes().size(), kNoNode) {}

  Alignment run() {
    pair_equal_hashes();
    pair_equal_names();
    const size_t outputs = std::min(before_.outputs().size(), after_.outputs().size());
    for (size_t i = 0; i < outputs; ++i) try_values(before_.outputs()[i], after_.outputs()[i]);
    for (size_t i = 0; i < pairs_.size(); ++i) {
      pair_operands(pairs_[i]);
      pair_consumers(pairs_[i]);
    }
    unpair_contradictions();
    return {std::move(to_after_), std::move(to_before_), std::move(pairs_)};
  }

 private:
  bool both_free(NodeId a, NodeId b) const { return to_after_[a] == kNoNode && to_before_[b] == kNoNode; }

  /// Whether two nodes perform the same operation at run time, apart from their operands.
  bool similar(NodeId a, NodeId b) const {
    const Node& x = before_.node(a);
    const Node& y = after_.node(b);
    if (x.op != y.op || x.num_operands != y.num_operands || x.num_results != y.num_results || !(x.attrs == y.attrs))
      return false;
    for (uint32_t i = 0; i < x.num_results; ++i)
      if (!(before_.type(x.result(i)) == after_.type(y.result(i)))) return false;
    const auto xs = ordered_operands(before_, x);
    const auto ys = ordered_operands(after_, y);
    for (size_t i = 0; i < xs.size(); ++i) {
      if ((xs[i] == kNoValue) != (ys[i] == kNoValue)) return false;
      if (xs[i] == kNoValue) continue;
      if (before_.is_constant_derived(xs[i]) != after_.is_constant_derived(ys[i])) return false;
      if (before_.is_constant_derived(xs[i]) && before_.value_hash(xs[i]) != after_.value_hash(ys[i])) return false;
    }
    return true;
  }

  void pair(NodeId a, NodeId b) {
    to_after_[a] = b;
    to_before_[b] = a;
    pairs_.push_back(a);
  }

  bool try_nodes(NodeId a, NodeId b) {
    if (!both_free(a, b) || !is_at_run_time(before_, before_.node(a)) || !similar(a, b)) return false;
    pair(a, b);
    return true;
  }

  bool try_values(ValueId a, ValueId b) {
    if (a == kNoValue || b == kNoValue || before_.result_index(a) != after_.result_index(b)) return false;
    return try_nodes(before_.producer(a), after_.producer(b));
  }

  void pair_equal_hashes() {
    std::unordered_map<uint64_t, NodeId> known;
    for (NodeId b = 0; b < to_before_.size(); ++b)
      if (is_at_run_time(after_, after_.node(b))) known.emplace(after_.node(b).hash, b);
    for (NodeId a = 0; a < to_after_.size(); ++a) {
      const auto found = known.find(before_.node(a).hash);
      if (found != known.end() && both_free(a, found->second)) pair(a, found->second);
    }
  }

  void pair_equal_names() {
    std::unordered_map<std::string, NodeId> known;
    for (NodeId b = 0; b < to_before_.size(); ++b) {
      const Node& node = after_.node(b);
      if (node.num_results > 0 && !after_.name(node.result()).empty()) known.emplace(after_.name(node.result()), b);
    }
    for (NodeId a = 0; a < to_after_.size(); ++a) {
      const Node& node = before_.node(a);
      if (node.num_results == 0) continue;
      if (const auto found = known.find(before_.name(node.result())); found != known.end()) try_nodes(a, found->second);
    }
  }

  void pair_operands(NodeId a) {
    const Node& node = before_.node(a);
    const auto xs = ordered_operands(before_, node);
    auto ys = ordered_operands(after_, after_.node(to_after_[a]));
    // If the order does not matter, an operand that is already paired determines it.
    if (node.op->commutative && xs.size() == 2 && (partners(xs[0], ys[1]) || partners(xs[1], ys[0])))
      std::swap(ys[0], ys[1]);
    for (size_t i = 0; i < xs.size(); ++i) try_values(xs[i], ys[i]);
  }

  bool partners(ValueId a, ValueId b) const {
    return to_after_[before_.producer(a)] == after_.producer(b) && before_.result_index(a) == after_.result_index(b);
  }

  /// Whether each operand of one node is paired with its counterpart, or both are unpaired.
  bool agree(NodeId a, NodeId b) const {
    const auto xs = ordered_operands(before_, before_.node(a));
    const auto ys = ordered_operands(after_, after_.node(b));
    const auto fits = [&](ValueId x, ValueId y) {
      return x == kNoValue || before_.is_constant_derived(x) || partners(x, y) ||
             both_free(before_.producer(x), after_.producer(y));
    };
    if (before_.node(a).op->commutative && xs.size() == 2 && fits(xs[0], ys[1]) && fits(xs[1], ys[0])) return true;
    for (size_t i = 0; i < xs.size(); ++i)
      if (!fits(xs[i], ys[i])) return false;
    return true;
  }

  /// Pairs readers of the results of a pair if the choice is unambiguous.
  void pair_consumers(NodeId a) {
    const Node& x = before_.node(a);
    const Node& y = after_.node(to_after_[a]);
    for (uint32_t i = 0; i < x.num_results; ++i) {
      for (const NodeId reader : before_.consumers(x.result(i))) {
        if (to_after_[reader] != kNoNode) continue;
        NodeId only = kNoNode;
        size_t candidates = 0;
        for (const NodeId other : after_.consumers(y.result(i))) {
          if (to_before_[other] != kNoNode || !similar(reader, other) || !agree(reader, other)) continue;
          only = other;
          ++candidates;
        }
        if (candidates == 1) try_nodes(reader, only);
      }
    }
  }

  void unpair(NodeId a) {
    if (to_after_[a] == kNoNode) return;
    to_before_[to_after_[a]] = kNoNode;
    to_after_[a] = kNoNode;
  }

  /// Removes the pairs that contradict outputs and operands, until there are none.
  void unpair_contradictions() {
    const size_t outputs = std::min(before_.outputs().size(), after_.outputs().size());
    for (size_t i = 0; i < outputs; ++i) {
      const ValueId a = before_.outputs()[i];
      const ValueId b = after_.outputs()[i];
      if (!contradict(a, b)) continue;
      unpair(before_.producer(a));
      if (const NodeId other = to_before_[after_.producer(b)]; other != kNoNode) unpair(other);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const NodeId a : pairs_) {
        if (to_after_[a] == kNoNode || !operands_contradict(a)) continue;
        unpair(a);
        changed = true;
      }
    }
    std::erase_if(pairs_, [&](NodeId a) { return to_after_[a] == kNoNode; });
  }

  bool operands_contradict(NodeId a) const {
    const Node& node = before_.node(a);
    const auto xs = ordered_operands(before_, node);
    const auto ys = ordered_operands(after_, after_.node(to_after_[a]));
    if (node.op->commutative && xs.size() == 2) {
      return (contradict(xs[0], ys[0]) || contradict(xs[1], ys[1])) &&
             (contradict(xs[0], ys[1]) || contradict(xs[1], ys[0]));
    }
    for (size_t i = 0; i < xs.size(); ++i)
      if (contradict(xs[i], ys[i])) return true;
    return false;
  }

  /// Whether one value cannot have replaced the other: both were kept but are different, or one was kept and the other
  /// is not computed from it through changed nodes.
  bool contradict(ValueId a, ValueId b) const {
    if (a == kNoValue || before_.is_constant_derived(a) || partners(a, b)) return false;
    const NodeId x = before_.producer(a);
    const NodeId y = after_.producer(b);
    const bool x_stayed = to_after_[x] != kNoNode;
    const bool y_stayed = to_before_[y] != kNoNode;
    if (x_stayed && y_stayed) return true;
    if (x_stayed) return !comes_from(after_, to_before_, y, to_after_[x]);
    if (y_stayed) return !comes_from(before_, to_after_, x, to_before_[y]);
    return false;
  }

  /// Whether a changed node reads `source` through changed nodes only.
  static bool comes_from(const Graph& graph, const std::vector<NodeId>& partner, NodeId node, NodeId source) {
    std::set<NodeId> seen{node};
    for (std::vector<NodeId> open{node}; !open.empty();) {
      const NodeId next = open.back();
      open.pop_back();
      for (const ValueId operand : graph.operands(graph.node(next))) {
        if (operand == kNoValue) continue;
        const NodeId reads = graph.producer(operand);
        if (reads == source) return true;
        if (partner[reads] == kNoNode && seen.insert(reads).second) open.push_back(reads);
      }
    }
    return false;
  }

  const Graph& before_;
  const Graph& after_;
  std::vector<NodeId> to_after_;
  std::vector<NodeId> to_before_;
  std::vector<NodeId> pairs_;  // in the order of discovery
};

}  // namespace

std::vector<ValueId> ordered_operands(const Graph& graph, const Node& node) {
  const auto operands = graph.operands(node);
  std::vector<ValueId> out(operands.begin(), operands.end());
  if (node.op->commutative && out.size() == 2 && graph.is_constant_derived(out[0])) std::swap(out[0], out[1]);
  return out;
}

bool is_at_run_time(const Graph& graph, const Node& node) {
  for (uint32_t i = 0; i < node.num_results; ++i)
    if (!graph.is_constant_derived(node.result(i)) || graph.is_output(node.result(i))) return true;
  return node.num_results == 0;
}

Alignment align(const Graph& before, const Graph& after) { return Aligner(before, after).run(); }

}  // namespace isomer
