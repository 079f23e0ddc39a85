#include "isomer/certificate/replace.h"

#include <algorithm>

namespace isomer::replay {
namespace {

class Rebuild {
 public:
  Rebuild(const Graph& graph, std::span<const Replacement> replacements)
      : graph_(graph),
        replacements_(replacements),
        builder_(graph.name_table()),
        images_(graph.num_values(), kNoValue),
        replaced_(graph.num_values(), false),
        copied_(graph.nodes().size(), false),
        made_(replacements.size(), false) {}

  Result<Graph> run() {
    for (const Replacement& one : replacements_) {
      for (const ValueId root : one.roots) {
        if (replaced_[root]) return fail("{}: one of its values is replaced twice", one.title);
        replaced_[root] = true;
      }
    }
    for (const ValueId input : graph_.inputs()) {
      if (replaced_[input]) return fail("an input of the graph is replaced");
      images_[input] = builder_.input_like(graph_, input);
      copied_[graph_.producer(input)] = true;
    }
    // Every value is made as soon as everything that it reads exists. Values that never become ready form a cycle.
    for (bool progress = true; progress;) {
      ISOMER_TRY(progress, pass());
    }
    std::vector<ValueId> outputs;
    for (const ValueId output : graph_.outputs()) {
      if (images_[output] == kNoValue) return fail("the replacements depend on one another in a cycle");
      outputs.push_back(images_[output]);
    }
    return builder_.finish(outputs);
  }

 private:
  Result<bool> pass() {
    bool progress = false;
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
      if (copied_[id] || !ready(graph_.operands(graph_.node(id)))) continue;
      ISOMER_CHECK(copy(graph_.node(id)));
      copied_[id] = progress = true;
    }
    for (size_t i = 0; i < replacements_.size(); ++i) {
      if (made_[i] || !ready(replacements_[i].needs)) continue;
      if (auto status = make(replacements_[i]); !status) return fail_in(replacements_[i].title, status.error());
      made_[i] = progress = true;
    }
    return progress;
  }

  bool ready(std::span<const ValueId> values) const {
    return std::ranges::all_of(values, [&](ValueId value) { return value == kNoValue || images_[value] != kNoValue; });
  }

  Status copy(const Node& node) {
    bool wanted = false;
    for (uint32_t r = 0; r < node.num_results; ++r) wanted = wanted || !replaced_[node.result(r)];
    if (!wanted) return {};
    std::vector<ValueId> operands;
    for (const ValueId operand : graph_.operands(node))
      operands.push_back(operand == kNoValue ? kNoValue : images_[operand]);
    ISOMER_TRY(const NodeId id, builder_.copy(graph_, node, operands));
    for (uint32_t r = 0; r < node.num_results; ++r) {
      if (replaced_[node.result(r)]) continue;
      images_[node.result(r)] = builder_.at(id).result(r);
      builder_.set_origin(builder_.at(id).result(r), graph_.origin(node.result(r)));
    }
    return {};
  }

  Status make(const Replacement& one) {
    ISOMER_TRY(const std::vector<ValueId> made, one.make(builder_, images_));
    if (made.size() != one.roots.size()) return fail("{} values stand for {}", made.size(), one.roots.size());
    for (size_t i = 0; i < made.size(); ++i) {
      const TensorType& before = graph_.type(one.roots[i]);
      const TensorType& after = builder_.type(made[i]);
      const bool fits = !before.shape || after.rank() == before.rank();
      const bool refined = one.refines && after.dtype == before.dtype && fits;
      if (!(after == before) && !refined) return fail("it is {}, but it replaces {}", after.str(), before.str());
      images_[one.roots[i]] = made[i];
      builder_.set_origin(made[i], graph_.origin(one.roots[i]));
    }
    return {};
  }

  const Graph& graph_;
  const std::span<const Replacement> replacements_;
  GraphBuilder builder_;
  Images images_;
  std::vector<bool> replaced_;  // by value
  std::vector<bool> copied_;    // by node
  std::vector<bool> made_;      // by replacement
};

}  // namespace

Result<Graph> replace(const Graph& graph, std::span<const Replacement> replacements) {
  return Rebuild(graph, replacements).run();
}

}  // namespace isomer::replay
