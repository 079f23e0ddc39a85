#include "isomer/engine/ort/patterns.h"

#include <algorithm>

namespace isomer {
namespace {

/// Transpositions that a FusedMatMul performs: of the last two axes, of the first axis to the last but one, or both.
bool fuses_with_product(const Ints& perm) {
  const auto rank = static_cast<int64_t>(perm.size());
  if (rank < 2) return false;
  const auto leading = [&](int64_t shift) {
    for (int64_t i = 0; i < rank - 2; ++i)
      if (perm[static_cast<size_t>(i)] != i + shift) return false;
    return true;
  };
  const int64_t last = perm.back(), before = perm[static_cast<size_t>(rank - 2)];
  if (leading(0)) return before == rank - 1 && last == rank - 2;
  return leading(1) && ((before == 0 && last == rank - 1) || (before == rank - 1 && last == 0));
}

}  // namespace

OrtPatterns::OrtPatterns(const Graph& of, const std::unordered_map<const OpDef*, Kind>& kinds)
    : graph(of),
      returned_(of.num_values(), false),
      absorbed_(of.nodes().size(), false),
      cluster_(of.nodes().size(), kNone) {
  kinds_.reserve(of.nodes().size());
  for (const Node& node : of.nodes()) {
    const auto found = kinds.find(node.op);
    kinds_.push_back(found == kinds.end() ? Kind::Other : found->second);
  }
  for (const ValueId output : of.outputs()) returned_[output] = true;
  for (NodeId id = 0; id < kinds_.size(); ++id) {
    if (!runs(id)) continue;
    if (kinds_[id] == Kind::Erf || kinds_[id] == Kind::Tanh) find_gelu(id);
    if (kinds_[id] == Kind::Sqrt) find_layer_norm(id);
  }
  for (NodeId id = 0; id < kinds_.size(); ++id)
    absorbed_[id] = runs(id) && cluster_[id] == kNone && (absorbable(id) || absorbable_pad(id));
}

bool OrtPatterns::scalar(ValueId value) const {
  const Tensor* constant = graph.constant(value);
  return constant != nullptr && constant->element_count() == 1;
}

/// Returns whether a node is a product (or quotient) of one value and a scalar constant.
bool OrtPatterns::scales(NodeId id, ValueId& x) const {
  if (kinds_[id] != Kind::Mul && kinds_[id] != Kind::Div) return false;
  const auto operands = graph.operands(graph.node(id));
  for (size_t i = 0; i < (kinds_[id] == Kind::Mul ? 2 : 1); ++i) {
    if (!scalar(operands[1 - i])) continue;
    x = operands[i];
    return true;
  }
  return false;
}

bool OrtPatterns::absorbable(NodeId id) const {
  const Node& node = graph.node(id);
  ValueId x = kNoValue;
  const bool transposes = kinds_[id] == Kind::Transpose && fuses_with_product(node.attrs.ints("perm"));
  if (!transposes && !(scales(id, x) && sole(node.result()))) return false;
  const ValueId result = node.result();
  if (returned_[result] || graph.type(result).dtype != DType::Float) return false;
  const auto readers = graph.consumers(result);
  return std::all_of(readers.begin(), readers.end(), [&](NodeId reader) { return kinds_[reader] == Kind::MatMul; });
}

/// Returns whether a node pads with zeros, only on the axes along which a window moves.
bool OrtPatterns::absorbable_pad(NodeId id) const {
  if (kinds_[id] != Kind::Pad) return false;
  const Node& node = graph.node(id);
  const NodeId by = reader(id);
  if (by == kNone || (kinds_[by] != Kind::Conv && kinds_[by] != Kind::Pool)) return false;
  if (graph.operands(node).size() != 1 || graph.operands(graph.node(by))[0] != node.result()) return false;
  const Ints& pads = node.attrs.ints("pads");
  const size_t rank = pads.size() / 2;
  const bool window = std::ranges::all_of(pads, [](int64_t pad) { return pad >= 0; }) && rank > 2 && pads[0] == 0 &&
                      pads[1] == 0 && pads[rank] == 0 && pads[rank + 1] == 0;
  return window && node.attrs.text("mode") == "constant" && !node.attrs.has("constant_value");
}

NodeId OrtPatterns::reader(NodeId id) const {
  const ValueId result = graph.node(id).result();
  return sole(result) ? graph.consumers(result)[0] : kNone;
}

void OrtPatterns::make_cluster(const std::vector<NodeId>& members) {
  for (const NodeId member : members) cluster_[member] = num_clusters_;
  ++num_clusters_;
}

bool OrtPatterns::takes_bias(NodeId product) const {
  const auto operands = graph.operands(graph.node(product));
  const TensorType &a = graph.type(operands[0]), &b = graph.type(operands[1]);
  return kinds_[product] == Kind::MatMul && b.shape && b.rank() == 2 && a.shape &&
         (a.rank() == 2 || graph.is_constant_derived(operands[1]));
}

/// Gelu by the error function, x (1 + erf(x / c)) / 2, or by tanh. The half may be at x or at the end. Except x's, all
/// nodes are read only by one another.
void OrtPatterns::find_gelu(NodeId anchor) {
  // Goes backward from the anchor while each value has one reader, to the value that has several.
  std::vector<NodeId> members{anchor};
  ValueId x = kNoValue;
  for (size_t at = 0; at < members.size(); ++at) {
    for (const ValueId operand : graph.operands(graph.node(members[at]))) {
      if (graph.is_constant_derived(operand)) {
        if (!scalar(operand)) return;
        continue;
      }
      const NodeId producer = graph.producer(operand);
      const Kind which = kinds_[producer];
      const bool inner =
          sole(operand) && (which == Kind::Mul || which == Kind::Div || which == Kind::Add || which == Kind::Pow);
      if (inner) {
        if (members.size() > 8) return;
        members.push_back(producer);
      } else if (x == kNoValue || x == operand) {
        x = operand;
      } else {
        return;
      }
    }
  }
  if (x == kNoValue || members.size() < 2) return;
  // Goes forward: + 1, times x or its half, and half of that.
  const NodeId sum = reader(anchor);
  if (sum == kNone || kinds_[sum] != Kind::Add) return;
  const auto terms = graph.operands(graph.node(sum));
  if (!scalar(terms[0]) && !scalar(terms[1])) return;
  NodeId product = reader(sum);
  if (product == kNone || kinds_[product] != Kind::Mul) return;
  const auto factors = graph.operands(graph.node(product));
  const ValueId other = factors[0] == graph.node(sum).result() ? factors[1] : factors[0];
  members.push_back(sum);
  if (other == x) {
    members.push_back(product);
    const NodeId half = reader(product);
    ValueId scaled = kNoValue;
    if (half == kNone || !scales(half, scaled)) return;
    members.push_back(half);
  } else if (scalar(other)) {
    const NodeId outer = reader(product);
    if (outer == kNone || kinds_[outer] != Kind::Mul) return;
    const auto both = graph.operands(graph.node(outer));
    if (both[0] != x && both[1] != x) return;
    members.push_back(product);
    members.push_back(outer);
  } else {
    ValueId scaled = kNoValue;
    if (!sole(other) || !scales(graph.producer(other), scaled) || scaled != x) return;
    members.push_back(graph.producer(other));
    members.push_back(product);
  }
  make_cluster(members);
}

/// (x - mean) / sqrt(mean of (x - mean)^2 + epsilon), times weights, plus weights; found from its square root.
void OrtPatterns::find_layer_norm(NodeId root) {
  std::vector<NodeId> members{root};
  // Goes backward along first operands: the sum with epsilon, the mean, the square, the difference.
  NodeId at = root;
  for (const Kind wanted : {Kind::Add, Kind::ReduceMean, Kind::Pow, Kind::Sub}) {
    const ValueId from = graph.operands(graph.node(at))[0];
    at = graph.producer(from);
    const bool square = wanted == Kind::Pow && (kinds_[at] == Kind::Pow || kinds_[at] == Kind::Mul);
    if (!runs(at) || (kinds_[at] != wanted && !square)) return;
    if (wanted != Kind::Sub && !sole(from)) return;
    members.push_back(at);
  }
  const auto terms = graph.operands(graph.node(at));
  const NodeId mean = graph.producer(terms[1]);
  if (kinds_[mean] != Kind::ReduceMean || graph.operands(graph.node(mean))[0] != terms[0] || !sole(terms[1])) return;
  members.push_back(mean);
  const ValueId difference = graph.node(at).result();
  const NodeId quotient = reader(root);
  if (quotient == kNone || kinds_[quotient] != Kind::Div) return;
  if (graph.operands(graph.node(quotient))[0] != difference) return;
  if (returned_[difference] || graph.consumers(difference).size() != 2) return;
  members.push_back(quotient);
  at = quotient;
  for (const Kind wanted : {Kind::Mul, Kind::Add}) {
    const NodeId next = reader(at);
    if (next == kNone || kinds_[next] != wanted) break;
    const auto operands = graph.operands(graph.node(next));
    if (!graph.is_constant_derived(operands[0]) && !graph.is_constant_derived(operands[1])) break;
    members.push_back(next);
    at = next;
  }
  make_cluster(members);
}

}  // namespace isomer
