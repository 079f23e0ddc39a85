#include "isomer/grad/batch_norm.h"

#include <algorithm>

#include "isomer/ir/derivation.h"
#include "isomer/ir/label.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using enum BatchNormOperands::Operand;

/// Whether ONNX's operator normalizes by the batch.
bool is_in_training_form(const Node& node) {
  if (!node.is_opaque() || node.attrs.text("@op_type") != "BatchNormalization") return false;
  const AttrValue* const training = node.attrs.find("training_mode");
  const auto* const mode = training == nullptr ? nullptr : std::get_if<int64_t>(training);
  return node.attrs.text("@domain").empty() && mode != nullptr && *mode != 0;
}

/// Copies a graph.
class TrainingForm {
 public:
  TrainingForm(const Graph& graph, bool all) : from_(graph), all_(all), builder_(graph.name_table()) {
    copies_.assign(graph.num_values(), kNoValue);
  }

  Result<BatchStatistics> run() {
    for (NodeId id = 0; id < from_.nodes().size(); ++id)
      if (const Status copied = copy(from_.node(id)); !copied) return fail_in(node_label(from_, id), copied.error());
    std::vector<ValueId> outputs;
    for (const ValueId output : from_.outputs()) outputs.push_back(copies_[output]);
    outputs.insert(outputs.end(), statistics_.begin(), statistics_.end());
    out_.graph = builder_.finish(outputs);
    return std::move(out_);
  }

 private:
  Status copy(const Node& node) {
    if (node.is_input()) {
      copies_[node.result()] = builder_.input_like(from_, node.result());
      return {};
    }
    std::vector<ValueId> operands;
    for (const ValueId operand : from_.operands(node))
      operands.push_back(operand == kNoValue ? kNoValue : copies_[operand]);
    const bool in_training_form = is_in_training_form(node);
    if (in_training_form || (all_ && is_batch_norm(node))) return write(node, operands);
    if (is_batch_norm(node)) ++out_.running;
    ISOMER_TRY(const NodeId id, builder_.copy(from_, node, operands));
    for (uint32_t i = 0; i < node.num_results; ++i) rename(node.result(i), builder_.at(id).result(i));
    return {};
  }

  void rename(ValueId value, ValueId copy) {
    copies_[value] = copy;
    if (from_.origin(value) != kNoOrigin) builder_.set_origin(copy, from_.origin(value));
  }

  Status write(const Node& node, std::span<const ValueId> operands) {
    if (operands.size() != kVariance + 1 || std::ranges::find(operands, kNoValue) != operands.end())
      return fail("it needs 5 operands");
    for (const ValueId operand : operands)
      if (!builder_.type(operand).known() || !is_real(builder_.type(operand).dtype))
        return fail("the type of an operand is not known, or it has no real numbers");
    ++out_.batch;
    NodeWriter given(builder_, op("BatchNormalization"), {}, operands);
    return NodeWriter::attempt([&] {
      const DType dtype = given.operand(kMean).dtype();
      std::vector<ValueId> alike;
      for (size_t i = 0; i <= kVariance; ++i) alike.push_back(converted(given.operand(i), dtype).id());
      NodeWriter writer(builder_, given.op(), checked_attrs(given, node, alike), alike);
      const WrittenBatchNorm written = written_batch_norm(writer, false);
      rename(node.result(0), converted(written.y, given.operand(kData).dtype()).id());
      const ValueId statistics[] = {written.mean.id(), written.variance.id()};
      const auto running = from_.operands(node).subspan(kMean, 2);
      for (uint32_t i = 0; i < 2; ++i) {
        if (i + 1 < node.num_results) rename(node.result(i + 1), statistics[i]);
        add_statistic(running[i], statistics[i], running[0] == running[1]);
      }
    });
  }

  /// The attributes of the inference form. Refuses operands and attributes that this form does not take.
  Attrs checked_attrs(const NodeWriter& given, const Node& node, std::span<const ValueId> operands) {
    Attrs attrs;
    for (const char* name : {"epsilon", "momentum"})
      if (const AttrValue* const value = node.attrs.find(name)) attrs = attrs.with(name, *value);
    const auto inference_form = builder_.node(given.op(), attrs, operands);
    if (!inference_form) given.refuse(inference_form.error().message);
    return builder_.at(*inference_form).attrs;
  }

  void add_statistic(ValueId running, ValueId next, bool shared) {
    const std::string& name = from_.name(running);
    if (!from_.producer_node(running).is_input() || name.empty()) return;
    if (shared || from_.consumers(running).size() != 1) {
      if (std::ranges::find(out_.frozen, name) == out_.frozen.end()) out_.frozen.push_back(name);
      return;
    }
    statistics_.push_back(next);
    out_.outputs.push_back(kNewValue + name);
  }

  const Graph& from_;
  const bool all_;
  GraphBuilder builder_;
  std::vector<ValueId> copies_;
  std::vector<ValueId> statistics_;
  BatchStatistics out_;
};

}  // namespace

bool is_batch_norm(const Node& node) { return node.op == &op("BatchNormalization"); }

WrittenBatchNorm written_batch_norm(NodeWriter& node, bool sample) {
  const GraphValue x = node.operand(kData);
  Ints axes{0};
  for (size_t i = 2; i < x.rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  const GraphValue mean = averaged(x, axes);
  const GraphValue centered = x - mean;
  const GraphValue variance = averaged(square(centered), axes);
  const GraphValue normal = centered / apply("Sqrt", {variance + node.attrs().real("epsilon")});
  const GraphValue scale = per_channel(node.operand(kScale), x.rank());
  const GraphValue y = normal * scale + per_channel(node.operand(kBias), x.rank());
  const double momentum = node.attrs().real("momentum");
  const double count = sample ? element_count(x, axes) : 0;
  const auto mixed = [&](size_t running, const GraphValue& batch, double share) {
    return momentum * node.operand(running) + share * node.call("Squeeze", {{"axes", axes}}, {batch});
  };
  return {y, mixed(kMean, mean, 1 - momentum),
          mixed(kVariance, variance, (1 - momentum) * (count > 1 ? count / (count - 1) : 1))};
}

Result<BatchStatistics> with_batch_statistics(const Graph& graph, bool all) { return TrainingForm(graph, all).run(); }

}  // namespace isomer
