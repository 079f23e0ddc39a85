#include "isomer/certificate/fold.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <set>

#include "isomer/eval/executor.h"
#include "isomer/ops/kernel_types.h"

namespace isomer::replay {

OwnWeights own_weights(const Graph& model) {
  OwnWeights out;
  for (const Node& node : model.nodes())
    for (uint32_t r = 0; r < node.num_results; ++r)
      if (model.is_constant_derived(node.result(r))) out.insert(model.value_hash(node.result(r)));
  return out;
}

Result<Tensor> Computed::of(ValueId value) {
  if (!graph_.is_constant_derived(value)) return fail("it does not depend only on constants");
  const NodeId last = graph_.producer(value);
  std::vector<bool> wanted(last + 1, false);
  wanted[last] = true;
  for (NodeId id = last + 1; id-- > 0;)
    if (wanted[id])
      for (const ValueId operand : graph_.operands(graph_.node(id)))
        if (operand != kNoValue && !known_.contains(operand)) wanted[graph_.producer(operand)] = true;
  for (NodeId id = 0; id <= last; ++id)
    if (wanted[id] && !known_.contains(graph_.node(id).result())) ISOMER_CHECK(run(graph_.node(id)));
  return known_.at(value);
}

Status Computed::run(const Node& node) {
  if (node.is_constant()) {
    known_[node.result()] = node.attrs.tensor("value");
    return {};
  }
  std::vector<Tensor> operands;
  for (const ValueId operand : graph_.operands(node))
    operands.push_back(operand == kNoValue ? Tensor() : known_.at(operand));
  ISOMER_TRY(const std::vector<Tensor> results, run_node(graph_, node, operands));
  for (uint32_t r = 0; r < node.num_results; ++r) known_[node.result(r)] = results[r];
  return {};
}

Status Computed::check(ValueId value) {
  if (!is_real(graph_.type(value).dtype)) return {};
  const std::vector<NodeId> nodes = above(value);
  const auto moves = [&](NodeId id) {
    return is_source(graph_.node(id)) || graph_.node(id).op->compute == Compute::Movement;
  };
  if (std::ranges::all_of(nodes, moves)) return {};
  ISOMER_TRY(const Tensor elements, of(value));
  const Tensor stored = in_double(elements);
  const auto may_be_lost = [](double element) { return element == 0 || !std::isfinite(element); };
  const auto is = stored.data<double>();
  const auto first = std::ranges::find_if(is, may_be_lost);
  if (first == is.end()) return {};
  ISOMER_TRY(const Exact wide, exact(nodes, value));
  const auto should = wide.elements.data<double>();
  if (should.size() != is.size()) return fail("it has other extents in double precision");
  for (auto i = static_cast<size_t>(first - is.begin()); i < is.size(); ++i)
    if (may_be_lost(is[i]) &&
        (wide.left_range || !(is[i] == should[i] || (std::isnan(is[i]) && std::isnan(should[i])))))
      return fail("element {} is stored as {} and should be {}", i, is[i],
                  wide.left_range ? "out of the range of double precision" : fmt::format("{:.6g}", should[i]));
  return {};
}

Status Computed::check_all() {
  std::vector<bool> read(graph_.num_values(), false);
  for (const ValueId output : graph_.outputs()) read[output] = true;
  for (const Node& node : graph_.nodes())
    if (node.num_results == 0 || !graph_.is_constant_derived(node.result()))
      for (const ValueId operand : graph_.operands(node))
        if (operand != kNoValue) read[operand] = true;
  for (ValueId value = 0; value < graph_.num_values(); ++value) {
    if (!read[value] || !graph_.is_constant_derived(value) || is_source(graph_.producer_node(value))) continue;
    if (auto status = check(value); !status)
      return fail_in(fmt::format("weight {:016x}", graph_.value_hash(value)), status.error());
  }
  return {};
}

bool Computed::is_source(const Node& node) const {
  return node.is_constant() || own_.contains(graph_.value_hash(node.result()));
}

/// Returns the nodes from the sources (included) to a value that depends only on constants; ascending.
std::vector<NodeId> Computed::above(ValueId value) const {
  std::set<NodeId> out;
  std::set<NodeId> open{graph_.producer(value)};
  while (!open.empty()) {
    const NodeId id = open.extract(std::prev(open.end())).value();
    out.insert(id);
    if (is_source(graph_.node(id))) continue;
    for (const ValueId operand : graph_.operands(graph_.node(id)))
      if (operand != kNoValue) open.insert(graph_.producer(operand));
  }
  return {out.begin(), out.end()};
}

/// Computes `nodes` from their sources in double precision, without rounding in between.
Result<Computed::Exact> Computed::exact(std::span<const NodeId> nodes, ValueId value) {
  Exact out;
  std::map<ValueId, Tensor> made;
  for (const NodeId id : nodes) {
    Node node = graph_.node(id);
    std::vector<Tensor> results;
    if (is_source(node)) {
      for (uint32_t r = 0; r < node.num_results; ++r) {
        ISOMER_TRY(results.emplace_back(), of(node.result(r)));
      }
    } else {
      node.attrs = in_double(node.attrs);
      if (node.op->has(Trait::Conversion) && is_real(graph_.type(node.result()).dtype))
        node.attrs = node.attrs.with("to", static_cast<int64_t>(DType::Double));
      std::vector<Tensor> operands;
      for (const ValueId operand : graph_.operands(node))
        operands.push_back(operand == kNoValue ? Tensor() : made.at(operand));
      std::feclearexcept(FE_ALL_EXCEPT);
      ISOMER_TRY(results, run_node(graph_, node, operands));
      out.left_range = out.left_range || std::fetestexcept(FE_OVERFLOW | FE_UNDERFLOW) != 0;
    }
    for (uint32_t r = 0; r < node.num_results; ++r) made[node.result(r)] = in_double(results[r]);
  }
  out.elements = made.at(value);
  return out;
}

}  // namespace isomer::replay
