#include "isomer/plan/recomputation.h"

#include <algorithm>
#include <cassert>
#include <unordered_map>

#include "isomer/ops/again.h"

namespace isomer {
namespace {

class Recomputer {
 public:
  explicit Recomputer(const Candidate& candidate)
      : candidate_(candidate),
        graph_(candidate.graph),
        builder_(graph_.name_table()),
        late_(second_computations(candidate)),
        made_(graph_.num_values(), kNoValue),
        second_(graph_.num_values(), kNoValue) {}

  Recomputed run() {
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
      const Node& node = graph_.node(id);
      place_ = id;
      if (node.is_input()) {
        made_[node.result()] = builder_.input_like(graph_, node.result());
        note(builder_.peek().producer(made_[node.result()]), node);
        continue;
      }
      std::vector<ValueId> operands;
      for (const ValueId operand : graph_.operands(node))
        operands.push_back(operand != kNoValue && is_late(operand) ? second(operand) : image(operand));
      const Node& copy = builder_.at(copied(node, operands));
      for (uint32_t r = 0; r < node.num_results; ++r) {
        made_[node.result(r)] = copy.result(r);
        builder_.set_origin(copy.result(r), graph_.origin(node.result(r)));
      }
    }
    std::vector<ValueId> outputs;
    for (const ValueId output : graph_.outputs()) outputs.push_back(made_[output]);
    return finished(outputs);
  }

 private:
  bool is_late(ValueId value) const { return late_[value] <= place_; }
  ValueId image(ValueId value) const { return value == kNoValue ? kNoValue : made_[value]; }

  NodeId copied(const Node& node, std::span<const ValueId> operands) {
    const auto copy = builder_.copy(graph_, node, operands);
    assert(copy.has_value());  // its operands have the same types
    note(*copy, node);
    return *copy;
  }

  /// Stores what a node of the builder is.
  void note(NodeId id, const Node& original) { known_.try_emplace(builder_.at(id).hash, number(original), place_); }
  NodeId number(const Node& node) const { return static_cast<NodeId>(&node - graph_.nodes().data()); }

  /// Returns the second computation of a value.
  ValueId second(ValueId wanted) {
    std::vector<std::pair<ValueId, bool>> stack{{wanted, false}};
    while (!stack.empty()) {
      const auto [value, ready] = stack.back();
      stack.pop_back();
      if (second_[value] != kNoValue) continue;
      const Node& node = graph_.producer_node(value);
      if (ready) {
        repeat(node);
        continue;
      }
      stack.emplace_back(value, true);
      for (const ValueId operand : graph_.operands(node))
        if (operand != kNoValue && is_late(operand)) stack.emplace_back(operand, false);
    }
    return second_[wanted];
  }

  void repeat(const Node& node) {
    std::vector<ValueId> operands;
    for (const ValueId operand : graph_.operands(node)) {
      if (operand == kNoValue || graph_.is_constant_derived(operand))
        operands.push_back(image(operand));
      else
        operands.push_back(is_late(operand) ? second_[operand] : again(operand));
    }
    const Node& copy = builder_.at(copied(node, operands));
    for (uint32_t r = 0; r < node.num_results; ++r) second_[node.result(r)] = copy.result(r);
  }

  ValueId again(ValueId value) {
    const auto view = builder_.add(again_op(), {}, {made_[value]});
    assert(view.has_value());  // it has any operand's type
    note(builder_.peek().producer(*view), graph_.producer_node(value));
    return *view;
  }

  Recomputed finished(std::span<const ValueId> outputs) {
    Decisions decisions;
    for (const auto* const computed : {&made_, &second_}) {
      const auto computed_as = [&](ValueId value) {
        return (*computed)[value] == kNoValue ? std::nullopt : std::optional((*computed)[value]);
      };
      add_decisions(candidate_.decisions, computed_as, decisions);
    }
    decisions.computations.clear();
    Recomputed out{isomer::finish(builder_, outputs, decisions), {}, {}};
    for (const Node& node : out.candidate.graph.nodes()) {
      const auto& [original, place] = known_.at(node.hash);
      out.nodes.push_back(original);
      out.positions.push_back(place);
    }
    return out;
  }

  const Candidate& candidate_;
  const Graph& graph_;
  GraphBuilder builder_;
  const std::vector<NodeId> late_;
  std::vector<ValueId> made_;                                           // by value: its first computation
  std::vector<ValueId> second_;                                         // by value
  NodeId place_ = 0;                                                    // the node of the graph that is copied
  std::unordered_map<uint64_t, std::pair<NodeId, NodeId>> known_ = {};  // by hash of a node: what it repeats, and where
};

}  // namespace

bool is_recomputable(const Graph& graph, ValueId value) {
  const Node& node = graph.producer_node(value);
  return graph.runs(node) && !node.is_opaque() && !graph.is_output(value) && !graph.consumers(value).empty();
}

std::vector<NodeId> second_computations(const Candidate& candidate) {
  const Graph& graph = candidate.graph;
  std::vector<NodeId> out(graph.num_values(), kNoPlace);
  // Values that are computed from others have higher ids.
  const auto& decided = candidate.decisions.computations;
  for (auto entry = decided.rbegin(); entry != decided.rend(); ++entry) {
    const auto [value, computation] = *entry;
    if (computation != Computation::Twice || !is_recomputable(graph, value)) continue;
    std::vector<NodeId> uses{graph.producer(value)};
    for (const NodeId reader : graph.consumers(value)) {
      uses.push_back(reader);
      const Node& node = graph.node(reader);
      for (uint32_t r = 0; r < node.num_results; ++r)
        if (out[node.result(r)] != kNoPlace) uses.push_back(out[node.result(r)]);
    }
    std::ranges::sort(uses);
    NodeId longest = 0;
    for (size_t i = 1; i < uses.size(); ++i) {
      if (uses[i] - uses[i - 1] < longest) continue;
      longest = uses[i] - uses[i - 1];
      out[value] = uses[i];
    }
    // All results of a node are computed again together.
    const Node& node = graph.producer_node(value);
    for (ValueId other = value + 1; other < node.first_result + node.num_results; ++other) {
      if (out[other] == kNoPlace) continue;
      out[value] = std::min(out[value], out[other]);
      out[other] = out[value];
    }
  }
  return out;
}

Recomputed with_recomputation(const Candidate& candidate) { return Recomputer(candidate).run(); }

}  // namespace isomer
