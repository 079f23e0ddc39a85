#include "isomer/ops/work.h"

#include <algorithm>

#include "isomer/ops/infer.h"

namespace isomer {
namespace {

/// Computes extents node by node: the types of the graph with every symbol replaced.
class Evaluation {
 public:
  Evaluation(const Graph& graph, const SymbolValues& symbols) : graph_(graph), symbols_(symbols) {}

  Extents run() {
    types_.resize(graph_.num_values());
    for (const Node& node : graph_.nodes()) {
      if (infer(node)) continue;
      for (uint32_t i = 0; i < node.num_results; ++i) types_[node.result(i)] = substituted(graph_.type(node.result(i)));
    }
    Extents extents(graph_.num_values());
    for (ValueId value = 0; value < graph_.num_values(); ++value)
      if (types_[value].shape) extents[value] = concrete(*types_[value].shape);
    return extents;
  }

 private:
  TensorType substituted(const TensorType& type) const {
    if (!type.shape) return type;
    Shape shape;
    for (const Dim& dim : *type.shape) shape.emplace_back(value_of(dim));
    return {type.dtype, std::move(shape)};
  }

  int64_t value_of(const Dim& dim) const {
    const auto value = dim.evaluate([&](const std::string& name) { return std::optional(value_of(name)); });
    return std::max<int64_t>(value.value_or(1), 0);
  }

  int64_t value_of(const std::string& symbol) const {
    if (const auto found = symbols_.find(symbol); found != symbols_.end()) return found->second;
    const auto value = extent_value(symbol, [&](const std::string& name) { return std::optional(value_of(name)); });
    return value.value_or(1);
  }

  /// Infers the results' types from the concrete types of the operands. Values found for symbols that represent an
  /// expression (a quotient) are kept for values whose types are only declared.
  bool infer(const Node& node) {
    if (node.op->infer == nullptr) return false;
    std::vector<const TensorType*> operands;
    for (const ValueId operand : graph_.operands(node))
      operands.push_back(operand == kNoValue ? nullptr : &types_[operand]);
    const auto inferred = node.op->infer(OpView{*node.op, node.attrs, operands, node.num_results});
    if (!inferred || inferred->size() != node.num_results) return false;
    for (uint32_t i = 0; i < node.num_results; ++i) {
      TensorType& type = types_[node.result(i)] = substituted((*inferred)[i]);
      const auto& declared = graph_.type(node.result(i)).shape;
      for (size_t axis = 0; declared && type.shape && axis < std::min(declared->size(), type.rank()); ++axis)
        if (const auto name = (*declared)[axis].symbol_name()) symbols_.emplace(*name, (*type.shape)[axis].value());
    }
    return true;
  }

  const Graph& graph_;
  SymbolValues symbols_;
  std::vector<TensorType> types_;
};

double bytes_of(const Graph& graph, ValueId value, const Extents& extents) {
  if (!extents[value]) return 0;
  return count(*extents[value]) * static_cast<double>(dtype_bits(graph.type(value).dtype)) / 8;
}

}  // namespace

Extents extents_of(const Graph& graph, const SymbolValues& symbols) { return Evaluation(graph, symbols).run(); }

Work work_of(const Graph& graph, const Node& node, const Extents& extents) {
  Work work;
  if (node.is_input() || node.is_constant()) return work;
  std::vector<std::vector<int64_t>> operands;
  std::vector<std::vector<int64_t>> results;
  bool known = true;
  for (const ValueId operand : graph.operands(node)) {
    operands.emplace_back();
    if (operand == kNoValue) continue;
    known = known && extents[operand].has_value();
    operands.back() = extents[operand].value_or(std::vector<int64_t>());
    work.bytes += bytes_of(graph, operand, extents);
  }
  for (uint32_t i = 0; i < node.num_results; ++i) {
    known = known && extents[node.result(i)].has_value();
    results.push_back(extents[node.result(i)].value_or(std::vector<int64_t>()));
    work.bytes += bytes_of(graph, node.result(i), extents);
  }
  if (known) work.flops = node.op->flops(WorkView{node.attrs, operands, results});
  return work;
}

double peak_activation_bytes(const Graph& graph, std::span<const double> bytes_of_value) {
  const auto bytes = [&](ValueId value) { return graph.is_constant_derived(value) ? 0 : bytes_of_value[value]; };
  std::vector<bool> kept(graph.num_values(), false);
  for (const ValueId output : graph.outputs()) kept[output] = true;
  double live = 0;
  for (const ValueId input : graph.inputs()) live += bytes(input);
  double peak = live;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (node.is_input()) continue;
    for (uint32_t i = 0; i < node.num_results; ++i) live += bytes(node.result(i));
    peak = std::max(peak, live);
    for (uint32_t i = 0; i < node.num_results; ++i)
      if (!kept[node.result(i)] && graph.consumers(node.result(i)).empty()) live -= bytes(node.result(i));
    const auto operands = graph.operands(node);
    for (size_t i = 0; i < operands.size(); ++i) {
      const ValueId operand = operands[i];
      const bool seen = std::find(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(i), operand) !=
                        operands.begin() + static_cast<std::ptrdiff_t>(i);
      if (operand == kNoValue || seen || kept[operand]) continue;
      if (graph.consumers(operand).back() == id) live -= bytes(operand);
    }
  }
  return peak;
}

GraphWork graph_work(const Graph& graph, const Extents& extents) {
  GraphWork total;
  for (const Node& node : graph.nodes()) {
    if (node.is_constant()) {
      const Tensor& data = node.attrs.tensor("value");
      total.parameters += data.element_count();
      total.parameter_bytes += static_cast<double>(data.bytes().size());
      continue;
    }
    if (!graph.runs(node)) continue;
    const Work work = work_of(graph, node, extents);
    total.run.flops += work.flops;
    total.run.bytes += work.bytes;
  }
  std::vector<double> bytes(graph.num_values());
  for (ValueId value = 0; value < bytes.size(); ++value) bytes[value] = bytes_of(graph, value, extents);
  total.peak_activation_bytes = peak_activation_bytes(graph, bytes);
  return total;
}

}  // namespace isomer
