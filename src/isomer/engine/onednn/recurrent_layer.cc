#include "isomer/engine/onednn/recurrent_layer.h"

#include <algorithm>

#include "isomer/engine/onednn/lower.h"

namespace isomer::onednn {
namespace {

using dnnl::algorithm;
using Direction = dnnl::rnn_direction;

enum LayerOperand : size_t { kX, kW, kR, kBias, kLengths, kInitialH, kInitialC, kPeephole };

Direction direction_of(const std::string& name) {
  if (name == "reverse") return Direction::unidirectional_right2left;
  return name == "bidirectional" ? Direction::bidirectional_concat : Direction::unidirectional_left2right;
}

bool flag(const Node& node, const char* name) { return node.attrs.has(name) && node.attrs.integer(name) != 0; }

/// Returns the function of an RNN's cell in oneDNN; `undef` if there is none. Other cells must have their default
/// functions.
Result<std::optional<algorithm>> activation_of(const Node& node, Cell cell, size_t directions) {
  using Kind = Activation::Kind;
  ISOMER_TRY(const auto functions, read_activations(node.attrs, cell, directions));
  const auto all = [&](std::initializer_list<Kind> kinds) {
    for (size_t i = 0; i < functions.size(); ++i)
      if (functions[i].kind != *(kinds.begin() + i % kinds.size())) return false;
    return true;
  };
  const std::optional<algorithm> none;
  if (cell == Cell::Lstm) return all({Kind::Sigmoid, Kind::Tanh, Kind::Tanh}) ? std::optional(algorithm::undef) : none;
  if (cell == Cell::Gru) return all({Kind::Sigmoid, Kind::Tanh}) ? std::optional(algorithm::undef) : none;
  if (all({Kind::Tanh})) return std::optional(algorithm::eltwise_tanh);
  if (all({Kind::Relu})) return std::optional(algorithm::eltwise_relu);
  return all({Kind::Sigmoid}) ? std::optional(algorithm::eltwise_logistic) : none;
}

const Tensor* real_constant(const Graph& graph, ValueId value) {
  const Tensor* data = graph.constant(value);
  return data != nullptr && data->dtype() == DType::Float ? data : nullptr;
}

}  // namespace

std::optional<Cell> recurrent_cell(const Node& node) {
  if (node.is_opaque() || !node.op->domain.empty()) return std::nullopt;
  const std::string& name = node.op->name;
  if (name == "LSTM") return Cell::Lstm;
  if (name == "GRU") return Cell::Gru;
  return name == "RNN" ? std::optional(Cell::Rnn) : std::nullopt;
}

Result<std::optional<RecurrentLayer>> read_recurrent(const Graph& graph, const Node& node) {
  const std::optional<RecurrentLayer> none;
  const auto operands = graph.operands(node);
  const auto operand = [&](size_t i) { return i < operands.size() ? operands[i] : kNoValue; };
  const bool non_default = operand(kLengths) != kNoValue || operand(kPeephole) != kNoValue || flag(node, "layout") ||
                           flag(node, "input_forget") || (node.attrs.has("clip") && node.attrs.real("clip") >= 0);
  if (non_default || !is_dense(graph, operand(kX)) || !is_dense(graph, node.result())) return none;
  RecurrentLayer layer{.cell = *recurrent_cell(node),
                       .linear_before_reset = flag(node, "linear_before_reset"),
                       .direction = direction_of(node.attrs.text("direction")),
                       .w = real_constant(graph, operand(kW)),
                       .r = real_constant(graph, operand(kR)),
                       .x = operand(kX),
                       .initial_h = operand(kInitialH),
                       .initial_c = operand(kInitialC)};
  if (layer.w == nullptr || layer.r == nullptr) return none;
  if (operand(kBias) != kNoValue && (layer.bias = real_constant(graph, operand(kBias))) == nullptr) return none;
  const Dims x = dims_of(graph.type(operand(kX)));
  layer.steps = x[0], layer.batch = x[1], layer.input = x[2];
  layer.directions = layer.w->dims()[0];
  layer.hidden = layer.r->dims()[2];
  ISOMER_TRY(const auto activation, activation_of(node, layer.cell, static_cast<size_t>(layer.directions)));
  if (!activation) return none;
  layer.activation = *activation;
  return std::optional(layer);
}

/// Returns oneDNN's gates as the operator numbers them; for an LSTM: input, forget, candidate, output.
std::vector<int64_t> RecurrentLayer::order() const {
  if (cell == Cell::Lstm) return {0, 2, 3, 1};
  return cell == Cell::Gru ? std::vector<int64_t>{0, 1, 2} : std::vector<int64_t>{0};
}

Tensor RecurrentLayer::weights(const Tensor& given) const {
  const int64_t gate = hidden * given.dims()[2];
  Tensor ordered = Tensor::zeros(DType::Float, given.dims());
  auto to = ordered.mutable_data<float>().begin();
  for (int64_t d = 0; d < directions; ++d)
    for (const int64_t g : order()) to = std::copy_n(given.data<float>().begin() + (d * gates() + g) * gate, gate, to);
  return ordered;
}

Tensor RecurrentLayer::one_bias() const {
  const std::vector<int64_t> from = order();
  Tensor sum = Tensor::zeros(DType::Float, {1, directions, gates() + (bias_apart() ? 1 : 0), hidden});
  if (bias == nullptr) return sum;
  float* to = sum.mutable_data<float>().data();
  for (int64_t d = 0; d < directions; ++d) {
    const float* const of_w = bias->data<float>().data() + d * 2 * gates() * hidden;
    const float* const of_r = of_w + gates() * hidden;
    for (int64_t g = 0; g < gates(); ++g) {
      const int64_t gate = from[static_cast<size_t>(g)] * hidden;
      const bool candidate = g == gates() - 1;
      for (int64_t j = 0; j < hidden; ++j) *to++ = of_w[gate + j] + (bias_apart() && candidate ? 0 : of_r[gate + j]);
    }
    if (bias_apart()) to = std::copy_n(of_r + (gates() - 1) * hidden, hidden, to);
  }
  return sum;
}

}  // namespace isomer::onednn
