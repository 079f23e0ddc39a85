#include "truth.h"

#include <algorithm>
#include <cmath>

#include "isomer/base/hash.h"
#include "isomer/base/rng.h"
#include "isomer/eval/executor.h"
#include "isomer/ir/builder.h"
#include "isomer/ir/copy.h"
#include "isomer/ir/text.h"

namespace isomer::differential {
namespace {

constexpr double kDisturbance = 0x1p-21;  // eight times what a float is rounded by
constexpr double kTooLarge = 1e30;        // products of such numbers overflow in single precision
constexpr double kHopeless = 0.05;        // of the largest element

Tensor to_double(const Tensor& tensor) {
  if (tensor.empty() || tensor.dtype() != DType::Float) return tensor;
  Tensor out = Tensor::zeros(DType::Double, tensor.dims());
  std::ranges::copy(tensor.data<float>(), out.mutable_data<double>().begin());
  return out;
}

Attrs to_double(const OpDef& op, const Attrs& attrs) {
  Attrs out = attrs;
  for (const auto& [name, value] : attrs.entries()) {
    if (const auto* tensor = std::get_if<Tensor>(&value)) out = out.with(name, to_double(*tensor));
    if (op.name == "Cast" && name == "to" && value == AttrValue(static_cast<int64_t>(DType::Float)))
      out = out.with(name, static_cast<int64_t>(DType::Double));
  }
  return out;
}

/// Every element a little larger or smaller.
Tensor disturbed(const Tensor& tensor, Rng& rng) {
  if (tensor.empty() || tensor.dtype() != DType::Double) return tensor;
  Tensor out = Tensor::zeros(DType::Double, tensor.dims());
  const auto from = tensor.data<double>();
  const auto to = out.mutable_data<double>();
  for (size_t i = 0; i < from.size(); ++i) to[i] = from[i] * (1 + kDisturbance * (2 * rng.uniform() - 1));
  return out;
}

/// Returns all values of a graph. Each is what `change` makes of it, given whether an operator only moved it.
template <class Change>
Result<std::vector<Tensor>> values_of(const Graph& graph, const std::vector<Tensor>& inputs, const Change& change) {
  std::vector<Tensor> values(graph.num_values());
  size_t next_input = 0;
  for (const Node& node : graph.nodes()) {
    if (node.is_input()) {
      values[node.result()] = change(inputs[next_input++], false);
      continue;
    }
    if (node.is_constant()) {
      values[node.result()] = change(node.attrs.tensor("value"), false);
      continue;
    }
    std::vector<Tensor> operands;
    for (const ValueId id : graph.operands(node)) operands.push_back(id == kNoValue ? Tensor() : values[id]);
    ISOMER_TRY(const auto results, run_node(graph, node, operands));
    for (uint32_t r = 0; r < node.num_results; ++r)
      values[node.result(r)] = change(results[r], node.op->compute == Compute::Movement);
  }
  return values;
}

/// Runs a graph of doubles, with every value disturbed that is not only moved.
Result<std::vector<Tensor>> run_disturbed(const Graph& graph, const std::vector<Tensor>& inputs, uint64_t seed) {
  Rng rng(seed);
  ISOMER_TRY(const auto values, values_of(graph, inputs, [&](const Tensor& value, bool moved) {
               return moved ? value : disturbed(value, rng);
             }));
  std::vector<Tensor> out;
  for (const ValueId output : graph.outputs()) out.push_back(values[output]);
  return out;
}

bool is_finite(const Tensor& tensor) {
  return tensor.empty() || tensor.dtype() != DType::Double ||
         std::ranges::all_of(tensor.data<double>(), [](double x) { return std::isfinite(x); });
}

bool comparable(double x) { return std::isfinite(x) && std::abs(x) < kTooLarge; }

/// Largest difference of elements; infinite where there are no doubles to compare.
double difference(const Tensor& got, const Tensor& expected) {
  if (expected.dtype() != DType::Double) return got == expected ? 0 : INFINITY;
  const Tensor reals = to_double(got);
  if (reals.type() != expected.type()) return INFINITY;
  double max = 0;
  for (size_t i = 0; i < expected.data<double>().size(); ++i) {
    const double x = reals.data<double>()[i];
    const double e = expected.data<double>()[i];
    if (!comparable(e)) continue;
    max = std::max(max, std::isnan(x) ? INFINITY : std::abs(x - e));
  }
  return max;
}

double largest(const Tensor& tensor) {
  double out = 0.1;
  for (const double x : tensor.data<double>())
    if (comparable(x)) out = std::max(out, std::abs(x));
  return out;
}

bool has_nan(const Tensor& tensor) {
  return tensor.dtype() == DType::Double &&
         std::ranges::any_of(tensor.data<double>(), [](double x) { return std::isnan(x); });
}

}  // namespace

std::vector<Tensor> draw_inputs(const Graph& graph, bool positive, uint64_t seed) {
  const auto is_float = [&](ValueId input) { return graph.type(input).dtype == DType::Float; };
  const bool reals = std::ranges::any_of(graph.inputs(), is_float);
  std::vector<Tensor> out;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const TensorType& type = graph.type(graph.inputs()[i]);
    Tensor& tensor = out.emplace_back(Tensor::zeros(type.dtype, *concrete(*type.shape)));
    Rng rng(hash_mix(seed, i));
    if (type.dtype == DType::Float)
      for (float& x : tensor.mutable_data<float>())
        x = static_cast<float>(positive ? 0.1 + 1.9 * rng.uniform() : rng.normal());
    else if (type.dtype == DType::Int64)
      for (int64_t& x : tensor.mutable_data<int64_t>()) x = reals ? rng.between(-1, 0) : rng.between(-9, 9);
    else if (type.dtype == DType::Bool)
      for (uint8_t& x : tensor.mutable_data<uint8_t>()) x = static_cast<uint8_t>(rng.below(2));
  }
  return out;
}

Result<Graph> in_double(const Graph& graph) {
  GraphBuilder builder;
  std::vector<ValueId> made(graph.num_values(), kNoValue);
  for (const Node& node : graph.nodes()) {
    if (node.is_input()) {
      TensorType type = graph.type(node.result());
      if (type.dtype == DType::Float) type.dtype = DType::Double;
      made[node.result()] = builder.input(type);
    } else if (node.is_constant()) {
      made[node.result()] = builder.constant(to_double(node.attrs.tensor("value")));
    } else {
      std::vector<ValueId> operands;
      for (const ValueId id : graph.operands(node)) operands.push_back(id == kNoValue ? kNoValue : made[id]);
      ISOMER_TRY(const NodeId id, builder.node(*node.op, to_double(*node.op, node.attrs), operands, node.num_results));
      for (uint32_t r = 0; r < node.num_results; ++r) made[node.result(r)] = builder.at(id).result(r);
    }
  }
  std::vector<ValueId> outputs;
  for (const ValueId output : graph.outputs()) outputs.push_back(made[output]);
  return builder.finish(outputs);
}

Result<Truth> truth_of(const Graph& graph, const std::vector<Tensor>& inputs) {
  ISOMER_TRY(const Graph doubles, in_double(graph));
  std::vector<Tensor> reals;
  for (const Tensor& input : inputs) reals.push_back(to_double(input));
  Truth out;
  ISOMER_TRY(out.outputs, run_reference(doubles, reals));
  ISOMER_TRY(out.finite, finite_outputs(graph, inputs));
  out.spread.assign(out.outputs.size(), 0);
  for (const uint64_t seed : {1, 2, 3}) {
    const auto other = run_disturbed(doubles, reals, seed);
    for (size_t i = 0; i < out.spread.size(); ++i)
      out.spread[i] = std::max(out.spread[i], other ? difference((*other)[i], out.outputs[i]) : INFINITY);
  }
  return out;
}

Result<std::vector<bool>> finite_outputs(const Graph& graph, const std::vector<Tensor>& inputs) {
  ISOMER_TRY(const Graph doubles, in_double(graph));
  std::vector<Tensor> reals;
  for (const Tensor& input : inputs) reals.push_back(to_double(input));
  ISOMER_TRY(const auto values, values_of(doubles, reals, [](const Tensor& value, bool) { return value; }));
  std::vector<bool> finite(doubles.num_values());
  for (const Node& node : doubles.nodes()) {
    const bool from_finite = std::ranges::all_of(
        doubles.operands(node), [&](ValueId operand) { return operand == kNoValue || finite[operand]; });
    for (uint32_t r = 0; r < node.num_results; ++r)
      finite[node.result(r)] = from_finite && is_finite(values[node.result(r)]);
  }
  std::vector<bool> out;
  for (const ValueId output : doubles.outputs()) out.push_back(finite[output]);
  return out;
}

Graph with_outputs(const Graph& graph, const std::vector<bool>& marked) {
  GraphBuilder builder;
  const auto input = [&](ValueId value) -> Result<ValueId> { return builder.input(graph.type(value)); };
  const std::vector<ValueId> copies = copy_values(builder, graph, input).value();
  std::vector<ValueId> outputs;
  for (size_t i = 0; i < marked.size(); ++i)
    if (marked[i]) outputs.push_back(copies[graph.outputs()[i]]);
  return builder.finish(outputs);
}

Agreement agreement(const std::vector<Tensor>& got, const Truth& truth, const std::vector<double>& spread) {
  constexpr double kFloor = 2e-5;  // of the largest element: approximations of functions
  constexpr double kMargin = 4;
  Agreement out;
  for (size_t i = 0; i < truth.outputs.size(); ++i) {
    const Tensor& expected = truth.outputs[i];
    const double scale = expected.dtype() == DType::Double ? largest(expected) : 1;
    const double apart = std::max(truth.spread[i], spread[i]);
    // Padding times NaN may or may not be NaN. Conversion makes any integer of it.
    const bool undefined = expected.dtype() == DType::Double ? has_nan(expected) : !truth.finite[i];
    if (apart > kHopeless * scale || undefined) {
      ++out.unstable;
      continue;
    }
    ++out.compared;
    const double off = difference(got[i], expected) / (kFloor * scale + kMargin * apart);
    out.furthest = std::max(out.furthest, off);
    if (off > 1 && out.problem.empty())
      out.problem = fmt::format("output {}: {}\nbut should be {}\n({} times what rounding explains)", i,
                                tensor_str(got[i], 64), tensor_str(expected, 64), off);
  }
  return out;
}

}  // namespace isomer::differential
