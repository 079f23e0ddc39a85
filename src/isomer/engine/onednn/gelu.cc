#include "isomer/engine/onednn/gelu.h"

#include <algorithm>
#include <cmath>

#include "isomer/engine/onednn/fusion.h"

namespace isomer::onednn {
namespace {

class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph) {}

  std::optional<WrittenGelu> match(NodeId last) {
    if (!is_op(last, "Mul")) return std::nullopt;
    for (size_t i = 0; i < 2; ++i) {
      const NodeId inner = graph_.producer(operand(last, i));
      if (!is_op(inner, "Mul")) continue;
      found_ = {.nodes = {inner, last}};
      const ValueId factors[] = {operand(inner, 0), operand(inner, 1), operand(last, 1 - i)};
      if (!is_gelu(factors) || graph_.type(graph_.node(last).result()) != graph_.type(found_.x)) continue;
      std::ranges::sort(found_.nodes);
      return std::move(found_);
    }
    return std::nullopt;
  }

 private:
  bool is_op(NodeId id, std::string_view name) const { return is_named(graph_.node(id), name); }
  ValueId operand(NodeId id, size_t i) const { return graph_.operands(graph_.node(id))[i]; }

  bool is_scalar(ValueId value, double wanted) const {
    const Tensor* data = graph_.constant(value);
    if (data == nullptr || data->dtype() != DType::Float || data->element_count() != 1) return false;
    return std::abs(data->data<float>()[0] - wanted) <= 1e-6 * std::abs(wanted);
  }

  bool is_gelu(std::span<const ValueId> factors) {
    return std::ranges::any_of(factors, [&](ValueId factor) {
      const size_t nodes = found_.nodes.size();
      auto x = under_erf(factor);
      found_.tanh = !x;
      if (!x) {
        found_.nodes.resize(nodes);
        x = under_tanh(factor);
      }
      if (x && std::ranges::count(factors, *x) == 1 && graph_.type(factor) == graph_.type(*x) &&
          std::ranges::any_of(factors, [&](ValueId v) { return is_scalar(v, 0.5); })) {
        found_.x = *x;
        return true;
      }
      found_.nodes.resize(nodes);
      return false;
    });
  }

  /// Returns x if `value` is erf(x / sqrt 2) + 1.
  std::optional<ValueId> under_erf(ValueId value) {
    const auto erf = other_of(value, "Add", 1);
    if (!erf) return std::nullopt;
    const NodeId maker = graph_.producer(*erf);
    if (!is_op(maker, "Erf")) return std::nullopt;
    found_.nodes.push_back(maker);
    const ValueId scaled = operand(maker, 0);
    const NodeId division = graph_.producer(scaled);
    if (is_op(division, "Div") && is_scalar(operand(division, 1), std::sqrt(2.0))) {
      found_.nodes.push_back(division);
      return operand(division, 0);
    }
    return other_of(scaled, "Mul", std::sqrt(0.5));
  }

  /// Returns x if `value` is tanh(sqrt(2 / pi) (x + 0.044715 x^3)) + 1.
  std::optional<ValueId> under_tanh(ValueId value) {
    constexpr double kSlope = 0.7978845608028654, kCubic = 0.044715;
    const auto tanh = other_of(value, "Add", 1);
    if (!tanh || !is_op(graph_.producer(*tanh), "Tanh")) return std::nullopt;
    found_.nodes.push_back(graph_.producer(*tanh));
    const auto inner = other_of(operand(graph_.producer(*tanh), 0), "Mul", kSlope);
    if (!inner || !is_op(graph_.producer(*inner), "Add")) return std::nullopt;
    const NodeId sum = graph_.producer(*inner);
    found_.nodes.push_back(sum);
    for (size_t i = 0; i < 2; ++i) {
      const size_t nodes = found_.nodes.size();
      const auto cube = other_of(operand(sum, 1 - i), "Mul", kCubic);
      if (cube && is_op(graph_.producer(*cube), "Pow")) {
        const NodeId power = graph_.producer(*cube);
        if (operand(power, 0) == operand(sum, i) && is_scalar(operand(power, 1), 3)) {
          found_.nodes.push_back(power);
          return operand(sum, i);
        }
      }
      found_.nodes.resize(nodes);
    }
    return std::nullopt;
  }

  /// Returns the other operand if `value` is made by a node called `name` with this scalar as an operand.
  std::optional<ValueId> other_of(ValueId value, const char* name, double scalar) {
    const NodeId maker = graph_.producer(value);
    if (!is_op(maker, name)) return std::nullopt;
    for (size_t i = 0; i < 2; ++i) {
      if (!is_scalar(operand(maker, i), scalar)) continue;
      found_.nodes.push_back(maker);
      return operand(maker, 1 - i);
    }
    return std::nullopt;
  }

  const Graph& graph_;
  WrittenGelu found_;
};

}  // namespace

std::optional<WrittenGelu> written_gelu(const Graph& graph, NodeId last) { return Matcher(graph).match(last); }

}  // namespace isomer::onednn
