#include "isomer/certificate/same_graph.h"

#include <map>

#include "isomer/base/hash.h"
#include "isomer/ir/node_hash.h"

namespace isomer::replay {
namespace {

using OpaqueContent = std::string (*)(const Node&);

/// Returns the attributes of a node without those that may differ in a copy of the file: numbers and names of opaque
/// nodes, and whether an axis is counted from the front or the back.
Attrs lasting(const Graph& graph, const Node& node) {
  if (node.is_opaque()) return node.attrs.without("@instance").without("@node");
  const auto* axis = std::get_if<int64_t>(node.attrs.find("axis"));
  if (axis == nullptr || *axis >= 0 || node.num_operands == 0 || graph.operands(node)[0] == kNoValue) return node.attrs;
  const auto& from = graph.type(graph.operands(node)[0]).shape;
  const auto& to = graph.type(node.result()).shape;
  if (!from || !to || from->size() != to->size()) return node.attrs;  // it is unknown which of the two ranks counts
  return node.attrs.with("axis", *axis + static_cast<int64_t>(from->size()));
}

/// Looks through nodes that only copy their operand.
ValueId behind_identity(const Graph& graph, ValueId value) {
  const auto copies = [&](const Node& node) { return node.op->has(Trait::Identity) && node.num_results == 1; };
  while (value != kNoValue && copies(graph.producer_node(value))) value = graph.operands(graph.producer_node(value))[0];
  return value;
}

/// Returns hashes of what each value computes, without the numbers of opaque nodes. They are only a hint for the order
/// of operands.
std::vector<uint64_t> hints_of(const Graph& graph) {
  std::vector<uint64_t> out(graph.num_values(), 0);
  for (const Node& node : graph.nodes()) {
    std::vector<uint64_t> operands;
    for (const ValueId operand : graph.operands(node))
      operands.push_back(operand == kNoValue ? 0 : out[behind_identity(graph, operand)]);
    const uint64_t hash = node_hash(*node.op, lasting(graph, node), node.num_results, operands);
    for (uint32_t r = 0; r < node.num_results; ++r) out[node.result(r)] = hash_mix(hash, r);
  }
  return out;
}

class Comparison {
 public:
  Comparison(const Graph& a, const Graph& b, OpaqueContent opaque_content)
      : a_(a), b_(b), opaque_content_(opaque_content), hints_a_(hints_of(a)), hints_b_(hints_of(b)) {}

  Status run() {
    if (a_.inputs().size() != b_.inputs().size())
      return fail("it has {} inputs, but {} are expected", b_.inputs().size(), a_.inputs().size());
    for (size_t i = 0; i < a_.inputs().size(); ++i)
      ISOMER_CHECK(same_types(a_.inputs()[i], b_.inputs()[i], fmt::format("input {}", i)));
    if (a_.outputs().size() != b_.outputs().size())
      return fail("it has {} outputs, but {} are expected", b_.outputs().size(), a_.outputs().size());
    for (size_t i = 0; i < a_.outputs().size(); ++i) ISOMER_CHECK(pair(a_.outputs()[i], b_.outputs()[i]));
    while (!open_.empty()) {
      const auto [a, b] = open_.back();
      open_.pop_back();
      if (auto status = same_nodes(a, b); !status) return fail_in(title(b), status.error());
    }
    return {};
  }

 private:
  std::string title(NodeId id) const {
    const Node& node = b_.node(id);
    const std::string name = node.num_results > 0 ? b_.name(node.result()) : "";
    return fmt::format("node '{}' ({})", name.empty() ? fmt::format("#{}", id) : name, node.op->name);
  }

  Status same_types(ValueId a, ValueId b, const std::string& what) const {
    if (a_.type(a) == b_.type(b)) return {};
    return fail("{} is {}, {} was expected", what, b_.type(b).str(), a_.type(a).str());
  }

  /// Compares element type and rank.
  Status same_kind(ValueId a, ValueId b) const {
    const TensorType& left = a_.type(a);
    const TensorType& right = b_.type(b);
    const bool ranks =
        left.shape.has_value() == right.shape.has_value() && (!left.shape || left.rank() == right.rank());
    if (left.dtype == right.dtype && ranks) return {};
    return fail("a result is {}, {} was expected", right.str(), left.str());
  }

  /// Requires two values to be the same; their nodes are compared later, once.
  Status pair(ValueId a, ValueId b) {
    const bool identity = a != kNoValue && behind_identity(a_, a) != a;
    if (!identity) b = behind_identity(b_, b);
    if ((a == kNoValue) != (b == kNoValue)) return fail("an operand is present in only one graph");
    if (a == kNoValue) return {};
    if (a_.result_index(a) != b_.result_index(b)) return fail("another result of a node");
    const NodeId from = a_.producer(a);
    const NodeId to = b_.producer(b);
    const auto [known_b, fresh_a] = to_b_.emplace(from, to);
    const auto [known_a, fresh_b] = to_a_.emplace(to, from);
    if (known_b->second != to || known_a->second != from) return fail("{} stands for two nodes", title(to));
    if (fresh_a) open_.emplace_back(from, to);
    return {};
  }

  Status same_nodes(NodeId a, NodeId b) {
    const Node& left = a_.node(a);
    const Node& right = b_.node(b);
    if (left.op != right.op) return fail("{} was expected", left.op->name);
    if (left.num_results != right.num_results) return fail("it has {} results", right.num_results);
    if (!(lasting(a_, left) == lasting(b_, right)))
      return fail("its {} differ", left.is_constant() ? "elements" : "attributes");
    if (left.is_opaque() && opaque_content_(left) != opaque_content_(right)) return fail("its content differs");
    // All other types follow from the operators. In types that depend on the data, import numbers symbols anew.
    for (uint32_t r = 0; r < left.num_results && left.is_opaque(); ++r)
      ISOMER_CHECK(same_kind(left.result(r), right.result(r)));
    const auto x = a_.operands(left);
    const auto y = b_.operands(right);
    if (x.size() != y.size()) return fail("it has {} operands", y.size());
    const bool swapped = left.op->commutative && x.size() == 2 && hint(x[0]) == hint_b(y[1]) &&
                         hint(x[1]) == hint_b(y[0]) && hint(x[0]) != hint_b(y[0]);
    for (size_t i = 0; i < x.size(); ++i) ISOMER_CHECK(pair(x[i], y[swapped ? 1 - i : i]));
    return {};
  }

  uint64_t hint(ValueId value) const { return value == kNoValue ? 0 : hints_a_[behind_identity(a_, value)]; }
  uint64_t hint_b(ValueId value) const { return value == kNoValue ? 0 : hints_b_[behind_identity(b_, value)]; }

  const Graph& a_;
  const Graph& b_;
  const OpaqueContent opaque_content_;
  const std::vector<uint64_t> hints_a_;
  const std::vector<uint64_t> hints_b_;
  std::map<NodeId, NodeId> to_b_;
  std::map<NodeId, NodeId> to_a_;
  std::vector<std::pair<NodeId, NodeId>> open_;
};

}  // namespace

Status same_graph(const Graph& expected, const Graph& actual, std::string (*opaque_content)(const Node&)) {
  return Comparison(expected, actual, opaque_content).run();
}

}  // namespace isomer::replay
