#include "isomer/cost/live_memory.h"

#include <algorithm>
#include <unordered_map>

#include "isomer/cost/node_work.h"

namespace isomer {
namespace {

/// Values that share one piece of memory, and the nodes (as times) between which they are live.
class Lives {
 public:
  Lives(const Graph& graph, const KernelPlan& plan, std::span<const double> bytes, bool part)
      : graph_(graph), plan_(plan), bytes_(bytes.begin(), bytes.end()), part_(part) {
    const size_t values = graph.num_values();
    for (ValueId value = 0; value < values; ++value)
      if (plan.layouts[value] == Layout::Blocked) bytes_[value] *= padding(value);
    home_.assign(values, kNoValue);
    overwritten_.assign(values, kNoValue);
    first_.assign(values, kNever);
    last_.assign(values, 0);
    ends_.assign(graph.nodes().size(), kNoKernel);
    inner_.assign(graph.nodes().size(), false);
    for (size_t k = 0; k < plan.size(); ++k) {
      for (const NodeId id : plan.kernel(k)) inner_[id] = true;
      ends_[plan.kernel(k).back()] = static_cast<uint32_t>(k);
    }
  }

  /// `plain`: bytes by value, without paddings.
  double peak(std::span<const double> plain) {
    live(plain);
    return peak().second;
  }

  LivePeak what_is_live(std::span<const double> plain) {
    live(plain);
    const auto [time, most] = peak();
    LivePeak out{most, time, home_, std::vector<double>(home_.size(), 0)};
    for (ValueId value = 0; value < home_.size(); ++value)
      if (home_[value] == value && first_[value] < time && last_[value] > time) out.waiting[value] = bytes_[value];
    for (const Use& use : uses_)
      if (use.time == time) out.waiting[use.home] = 0;
    return out;
  }

 private:
  struct Use {
    ValueId home;
    NodeId time;
  };

  void live(std::span<const double> plain) {
    claim_parts();
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) place(id);
    const auto end = static_cast<NodeId>(graph_.nodes().size());
    for (const ValueId output : graph_.outputs()) touch(output, end);
    overwrite();
    if (plan_.copies_outputs && !part_) give_outputs(plain);
  }

  static constexpr uint32_t kNoKernel = UINT32_MAX;
  static constexpr NodeId kNever = UINT32_MAX;

  /// Returns the size of a value in whole blocks of channels, relative to its own size.
  double padding(ValueId value) const {
    const auto& shape = graph_.type(value).shape;
    if (!shape || shape->size() < 2 || !(*shape)[1].is_const() || (*shape)[1].value() < 1) return 1;
    const int64_t channels = (*shape)[1].value();
    const int64_t blocks = (channels + plan_.block - 1) / plan_.block;
    return static_cast<double>(blocks * plan_.block) / static_cast<double>(channels);
  }

  bool joins_in_place(NodeId id) const {
    const Node& node = graph_.node(id);
    return !inner_[id] && node.op->has(Trait::Concatenation) && node.num_operands > 1;
  }
  bool computed(ValueId value) const {
    return value != kNoValue && !graph_.is_constant_derived(value) && !graph_.producer_node(value).is_input();
  }

  /// Places the operands of concatenations. If a value is an operand of several concatenations, the last one owns it. A
  /// concatenation that begins with all operands of another begins with that one's result.
  void claim_parts() {
    struct Join {
      ValueId result;
      std::vector<ValueId> operands;
    };
    std::vector<Join> joins;
    std::unordered_map<ValueId, std::span<const ValueId>> known;  // the operands of the last one, by the first of them
    std::unordered_map<ValueId, ValueId> results;                 // likewise
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
      const Node& node = graph_.node(id);
      if (!joins_in_place(id) || graph_.is_constant_derived(node.result())) continue;
      const auto operands = graph_.operands(node);
      Join join{node.result(), {operands.begin(), operands.end()}};
      const auto before = known.find(operands[0]);
      if (before != known.end() && before->second.size() < operands.size() &&
          std::ranges::equal(before->second, operands.first(before->second.size()))) {
        join.operands.erase(join.operands.begin(),
                            join.operands.begin() + static_cast<ptrdiff_t>(before->second.size()));
        join.operands.insert(join.operands.begin(), results[operands[0]]);
      }
      known[operands[0]] = operands;
      results[operands[0]] = node.result();
      joins.push_back(std::move(join));
    }
    std::ranges::reverse(joins);
    for (const Join& join : joins) {
      if (home_[join.result] == kNoValue) home_[join.result] = join.result;
      for (const ValueId operand : join.operands) {
        const bool as_made = operand != kNoValue && plan_.layouts[operand] == plan_.layouts[join.result];
        if (!as_made || !computed(operand) || home_[operand] != kNoValue) continue;
        const NodeId maker = graph_.producer(operand);
        if (ends_[maker] != kNoKernel || joins_in_place(maker)) home_[operand] = home_[join.result];
      }
    }
  }

  void touch(ValueId value, NodeId time) {
    const ValueId home = value == kNoValue ? kNoValue : home_[value];
    if (home == kNoValue) return;
    first_[home] = std::min(first_[home], time);
    last_[home] = std::max(last_[home], time);
    uses_.push_back({home, time});
  }

  void place(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.is_input()) return place_input(id);
    if (node.num_results > 0 && graph_.is_constant_derived(node.result())) return;
    const auto operands = graph_.operands(node);
    if (joins_in_place(id)) {
      for (const ValueId operand : operands) touch(operand, id);
      return touch(node.result(), id);
    }
    if (ends_[id] == kNoKernel) {  // a view, by itself or performed by a kernel; or a value within a kernel
      const bool view = !inner_[id] || is_view(node) || moves_elements(node);
      for (uint32_t i = 0; i < node.num_results; ++i)
        if (view && !operands.empty() && operands[0] != kNoValue) home_[node.result(i)] = home_[operands[0]];
      return;
    }
    const auto nodes = plan_.kernel(ends_[id]);
    for (const NodeId inner : nodes)
      for (const ValueId operand : graph_.operands(graph_.node(inner))) touch(operand, id);
    for (uint32_t i = 0; i < node.num_results; ++i) {
      if (home_[node.result(i)] == kNoValue) home_[node.result(i)] = node.result(i);
      touch(node.result(i), id);
    }
  }

  /// Whether products can perform the node while they read its operand.
  static bool moves_elements(const Node& node) { return node.op->has(Trait::Permutation) || node.op->has(Trait::Cut); }

  void place_input(NodeId id) {
    const ValueId value = graph_.node(id).result();
    const bool copied =
        std::ranges::any_of(plan_.reorders, [&](const auto& reorder) { return reorder.value == value; });
    if (!part_) caller_ += bytes_[value];
    if (part_ || copied) home_[value] = value;
    if (part_) touch(value, 0);
  }

  /// The caller gets outputs in tensors of its own: copies, except of those that are row-major and alone in their
  /// memory.
  void give_outputs(std::span<const double> plain) {
    for (const ValueId output : graph_.outputs()) {
      caller_ += plain[output];
      ValueId home = home_[output];
      if (home == kNoValue || plan_.layouts[output] != Layout::Plain || bytes_[home] != plain[output]) continue;
      for (; home != kNoValue; home = overwritten_[home]) bytes_[home] = 0;
    }
  }

  /// Ends the life of a value when a kernel overwrites it with its result.
  void overwrite() {
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
      if (ends_[id] == kNoKernel) continue;
      const Node& last = graph_.node(id);
      const ValueId result = last.num_results == 1 ? last.result() : kNoValue;
      if (result == kNoValue || home_[result] != result) continue;
      if (const ValueId over = overwritten(id, result); over != kNoValue) {
        --last_[over];
        overwritten_[result] = over;
      }
    }
  }

  ValueId overwritten(NodeId end, ValueId result) const {
    for (const NodeId id : plan_.kernel(ends_[end])) {
      const Node& node = graph_.node(id);
      if (!works_in_place(node)) continue;
      for (const ValueId operand : graph_.operands(node)) {
        const ValueId home = operand == kNoValue ? kNoValue : home_[operand];
        if (home != kNoValue && home != result && last_[home] == end && first_[home] < end &&
            bytes_[home] == bytes_[result])
          return home;
      }
    }
    return kNoValue;
  }

  /// Returns the time when the most is live, and how many bytes.
  std::pair<NodeId, double> peak() const {
    std::vector<double> change(graph_.nodes().size() + 2, 0);
    for (ValueId value = 0; value < home_.size(); ++value) {
      if (home_[value] != value || first_[value] == kNever) continue;
      change[first_[value]] += bytes_[value];
      change[last_[value] + 1] -= bytes_[value];
    }
    double live = caller_;
    std::pair<NodeId, double> peak{0, live};
    for (NodeId time = 0; time < change.size(); ++time) {
      live += change[time];
      if (live > peak.second) peak = {time, live};
    }
    return peak;
  }

  const Graph& graph_;
  const KernelPlan& plan_;
  std::vector<double> bytes_;  // by value, in its original layout
  const bool part_;
  double caller_ = 0;                 // bytes that the caller holds
  std::vector<ValueId> home_;         // by value: the value whose memory it is in; none within kernels
  std::vector<ValueId> overwritten_;  // by home: the value in whose memory a kernel made it
  std::vector<NodeId> first_;         // by home: the first kernel that accesses it
  std::vector<NodeId> last_;          // likewise
  std::vector<Use> uses_;
  std::vector<uint32_t> ends_;  // by node: the kernel whose last node it is
  std::vector<bool> inner_;     // by node: whether a kernel runs it
};

}  // namespace

double live_bytes(const Graph& graph, const KernelPlan& plan, std::span<const double> bytes, bool part) {
  return Lives(graph, plan, bytes, part).peak(bytes);
}

LivePeak live_peak(const Graph& graph, const KernelPlan& plan, std::span<const double> bytes) {
  return Lives(graph, plan, bytes, false).what_is_live(bytes);
}

}  // namespace isomer
