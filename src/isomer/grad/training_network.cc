#include "isomer/grad/training_network.h"

#include <algorithm>

#include "isomer/grad/batch_norm.h"
#include "isomer/ir/builder.h"
#include "isomer/ir/derivation.h"
#include "isomer/models/models.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using enum BatchNormOperands::Operand;

/// Copies a network in training form: weights are inputs, and there is a loss.
class Trainable {
 public:
  explicit Trainable(const Graph& network) : network_(network), copies_(network.num_values(), kNoValue) {}

  Status build() {
    find_statistics();
    for (const Node& node : network_.nodes()) ISOMER_CHECK(copy(node));
    for (size_t i = 0; i < network_.outputs().size(); ++i) ISOMER_CHECK(add_loss(copies_[network_.outputs()[i]], i));
    return {};
  }

  /// The graph, whose outputs are the loss and the new running statistics.
  Graph finish() {
    builder_.name(loss_, "loss");
    std::vector<ValueId> outputs{loss_};
    outputs.insert(outputs.end(), new_statistics_.begin(), new_statistics_.end());
    return builder_.finish(outputs);
  }
  /// The initial values of the inputs.
  const std::vector<Tensor>& initial() const { return initial_; }
  /// The inputs that are trained.
  const std::vector<size_t>& parameters() const { return parameters_; }

 private:
  void find_statistics() {
    is_statistic_.assign(network_.num_values(), false);
    for (const Node& node : network_.nodes()) {
      if (!is_batch_norm(node)) continue;
      for (const size_t i : {kMean, kVariance}) is_statistic_[network_.operands(node)[i]] = true;
    }
  }

  ValueId input(const TensorType& type, const std::string& name, Tensor initial) {
    const ValueId value = builder_.input(type);
    if (!name.empty()) builder_.name(value, name);
    initial_.push_back(std::move(initial));
    return value;
  }
  Result<ValueId> add(const char* name, const Attrs& attrs, std::initializer_list<ValueId> operands) {
    return builder_.add(op(name), attrs, operands);
  }

  Status copy(const Node& node) {
    if (node.is_input()) {
      copies_[node.result()] = input(network_.type(node.result()), network_.name(node.result()), Tensor());
      return {};
    }
    if (node.is_constant()) return copy_constant(node);
    if (is_batch_norm(node)) return copy_batch_norm(node);
    std::vector<ValueId> operands;
    for (const ValueId operand : network_.operands(node))
      operands.push_back(operand == kNoValue ? kNoValue : copies_[operand]);
    ISOMER_TRY(const NodeId id, builder_.copy(network_, node, operands));
    for (uint32_t i = 0; i < node.num_results; ++i) copies_[node.result(i)] = builder_.at(id).result(i);
    return {};
  }

  /// Named constants of real numbers with axes are weights.
  Status copy_constant(const Node& node) {
    const ValueId value = node.result();
    const TensorType& type = network_.type(value);
    const Tensor& data = *network_.constant(value);
    if (network_.name(value).empty() || !is_real(type.dtype) || type.rank() == 0) {
      copies_[value] = builder_.constant(data);
      return {};
    }
    if (!is_statistic_[value]) parameters_.push_back(initial_.size());
    copies_[value] = input(type, network_.name(value), data);
    return {};
  }

  Status copy_batch_norm(const Node& node) {
    std::vector<ValueId> operands;
    for (const ValueId operand : network_.operands(node)) operands.push_back(copies_[operand]);
    NodeWriter writer(builder_, *node.op, node.attrs, operands);
    return NodeWriter::attempt([&] {
      const WrittenBatchNorm written = written_batch_norm(writer, true);
      copies_[node.result()] = written.y.id();
      add_statistic(operands[kMean], written.mean.id());
      add_statistic(operands[kVariance], written.variance.id());
    });
  }

  void add_statistic(ValueId running, ValueId next) {
    new_statistics_.push_back(next);
    builder_.name(next, kNewValue + builder_.peek().name(running));
  }

  Status add_loss(ValueId output, size_t index) {
    ISOMER_TRY(const ValueId loss, builder_.type(output).rank() == 2 ? cross_entropy(output, numbered("labels", index))
                                                                     : squared(output, numbered("target", index)));
    if (loss_ == kNoValue) {
      loss_ = loss;
      return {};
    }
    ISOMER_TRY(loss_, add("Add", {}, {loss_, loss}));
    return {};
  }

  std::string numbered(const std::string& name, size_t index) const {
    return network_.outputs().size() == 1 ? name : fmt::format("{}_{}", name, index);
  }

  Result<ValueId> cross_entropy(ValueId scores, const std::string& name) {
    const Dim batch = (*builder_.type(scores).shape)[0];
    const ValueId labels = input({DType::Int64, {batch}}, name, Tensor());
    return add("SoftmaxCrossEntropyLoss", {}, {scores, labels});
  }

  Result<ValueId> squared(ValueId output, const std::string& name) {
    const TensorType type = builder_.type(output);
    const ValueId target = input(type, name, Tensor());
    ISOMER_TRY(const ValueId difference, add("Sub", {}, {output, target}));
    ISOMER_TRY(const ValueId squares, add("Mul", {}, {difference, difference}));
    Ints axes;
    for (size_t i = 0; i < type.rank(); ++i) axes.push_back(static_cast<int64_t>(i));
    return add("ReduceMean", {{"axes", axes}, {"keepdims", int64_t{0}}}, {squares});
  }

  const Graph& network_;
  GraphBuilder builder_;
  std::vector<ValueId> copies_;
  std::vector<bool> is_statistic_;
  std::vector<Tensor> initial_;
  std::vector<size_t> parameters_;
  std::vector<ValueId> new_statistics_;
  ValueId loss_ = kNoValue;
};

}  // namespace

Result<TrainingNetwork> training_network(const std::string& name, int batch, uint64_t seed,
                                         const Optimizer& optimizer) {
  ISOMER_TRY(const Graph network, build_model(name, batch, seed));
  Trainable trainable(network);
  ISOMER_CHECK(trainable.build());
  const Graph graph = trainable.finish();
  std::vector<ValueId> parameters;
  for (const size_t i : trainable.parameters()) parameters.push_back(graph.inputs()[i]);
  ISOMER_TRY(TrainingStep step, make_training_step(graph, graph.outputs()[0], parameters, optimizer));
  TrainingNetwork out{std::move(step.graph), trainable.initial()};
  for (size_t i = step.first_state; i < out.graph.inputs().size(); ++i) {
    const TensorType& type = out.graph.type(out.graph.inputs()[i]);
    out.initial.push_back(Tensor::zeros(type.dtype, *concrete(*type.shape)));
  }
  return out;
}

}  // namespace isomer
