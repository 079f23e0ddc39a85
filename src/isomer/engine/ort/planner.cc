#include "isomer/engine/ort/planner.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "isomer/engine/ort/patterns.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using Kind = OrtPlanner::Kind;

constexpr std::pair<const char*, Kind> kKinds[] = {
    {"Identity", Kind::Identity},
    {"Conv", Kind::Conv},
    {"MaxPool", Kind::Pool},
    {"AveragePool", Kind::Pool},
    {"GlobalAveragePool", Kind::GlobalPool},
    {"GlobalMaxPool", Kind::GlobalPool},
    {"BatchNormalization", Kind::BatchNorm},
    {"Concat", Kind::Concat},
    {"Add", Kind::Add},
    {"Sum", Kind::Sum},
    {"Mul", Kind::Mul},
    {"Div", Kind::Div},
    {"Pow", Kind::Pow},
    {"Relu", Kind::Relu},
    {"Sigmoid", Kind::Sigmoid},
    {"Tanh", Kind::Tanh},
    {"HardSigmoid", Kind::HardSigmoid},
    {"HardSwish", Kind::HardSwish},
    {"LeakyRelu", Kind::LeakyRelu},
    {"Clip", Kind::Clip},
    {"Elu", Kind::Elu},
    {"Softplus", Kind::Softplus},
    {"Erf", Kind::Erf},
    {"MatMul", Kind::MatMul},
    {"Gemm", Kind::Gemm},
    {"Transpose", Kind::Transpose},
    {"Sub", Kind::Sub},
    {"Sqrt", Kind::Sqrt},
    {"ReduceMean", Kind::ReduceMean},
    {"Pad", Kind::Pad},
    {"LayerNormalization", Kind::LayerNorm},
};

/// A kernel that may still grow.
struct Group {
  enum Base : uint8_t { Plain, Conv, Product } base = Plain;
  bool blocked = false;
  bool added = false;      // has a residual sum, or a product's bias
  bool activated = false;  // nothing can be added after an activation
  bool scaled = false;
  bool biasable = false;  // is a product that can become a Gemm
};

/// Plans one graph.
class OrtPlanning {
 public:
  OrtPlanning(const OrtPatterns& patterns, int64_t block)
      : graph_(patterns.graph), patterns_(patterns), block_(block), group_of_(graph_.nodes().size(), kNone) {
    plan_.layouts.assign(graph_.num_values(), Layout::Plain);
    plan_.intakes.assign(graph_.nodes().size(), Intake::Own);
    wants_.assign(graph_.num_values(), 0);
    cluster_groups_.assign(patterns.num_clusters(), kNone);
  }

  KernelPlan run(const Boundary& boundary) {
    for (size_t i = 0; i < boundary.inputs.size() && i < graph_.inputs().size(); ++i)
      plan_.layouts[graph_.inputs()[i]] = boundary.inputs[i];
    for (NodeId id = 0; id < graph_.nodes().size(); ++id)
      if (patterns_.runs(id)) place(id);
    for (size_t i = 0; i < graph_.outputs().size(); ++i)
      want(graph_.outputs()[i], i < boundary.outputs.size() ? boundary.outputs[i] : Layout::Plain);
    collect_reorders();
    collect_groups();
    return std::move(plan_);
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  bool is_blocked(ValueId value) const { return plan_.layouts[value] == Layout::Blocked; }
  bool weight(ValueId value) const { return graph_.is_constant_derived(value); }
  Kind kind(NodeId id) const { return patterns_.kind(id); }
  ValueId operand(NodeId id, size_t i) const { return graph_.operands(graph_.node(id))[i]; }

  /// Returns the group whose last result is `value`, if it could absorb the only reader of that value.
  Group* open_group(ValueId value) {
    if (value == kNoValue || weight(value) || !patterns_.sole(value)) return nullptr;
    const uint32_t group = group_of_[graph_.producer(value)];
    return group == kNone ? nullptr : &groups_[group];
  }

  void join(NodeId id, ValueId operand) {
    group_of_[id] = group_of_[graph_.producer(operand)];
    if (groups_[group_of_[id]].blocked) mark_blocked(id);
  }
  Group& start(NodeId id, Group group = {}) {
    group_of_[id] = static_cast<uint32_t>(groups_.size());
    groups_.push_back(group);
    if (group.blocked) mark_blocked(id);
    return groups_.back();
  }
  void mark_blocked(NodeId id) { plan_.layouts[graph_.node(id).result()] = Layout::Blocked; }

  void want(ValueId value, Layout layout) { wants_[value] |= layout == Layout::Blocked ? 2 : 1; }
  void want_all(NodeId id, Layout layout) {
    for (const ValueId value : graph_.operands(graph_.node(id)))
      if (value != kNoValue && !weight(value)) want(value, layout);
  }

  /// Notes that a node, which is already placed, reads a value in some layout. If the node that makes the value is
  /// absorbed, the reader performs it.
  void take(NodeId id, ValueId value, Layout layout) {
    const NodeId producer = graph_.producer(value);
    if (!patterns_.absorbed(producer)) return want(value, layout);
    absorbed_.emplace_back(group_of_[id], producer);
    want_all(producer, layout);
  }

  void place(NodeId id);
  void place_plain(NodeId id) {
    want_all(id, Layout::Plain);
    start(id);
  }
  /// Places an element-wise node that is not fused, on blocked operands.
  void place_blocked(NodeId id, Group group) {
    want_all(id, Layout::Blocked);
    plan_.intakes[id] = Intake::Blocked;
    group.blocked = true;
    start(id, group);
  }
  void place_conv(NodeId id);
  void place_batch_norm(NodeId id);
  void place_pool(NodeId id, bool global);
  bool join_hard_swish(NodeId id);
  void place_activation(NodeId id);
  bool join_sum(NodeId id);
  bool join_channel_constant(NodeId id);
  bool join_product(NodeId id);
  bool all_blocked_alike(NodeId id) const;
  bool concat_stays_blocked(NodeId id) const;
  void place_arithmetic(NodeId id);
  void place_product(NodeId id);
  void place_layer_norm(NodeId id);
  void place_cluster(NodeId id);
  bool join_quick_gelu(NodeId id);

  bool has_channels(ValueId value, int64_t multiple) const {
    const TensorType& type = graph_.type(value);
    return type.dtype == DType::Float && type.shape && type.rank() == 4 && (*type.shape)[1].is_const() &&
           (*type.shape)[1].value() % multiple == 0;
  }
  bool per_channel(ValueId constant, ValueId value) const;

  void collect_reorders();
  void collect_groups();

  const Graph& graph_;
  const OrtPatterns& patterns_;
  const int64_t block_;
  std::vector<uint32_t> group_of_;
  std::vector<Group> groups_;
  std::vector<uint8_t> wants_;                         // by value: 1 plain, 2 blocked
  std::vector<std::pair<uint32_t, NodeId>> absorbed_;  // group, and a node that it performs when it reads
  std::vector<uint32_t> cluster_groups_;
  KernelPlan plan_;
};

void OrtPlanning::place(NodeId id) {
  if (patterns_.absorbed(id) || group_of_[id] != kNone)
    return;  // the reader or the producer of its operand performs it
  if (patterns_.cluster(id) != kNone) return place_cluster(id);
  switch (kind(id)) {
    case Kind::Identity: {  // it is removed; its result has the layout of its operand
      const ValueId from = operand(id, 0);
      plan_.layouts[graph_.node(id).result()] = plan_.layouts[from];
      return;
    }
    case Kind::Conv:
      return place_conv(id);
    case Kind::BatchNorm:
      return place_batch_norm(id);
    case Kind::Pool:
      return place_pool(id, false);
    case Kind::GlobalPool:
      return place_pool(id, true);
    case Kind::Concat:
      return concat_stays_blocked(id) ? place_blocked(id, {}) : place_plain(id);
    case Kind::Add:
    case Kind::Sum:
    case Kind::Mul:
    case Kind::Div:
      return place_arithmetic(id);
    case Kind::Relu:
    case Kind::Sigmoid:
    case Kind::Tanh:
    case Kind::HardSigmoid:
    case Kind::HardSwish:
    case Kind::LeakyRelu:
    case Kind::Clip:
    case Kind::Elu:
    case Kind::Softplus:
      return place_activation(id);
    case Kind::MatMul:
    case Kind::Gemm:
      return place_product(id);
    case Kind::LayerNorm:
      return place_layer_norm(id);
    default:
      return place_plain(id);
  }
}

/// Decides which convolutions are blocked: nchwc_transformer.cc, TransformConv.
void OrtPlanning::place_conv(NodeId id) {
  const Node& node = graph_.node(id);
  const auto operands = graph_.operands(node);
  const TensorType& w = graph_.type(operands[1]);
  const bool fixed = weight(operands[1]) && (operands.size() < 3 || operands[2] == kNoValue || weight(operands[2])) &&
                     w.dtype == DType::Float && w.rank() == 4 && (*w.shape)[0].is_const() && (*w.shape)[1].is_const();
  if (block_ == 0 || !fixed) {
    start(id, {.base = Group::Conv});
    for (const ValueId value : operands)
      if (value != kNoValue && !weight(value)) take(id, value, Layout::Plain);
    return;
  }
  const int64_t out = (*w.shape)[0].value(), in = (*w.shape)[1].value(), groups = node.attrs.integer("group");
  constexpr int64_t kAlignment = 4;
  bool blocked = true, direct = false;
  if (groups > 1) {
    const bool depthwise = in == 1 && out == groups;
    blocked = depthwise ? out % kAlignment == 0 : in % block_ == 0 && out % groups == 0 && (out / groups) % block_ == 0;
  } else {
    direct = in < block_;
    blocked = direct || in % kAlignment == 0;
  }
  start(id, {.base = Group::Conv, .blocked = blocked});
  take(id, operands[0], blocked && !direct ? Layout::Blocked : Layout::Plain);
}

/// It is folded into the convolution before it. Between blocked values it is a convolution of its own.
void OrtPlanning::place_batch_norm(NodeId id) {
  const auto operands = graph_.operands(graph_.node(id));
  const bool fixed = std::all_of(operands.begin() + 1, operands.end(), [&](ValueId v) { return weight(v); }) &&
                     graph_.node(id).num_results == 1;
  Group* group = open_group(operands[0]);
  if (fixed && group != nullptr && group->base == Group::Conv && !group->added && !group->activated)
    return join(id, operands[0]);
  if (fixed && is_blocked(operands[0])) return place_blocked(id, {.base = Group::Conv});
  place_plain(id);
}

void OrtPlanning::place_pool(NodeId id, bool global) {
  const ValueId x = operand(id, 0);
  const bool fits = block_ != 0 && graph_.node(id).num_results == 1 && has_channels(x, block_);
  const bool blocked = fits && (!global || is_blocked(x));
  if (global && fits) plan_.intakes[id] = blocked ? Intake::Blocked : Intake::Plain;
  start(id, {.blocked = blocked});
  take(id, x, blocked ? Layout::Blocked : Layout::Plain);
}

/// x * hard sigmoid(x) is an activation that a convolution absorbs.
bool OrtPlanning::join_hard_swish(NodeId id) {
  const ValueId x = operand(id, 0);
  if (graph_.type(x).shape == std::nullopt || graph_.consumers(x).size() != 2 || weight(x)) return false;
  const uint32_t index = group_of_[graph_.producer(x)];
  const NodeId product = patterns_.reader(id);
  if (index == kNone || product == kNone || kind(product) != Kind::Mul || patterns_.returned(x)) return false;
  const auto factors = graph_.operands(graph_.node(product));
  Group& group = groups_[index];
  if (factors[0] != x && factors[1] != x) return false;
  if (group.base != Group::Conv || group.added || group.activated) return false;
  group.activated = true;
  join(id, x);
  join(product, x);  // before its turn
  return true;
}

void OrtPlanning::place_activation(NodeId id) {
  const ValueId x = operand(id, 0);
  const Kind which = kind(id);
  if (which == Kind::HardSigmoid && join_hard_swish(id)) return;
  Group* group = open_group(x);
  const bool on_blocked =
      which == Kind::Relu || which == Kind::Sigmoid || which == Kind::Tanh || which == Kind::HardSigmoid;
  const bool fused_in_conv = on_blocked || which == Kind::LeakyRelu || which == Kind::Clip;
  const bool fused_in_product = which != Kind::Clip && which != Kind::HardSwish;
  const bool joins = group != nullptr && !group->activated &&
                     ((group->base == Group::Conv && (group->added ? on_blocked : fused_in_conv)) ||
                      (group->base == Group::Product && group->added && !group->scaled && fused_in_product));
  if (joins) {
    group->activated = true;
    return join(id, x);
  }
  if (is_blocked(x) && (on_blocked || which == Kind::HardSwish)) return place_blocked(id, {});
  place_plain(id);
}

bool OrtPlanning::all_blocked_alike(NodeId id) const {
  const auto operands = graph_.operands(graph_.node(id));
  const TensorType& first = graph_.type(operands[0]);
  return std::all_of(operands.begin(), operands.end(),
                     [&](ValueId v) { return is_blocked(v) && (graph_.type(v) == first); });
}

bool OrtPlanning::concat_stays_blocked(NodeId id) const {
  const auto operands = graph_.operands(graph_.node(id));
  const int64_t axis = graph_.node(id).attrs.integer("axis");
  return block_ != 0 && (axis == 1 || axis == -3) && std::all_of(operands.begin(), operands.end(), [&](ValueId v) {
           return is_blocked(v) && has_channels(v, block_);
         });
}

/// Returns whether a constant has one element for each channel of a value ([C,1,1], [1,C,1,1]).
bool OrtPlanning::per_channel(ValueId constant, ValueId value) const {
  const TensorType &a = graph_.type(constant), &b = graph_.type(value);
  if (!weight(constant) || !a.shape || !b.shape || b.rank() != 4 || a.rank() < 3 || a.rank() > 4) return false;
  const auto from_end = [](const TensorType& type, size_t i) { return (*type.shape)[type.rank() - i]; };
  return from_end(a, 1).is(1) && from_end(a, 2).is(1) && from_end(a, 3) == from_end(b, 3) &&
         (a.rank() == 3 || from_end(a, 4).is(1));
}

/// A residual sum of blocked values is performed by a convolution that makes one of them.
bool OrtPlanning::join_sum(NodeId id) {
  const auto operands = graph_.operands(graph_.node(id));
  if (operands.size() != 2 || operands[0] == operands[1]) return false;
  for (size_t i = 0; i < 2; ++i) {
    Group* group = open_group(operands[i]);
    if (group == nullptr || group->base != Group::Conv || group->added || group->activated) continue;
    group->added = true;
    want(operands[1 - i], Layout::Blocked);
    plan_.intakes[id] = Intake::Blocked;
    join(id, operands[i]);
    return true;
  }
  return false;
}

/// Addition of and multiplication by a constant for each channel are folded into the convolution's weights.
bool OrtPlanning::join_channel_constant(NodeId id) {
  const auto operands = graph_.operands(graph_.node(id));
  if (operands.size() != 2 || kind(id) == Kind::Div) return false;
  for (size_t i = 0; i < 2; ++i) {
    if (!per_channel(operands[1 - i], operands[i])) continue;
    const Group* group = open_group(operands[i]);
    if (group == nullptr || group->base != Group::Conv || group->added || group->activated) continue;
    join(id, operands[i]);
    return true;
  }
  return false;
}

/// MatMul + Add = Gemm. A product times a constant is a product with a scale.
bool OrtPlanning::join_product(NodeId id) {
  const auto operands = graph_.operands(graph_.node(id));
  if (operands.size() != 2 || operands[0] == operands[1]) return false;
  for (size_t i = 2; i-- > 0;) {
    Group* group = open_group(operands[i]);
    if (group == nullptr || group->base != Group::Product || group->added || group->activated || group->scaled)
      continue;
    const ValueId other = operands[1 - i];
    if (kind(id) == Kind::Add) {
      if (!group->biasable || graph_.type(operands[i]) != graph_.type(graph_.node(id).result())) continue;
      group->added = true;
      if (!weight(other)) want(other, Layout::Plain);
    } else {
      const bool scales = kind(id) == Kind::Mul || i == 0;
      if (!scales || !patterns_.scalar(other)) continue;
      group->scaled = true;
    }
    join(id, operands[i]);
    return true;
  }
  return false;
}

void OrtPlanning::place_arithmetic(NodeId id) {
  const Kind which = kind(id);
  const bool sum = which == Kind::Add || which == Kind::Sum;
  if (which == Kind::Mul && join_quick_gelu(id)) return;
  if (which != Kind::Div && all_blocked_alike(id)) {
    if (sum && join_sum(id)) return;
    return place_blocked(id, {});
  }
  if (which != Kind::Sum && (join_channel_constant(id) || join_product(id))) return;
  place_plain(id);
}

void OrtPlanning::place_product(NodeId id) {
  const auto operands = graph_.operands(graph_.node(id));
  start(id, {.base = Group::Product, .added = kind(id) == Kind::Gemm, .biasable = patterns_.takes_bias(id)});
  for (const ValueId value : operands)
    if (value != kNoValue && !weight(value)) take(id, value, Layout::Plain);
}

/// A sum of values of rank 3 that only a LayerNormalization reads is performed by it.
void OrtPlanning::place_layer_norm(NodeId id) {
  const ValueId x = operand(id, 0);
  const Group* group = open_group(x);
  const NodeId producer = graph_.producer(x);
  if (group != nullptr && group->base == Group::Plain && kind(producer) == Kind::Add && graph_.type(x).rank() == 3 &&
      !is_blocked(x))
    return join(id, x);
  place_plain(id);
}

/// All nodes of a cluster are one kernel.
void OrtPlanning::place_cluster(NodeId id) {
  want_all(id, Layout::Plain);
  uint32_t& group = cluster_groups_[patterns_.cluster(id)];
  if (group == kNone) {
    start(id);
    group = group_of_[id];
  } else {
    group_of_[id] = group;
  }
}

/// x * sigmoid(x) is one kernel if nothing else reads the sigmoid.
bool OrtPlanning::join_quick_gelu(NodeId id) {
  const auto operands = graph_.operands(graph_.node(id));
  for (size_t i = 0; i < 2; ++i) {
    const NodeId producer = graph_.producer(operands[i]);
    const Group* group = open_group(operands[i]);
    if (group == nullptr || group->base != Group::Plain || kind(producer) != Kind::Sigmoid) continue;
    if (operand(producer, 0) != operands[1 - i]) continue;
    if (group->blocked) plan_.intakes[id] = Intake::Blocked;
    join(id, operands[i]);
    return true;
  }
  return false;
}

void OrtPlanning::collect_reorders() {
  for (ValueId value = 0; value < wants_.size(); ++value) {
    const Layout other = is_blocked(value) ? Layout::Plain : Layout::Blocked;
    if ((wants_[value] & (other == Layout::Blocked ? 2 : 1)) != 0) plan_.reorders.push_back({value, other});
  }
}

void OrtPlanning::collect_groups() {
  plan_.begins.assign(groups_.size() + 1, 0);
  const auto each = [&](const auto& visit) {
    for (NodeId id = 0; id < group_of_.size(); ++id)
      if (group_of_[id] != kNone) visit(group_of_[id], id);
    for (const auto& [group, id] : absorbed_) visit(group, id);
  };
  each([&](uint32_t group, NodeId) { ++plan_.begins[group + 1]; });
  for (size_t i = 1; i < plan_.begins.size(); ++i) plan_.begins[i] += plan_.begins[i - 1];
  plan_.nodes.resize(plan_.begins.back());
  std::vector<uint32_t> next(plan_.begins.begin(), plan_.begins.end() - 1);
  each([&](uint32_t group, NodeId id) { plan_.nodes[next[group]++] = id; });
  if (absorbed_.empty()) return;
  for (const auto& absorbed : absorbed_) {
    const uint32_t group = absorbed.first;
    const auto first = plan_.nodes.begin() + plan_.begins[group], last = plan_.nodes.begin() + plan_.begins[group + 1];
    std::sort(first, last);
  }
}

}  // namespace

OrtPlanner::OrtPlanner(int64_t block) : block_(block) {
  for (const auto& [name, kind] : kKinds) kinds_.emplace(find_op(name), kind);
}

Result<KernelPlan> OrtPlanner::plan(const Graph& graph, const Boundary& boundary, const Decisions& /*decisions*/,
                                    const Deadline& /*deadline*/) const {
  KernelPlan plan = OrtPlanning(OrtPatterns(graph, kinds_), block_).run(boundary);
  plan.block = std::max<int64_t>(block_, 1);
  return plan;
}

int64_t ort_block_channels() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("flags")) continue;
    if (line.find(" avx512f") != std::string::npos) return 16;
    return line.find(" avx ") != std::string::npos ? 8 : 0;
  }
  return 0;
}

}  // namespace isomer
