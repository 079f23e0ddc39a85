#include "isomer/ops/magnitude.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isomer/ops/kernel_types.h"

namespace isomer {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
double largest(std::span<const T> elements) {
  T out = 0;
  for (const T x : elements) {
    if (std::isnan(x)) return kInfinity;
    out = std::max(out, std::abs(x));
  }
  return out;
}

double magnitude_of_attr(const AttrValue& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return magnitude(*tensor);
  if (const auto* number = std::get_if<float>(&value)) return std::abs(*number);
  return 0;
}

/// A movement that adds or multiplies what it writes to one place computes.
bool is_movement(const Node& node) {
  const bool computes = node.attrs.has("reduction") && node.attrs.text("reduction") != "none";
  return (node.op->compute == Compute::Movement && !computes) || node.op->name == "Neg" || node.op->name == "Abs";
}

/// `left`: how many more nodes may be looked at.
double bound(const Graph& graph, ValueId value, int& left) {
  if (value == kNoValue || !is_real(graph.type(value).dtype)) return 0;
  if (const Tensor* tensor = graph.constant(value)) return magnitude(*tensor);
  const Node& node = graph.producer_node(value);
  if (--left < 0 || node.is_input() || node.is_opaque()) return kInfinity;
  const std::string& name = node.op->name;
  const bool sums = name == "Add" || name == "Sub" || name == "Sum", moves = is_movement(node);
  if (!sums && !moves && name != "Mul") return kInfinity;
  double out = name == "Mul" ? 1 : 0;
  for (const ValueId operand : graph.operands(node)) {
    const double more = bound(graph, operand, left);
    out = sums ? out + more : moves ? std::max(out, more) : out * more;
  }
  if (moves)
    for (const auto& [attr, number] : node.attrs.entries()) out = std::max(out, magnitude_of_attr(number));
  return std::isnan(out) ? kInfinity : out;  // 0 times infinity
}

}  // namespace

double magnitude(const Tensor& tensor) {
  if (!is_real(tensor.dtype())) return 0;
  if (tensor.dtype() == DType::Float) return largest(tensor.data<float>());
  const Tensor wide = in_double(tensor);
  return largest(wide.data<double>());
}

double magnitude(const Graph& graph, ValueId value) {
  int left = 64;
  return bound(graph, value, left);
}

}  // namespace isomer
