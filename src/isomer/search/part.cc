#include "isomer/search/part.h"

#include <algorithm>
#include <cassert>
#include <unordered_map>

#include "isomer/ir/builder.h"

namespace isomer {
namespace {

/// Copies nodes of `from` into a builder and records the new values in `made`.
ValueId copy_node(GraphBuilder& builder, const Graph& from, const Node& node, std::vector<ValueId>& made) {
  std::vector<ValueId> operands;
  for (const ValueId operand : from.operands(node)) operands.push_back(operand == kNoValue ? kNoValue : made[operand]);
  const auto id = builder.copy(from, node, operands);
  assert(id.has_value());  // the copy has the same types
  for (uint32_t r = 0; r < node.num_results; ++r) {
    made[node.result(r)] = builder.at(*id).result(r);
    builder.set_origin(made[node.result(r)], from.origin(node.result(r)));
  }
  return *id;
}

/// Adds the decisions about values of one graph for their copies in another.
void copy_decisions(const Candidate& from, std::span<const ValueId> made, Decisions& to) {
  const auto copy_of = [&](ValueId value) {
    return made[value] == kNoValue ? std::nullopt : std::optional(made[value]);
  };
  add_decisions(from.decisions, copy_of, to);
}

/// Rebuilds the whole graph from its outputs. A unit (a node, or a replaced part) is built after everything that it
/// reads.
class Splicer {
 public:
  Splicer(const Candidate& whole, std::span<const Replacement> replacements)
      : candidate_(whole),
        whole_(whole.graph),
        replacements_(replacements),
        builder_(whole_.name_table()),
        made_(whole_.num_values(), kNoValue) {
    for (size_t i = 0; i < replacements.size(); ++i)
      for (const ValueId output : replacements[i].part->outputs) replaced_by_[output] = i;
  }

  Spliced run() {
    for (const ValueId input : whole_.inputs()) made_[input] = builder_.input_like(whole_, input);
    std::vector<ValueId> outputs;
    for (const ValueId output : whole_.outputs()) {
      make(output);
      outputs.push_back(made_[output]);
    }
    Spliced out;
    for (const ValueId value : made_)
      out.value_hashes.push_back(value == kNoValue ? 0 : builder_.peek().value_hash(value));
    std::vector<ValueId> kept = made_;
    for (const auto& [value, replacement] : replaced_by_) kept[value] = kNoValue;
    copy_decisions(candidate_, kept, decisions_);
    static_cast<Candidate&>(out) = finish(builder_, outputs, decisions_);
    return out;
  }

 private:
  void make(ValueId wanted) {
    std::vector<std::pair<ValueId, bool>> stack{{wanted, false}};
    while (!stack.empty()) {
      const auto [value, ready] = stack.back();
      stack.pop_back();
      if (made_[value] != kNoValue) continue;
      const auto part = replaced_by_.find(value);
      if (ready && part != replaced_by_.end()) {
        insert(replacements_[part->second]);
      } else if (ready) {
        copy_node(builder_, whole_, whole_.producer_node(value), made_);
      } else {
        stack.emplace_back(value, true);
        const std::span<const ValueId> needs = part != replaced_by_.end()
                                                   ? std::span<const ValueId>(replacements_[part->second].part->inputs)
                                                   : whole_.operands(whole_.producer_node(value));
        for (const ValueId need : needs)
          if (need != kNoValue && made_[need] == kNoValue) stack.emplace_back(need, false);
      }
    }
  }

  void insert(const Replacement& replacement) {
    const Graph& graph = replacement.candidate->graph;
    std::vector<ValueId> made(graph.num_values(), kNoValue);
    for (size_t i = 0; i < graph.inputs().size(); ++i) made[graph.inputs()[i]] = made_[replacement.part->inputs[i]];
    for (const Node& node : graph.nodes())
      if (!node.is_input()) copy_node(builder_, graph, node, made);
    std::vector<ValueId> copies = made;
    for (const ValueId input : graph.inputs()) copies[input] = kNoValue;
    copy_decisions(*replacement.candidate, copies, decisions_);
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      const ValueId old = replacement.part->outputs[i];
      made_[old] = made[graph.outputs()[i]];
      builder_.set_origin(made_[old], whole_.origin(old));
    }
  }

  const Candidate& candidate_;
  const Graph& whole_;
  const std::span<const Replacement> replacements_;
  GraphBuilder builder_;
  Decisions decisions_;                              // about values of the builder
  std::vector<ValueId> made_;                        // by value of the whole graph
  std::unordered_map<ValueId, size_t> replaced_by_;  // for lookup only
};

}  // namespace

std::vector<NodeId> run_time_nodes(const Graph& graph) {
  std::vector<NodeId> out;
  for (NodeId id = 0; id < graph.nodes().size(); ++id)
    if (graph.runs(graph.node(id))) out.push_back(id);
  return out;
}

std::vector<NodeId> convex_hull(const Graph& graph, std::span<const NodeId> nodes) {
  const size_t n = graph.nodes().size();
  std::vector<bool> below(n, false);  // in the set, or after a node of it
  std::vector<bool> above(n, false);  // in the set, or before a node of it
  for (const NodeId id : nodes) below[id] = above[id] = true;
  for (NodeId id = 0; id < n; ++id)
    for (const ValueId operand : graph.operands(graph.node(id)))
      if (operand != kNoValue && below[graph.producer(operand)]) below[id] = true;
  for (NodeId id = static_cast<NodeId>(n); id-- > 0;)
    if (above[id])
      for (const ValueId operand : graph.operands(graph.node(id)))
        if (operand != kNoValue) above[graph.producer(operand)] = true;
  std::vector<NodeId> hull;
  for (NodeId id = 0; id < n; ++id)
    if (below[id] && above[id]) hull.push_back(id);
  return hull;
}

Part extract_part(const Candidate& candidate, std::span<const NodeId> nodes) {
  const Graph& whole = candidate.graph;
  Part part;
  GraphBuilder builder(whole.name_table());
  std::vector<ValueId> made(whole.num_values(), kNoValue);
  std::vector<bool> inside(whole.nodes().size(), false);
  for (const NodeId id : nodes) inside[id] = true;
  for (const NodeId id : nodes) {
    for (const ValueId operand : whole.operands(whole.node(id))) {
      if (operand == kNoValue || made[operand] != kNoValue || whole.is_constant_derived(operand)) continue;
      if (inside[whole.producer(operand)]) continue;
      made[operand] = builder.input_like(whole, operand);
      part.inputs.push_back(operand);
    }
  }
  // Weights have lower ids than their readers, so one pass finds all of them.
  std::vector<bool> wanted = inside;
  for (NodeId id = static_cast<NodeId>(whole.nodes().size()); id-- > 0;)
    if (wanted[id])
      for (const ValueId operand : whole.operands(whole.node(id)))
        if (operand != kNoValue && whole.is_constant_derived(operand)) wanted[whole.producer(operand)] = true;
  for (NodeId id = 0; id < whole.nodes().size(); ++id)
    if (wanted[id]) copy_node(builder, whole, whole.node(id), made);

  std::vector<ValueId> results;
  for (const NodeId id : nodes) {
    for (uint32_t r = 0; r < whole.node(id).num_results; ++r) {
      const ValueId value = whole.node(id).result(r);
      const auto consumers = whole.consumers(value);
      const bool read = std::any_of(consumers.begin(), consumers.end(), [&](NodeId reader) { return !inside[reader]; });
      if (!read && !whole.is_output(value)) continue;
      part.outputs.push_back(value);
      results.push_back(made[value]);
    }
  }
  for (const ValueId input : part.inputs) made[input] = kNoValue;
  Decisions decisions;
  copy_decisions(candidate, made, decisions);
  static_cast<Candidate&>(part) = finish(builder, results, decisions);
  return part;
}

double live_beside(const Graph& whole, std::span<const NodeId> nodes, std::span<const double> bytes) {
  const size_t n = whole.nodes().size();
  std::vector<bool> inside(n, false);
  for (const NodeId id : nodes) inside[id] = true;
  std::vector<double> change(n + 1, 0);  // of the live bytes, from one node to the next
  for (ValueId value = 0; value < whole.num_values(); ++value) {
    if (whole.is_constant_derived(value) || inside[whole.producer(value)]) continue;
    const auto readers = whole.consumers(value);
    size_t birth = whole.node(whole.producer(value)).is_input() ? 0 : whole.producer(value);
    for (const NodeId reader : readers)
      if (inside[reader]) birth = reader + 1;  // until then, the part counts them
    const size_t end = whole.is_output(value) ? n : readers.empty() ? birth + 1 : readers.back() + 1;
    if (birth >= end) continue;
    change[birth] += bytes[value];
    change[end] -= bytes[value];
  }
  double live = 0;
  double peak = 0;
  for (NodeId id = 0; id < n; ++id) {
    live += change[id];
    if (inside[id]) peak = std::max(peak, live);
  }
  return peak;
}

Spliced splice(const Candidate& whole, std::span<const Replacement> replacements) {
  return Splicer(whole, replacements).run();
}

}  // namespace isomer
