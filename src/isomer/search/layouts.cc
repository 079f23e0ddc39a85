#include "isomer/search/layouts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "isomer/base/hash.h"
#include "isomer/search/min_sum.h"
#include "isomer/search/part.h"

namespace isomer {

namespace {

Layout layout_of(bool blocked) { return blocked ? Layout::Blocked : Layout::Plain; }

}  // namespace

/// The latency of one candidate as a sum of functions of its values' layouts. A variable that is true stands for
/// Blocked.
class LayoutSum {
 public:
  LayoutSum(const Candidate& candidate, const Boundary& boundary, LayoutChoice& choice)
      : candidate_(candidate), graph_(candidate.graph), boundary_(boundary), choice_(choice) {}

  Decisions run() {
    const auto groups = kernels();
    const auto planned = choice_.costs_.layouts(candidate_);
    if (!groups || !planned) return candidate_.decisions;
    planned_ = *planned;
    std::vector<Part> parts;
    for (const std::vector<NodeId>& group : *groups) parts.push_back(extract_part(candidate_, group));
    for (const Part& part : parts) leave_to_plan(part);
    for (const Part& part : parts) add_kernel(part);
    add_borders();
    const auto blocked = min_sum(factors_, values_.size());
    Decisions out = candidate_.decisions;
    for (size_t i = 0; blocked && i < values_.size(); ++i) out.layouts[values_[i]] = layout_of((*blocked)[i]);
    return out;
  }

 private:
  /// Returns the nodes of each kernel; those in none, such as views, count as one each.
  Result<std::vector<std::vector<NodeId>>> kernels() const {
    ISOMER_TRY(const std::vector<PlannedKernel> planned, choice_.costs_.kernels(candidate_));
    std::vector<std::vector<NodeId>> groups;
    std::vector<bool> seen(graph_.nodes().size(), false);
    for (const PlannedKernel& kernel : planned) {
      if (kernel.reorder) continue;
      groups.push_back(kernel.nodes);
      for (const NodeId id : kernel.nodes) seen[id] = true;
    }
    for (const NodeId id : run_time_nodes(graph_))
      if (!seen[id]) groups.push_back({id});
    return groups;
  }

  /// Returns whether a value is computed, can be in either layout, and is not decided.
  bool varies(ValueId value) const {
    const TensorType& type = graph_.type(value);
    if (graph_.producer_node(value).is_input() || type.dtype != DType::Float || !type.shape ||
        graph_.is_constant_derived(value))
      return false;
    const Shape& extents = *type.shape;
    if (extents.size() < 3 || extents.size() > 5 || !extents[1].is_const() || extents[1].value() <= 0) return false;
    return std::ranges::any_of(choice_.blocks_, [&](int64_t block) { return extents[1].value() % block == 0; }) &&
           !candidate_.decisions.layout(value) && !left_.contains(value);
  }

  /// Returns the variable of a value that varies.
  size_t variable(ValueId value) {
    const auto [found, fresh] = variables_.try_emplace(value, values_.size());
    if (fresh) values_.push_back(value);
    return found->second;
  }

  /// Returns the layout of a value that does not vary.
  Layout fixed_layout(ValueId value) const {
    const auto& inputs = graph_.inputs();
    const auto input = static_cast<size_t>(std::ranges::find(inputs, value) - inputs.begin());
    if (input < boundary_.inputs.size()) return boundary_.inputs[input];
    return candidate_.decisions.layout(value).value_or(planned_[value]);
  }

  /// Returns the values around a kernel whose layouts vary.
  std::set<ValueId> around(const Part& part) const {
    std::set<ValueId> out;
    for (const auto& values : {part.inputs, part.outputs})
      for (const ValueId value : values)
        if (varies(value)) out.insert(value);
    return out;
  }

  /// Values around kernels with many operands are not decided: the number of their layouts is exponential.
  void leave_to_plan(const Part& part) {
    constexpr size_t kMaxAround = 8;
    if (std::set<ValueId> values = around(part); values.size() > kMaxAround) left_.merge(std::move(values));
  }

  void add_kernel(const Part& part) {
    std::set<size_t> around;
    for (const ValueId value : this->around(part)) around.insert(variable(value));
    if (around.empty()) return;
    Factor factor{{around.begin(), around.end()}};
    for (size_t index = 0; index < size_t{1} << around.size(); ++index) {
      const auto layout = [&](ValueId value) {
        if (!varies(value)) return fixed_layout(value);
        const auto at = std::ranges::lower_bound(factor.variables, variables_.at(value)) - factor.variables.begin();
        return layout_of((index >> at & 1) != 0);
      };
      factor.values.push_back(latency(part, layout));
    }
    factors_.push_back(std::move(factor));
  }

  /// Returns what a kernel takes by itself, with reorders of its operands.
  template <class LayoutOf>
  double latency(const Part& part, const LayoutOf& layout) {
    Boundary around;
    Candidate kernel = part;
    for (const ValueId input : part.inputs) around.inputs.push_back(layout(input));
    for (size_t i = 0; i < part.outputs.size(); ++i) {
      around.outputs.push_back(layout(part.outputs[i]));
      if (varies(part.outputs[i])) kernel.decisions.layouts[part.graph.outputs()[i]] = around.outputs.back();
    }
    return latency(kernel, around);
  }

  double latency(const Candidate& kernel, const Boundary& around) {
    uint64_t hash = kernel.hash();
    for (const auto& layouts : {around.inputs, around.outputs})
      for (const Layout layout : layouts) hash = hash_mix(hash, static_cast<uint64_t>(layout));
    const auto [known, fresh] = choice_.known_.try_emplace(hash, 0);
    if (fresh) {
      const auto metrics = choice_.costs_.metrics(kernel, around);
      known->second = metrics ? metrics->latency_us : std::numeric_limits<double>::infinity();
    }
    return known->second;
  }

  /// Outputs are wanted in given layouts: any other one costs a reorder.
  void add_borders() {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const ValueId output = graph_.outputs()[i];
      const auto found = variables_.find(output);
      if (found == variables_.end()) continue;
      GraphBuilder builder(graph_.name_table());
      const ValueId copy = builder.input(graph_.type(output));
      const Graph reorder = builder.finish({&copy, 1});
      const Layout wanted = i < boundary_.outputs.size() ? boundary_.outputs[i] : Layout::Plain;
      Factor& border = factors_.emplace_back(Factor{{found->second}, {}});
      for (const Layout made : {Layout::Plain, Layout::Blocked})
        border.values.push_back(latency(reorder, {{made}, {wanted}}));
    }
  }

  const Candidate& candidate_;
  const Graph& graph_;
  const Boundary& boundary_;
  LayoutChoice& choice_;
  std::vector<Layout> planned_;  // by value, by the plan itself
  std::set<ValueId> left_;       // values that are left to the plan
  std::map<ValueId, size_t> variables_;
  std::vector<ValueId> values_;  // by variable
  std::vector<Factor> factors_;
};

Decisions LayoutChoice::choose(const Candidate& candidate, const Boundary& boundary) {
  if (candidate.decisions.computations.empty()) return LayoutSum(candidate, boundary, *this).run();
  // Second computations are no kernels of the candidate's graph.
  Candidate once = candidate;
  once.decisions.computations.clear();
  Decisions out = candidate.decisions;
  out.layouts = LayoutSum(once, boundary, *this).run().layouts;
  return out;
}

}  // namespace isomer
