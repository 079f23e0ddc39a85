#include "isomer/certificate/merge_inputs.h"

#include <algorithm>
#include <map>

#include "isomer/eval/join.h"
#include "isomer/ir/builder.h"
#include "isomer/ops/registry.h"

namespace isomer::replay {
namespace {

/// The inputs or outputs of a model by name, each of which may be taken once.
class Places {
 public:
  Places(const Model& model, bool inputs) : kind_(inputs ? "input" : "output") {
    const size_t count = inputs ? model.graph.inputs().size() : model.graph.outputs().size();
    for (size_t i = 0; i < count; ++i) places_.emplace(inputs ? input_name(model, i) : output_name(model, i), i);
  }

  Result<size_t> take(const std::string& name) {
    const auto at = places_.find(name);
    if (at == places_.end()) return fail("{} '{}' does not exist, or is merged twice", kind_, name);
    const size_t place = at->second;
    places_.erase(at);
    return place;
  }

 private:
  const char* const kind_;
  std::map<std::string, size_t> places_;
};

/// The places of the parts of a merged input.
struct Found {
  std::vector<size_t> inputs;
  std::vector<size_t> outputs;
};

Result<std::vector<Found>> find(const Model& model, std::span<const MergedInput> merged) {
  Places inputs(model, true), outputs(model, false);
  std::vector<Found> out;
  for (const MergedInput& one : merged) {
    if (one.parts.size() < 2) return fail("'{}' has fewer than two parts", one.input);
    for (const std::string& name : {one.input, kNewValue + one.input})
      if (has_value(model, name)) return fail("the model already has a value '{}'", name);
    Found& found = out.emplace_back();
    for (const std::string& part : one.parts) {
      ISOMER_TRY(const size_t input, inputs.take(part));
      ISOMER_TRY(const size_t output, outputs.take(kNewValue + part));
      const TensorType& type = model.graph.type(model.graph.inputs()[input]);
      if (type != model.graph.type(model.graph.outputs()[output]))
        return fail("input '{}' is {}, but its new value is not", part, type.str());
      if (!type.shape || !concrete(*type.shape) || input_default(model, input) == nullptr)
        return fail("input '{}' has no default of known extents", part);
      found.inputs.push_back(input);
      found.outputs.push_back(output);
    }
  }
  return out;
}

/// Rebuilds a graph with merged inputs.
class InputMerger {
 public:
  InputMerger(const Model& model, std::span<const MergedInput> merged, std::vector<Found> found)
      : model_(model),
        graph_(model.graph),
        merged_(merged),
        found_(std::move(found)),
        builder_(graph_.name_table()),
        images_(graph_.num_values(), kNoValue) {}

  Result<Model> run() {
    for (size_t i = 0; i < graph_.inputs().size(); ++i) ISOMER_CHECK(add_input(i));
    for (const Node& node : graph_.nodes())
      if (!node.is_input()) ISOMER_CHECK(add_node(node));
    for (size_t i = 0; i < graph_.outputs().size(); ++i) ISOMER_CHECK(add_output(i));
    return with_ports(model_, builder_.finish(results_), inputs_, outputs_);
  }

 private:
  /// Returns the number of the merged input that an input or output is a part of; nothing if it stays as it is.
  std::optional<size_t> merged_at(size_t place, std::vector<size_t> Found::*places) const {
    for (size_t m = 0; m < found_.size(); ++m)
      if (std::ranges::find(found_[m].*places, place) != (found_[m].*places).end()) return m;
    return std::nullopt;
  }

  Status add_input(size_t place) {
    const auto m = merged_at(place, &Found::inputs);
    if (!m) {
      const Tensor* const preset = input_default(model_, place);
      images_[graph_.inputs()[place]] = builder_.input_like(graph_, graph_.inputs()[place]);
      keep_name(graph_.inputs()[place]);
      inputs_.push_back({input_name(model_, place), preset == nullptr ? Tensor() : *preset});
      return {};
    }
    const Found& found = found_[*m];
    if (place != std::ranges::min(found.inputs)) return {};
    const int64_t axis = merged_[*m].axis;
    std::vector<Tensor> presets;
    for (const size_t part : found.inputs) presets.push_back(*input_default(model_, part));
    ISOMER_TRY(Tensor whole, joined(presets, axis));
    const size_t rank = whole.dims().size();
    if (axis < 0 || static_cast<size_t>(axis) >= rank) return fail("'{}' has no axis {}", merged_[*m].input, axis);
    Ints sizes;
    for (const Tensor& preset : presets) sizes.push_back(preset.dims()[static_cast<size_t>(axis)]);
    const ValueId input = builder_.parameter(whole.type());
    ISOMER_TRY(const NodeId split,
               builder_.node(op("Split"), {{"axis", axis}, {"split", sizes}}, std::vector{input}, found.inputs.size()));
    for (size_t i = 0; i < found.inputs.size(); ++i) {
      const ValueId part = graph_.inputs()[found.inputs[i]];
      images_[part] = builder_.at(split).result(i);
      if (builder_.type(images_[part]) != graph_.type(part)) return fail("the parts of '{}' differ", merged_[*m].input);
      keep_name(part);
    }
    inputs_.push_back({merged_[*m].input, std::move(whole)});
    return {};
  }

  Status add_node(const Node& node) {
    std::vector<ValueId> operands;
    for (const ValueId operand : graph_.operands(node))
      operands.push_back(operand == kNoValue ? kNoValue : images_[operand]);
    ISOMER_TRY(const NodeId copy, builder_.copy(graph_, node, operands));
    for (uint32_t r = 0; r < node.num_results; ++r) {
      images_[node.result(r)] = builder_.at(copy).result(r);
      keep_name(node.result(r));
    }
    return {};
  }

  Status add_output(size_t place) {
    const auto m = merged_at(place, &Found::outputs);
    if (!m) {
      results_.push_back(images_[graph_.outputs()[place]]);
      outputs_.push_back({output_name(model_, place)});
      return {};
    }
    const Found& found = found_[*m];
    if (place != std::ranges::min(found.outputs)) return {};
    std::vector<ValueId> parts;
    for (const size_t part : found.outputs) parts.push_back(images_[graph_.outputs()[part]]);
    ISOMER_TRY(const ValueId whole, builder_.add(op("Concat"), {{"axis", merged_[*m].axis}}, parts));
    results_.push_back(whole);
    outputs_.push_back({kNewValue + merged_[*m].input});
    return {};
  }

  void keep_name(ValueId value) {
    if (graph_.origin(value) != kNoOrigin) builder_.set_origin(images_[value], graph_.origin(value));
  }

  const Model& model_;
  const Graph& graph_;
  const std::span<const MergedInput> merged_;
  const std::vector<Found> found_;
  GraphBuilder builder_;
  std::vector<ValueId> images_;
  std::vector<ValueId> results_;
  std::vector<Port> inputs_, outputs_;
};

}  // namespace

Result<Model> merge_inputs(const Model& model, std::span<const MergedInput> merged) {
  if (merged.empty()) return model;
  ISOMER_TRY(std::vector<Found> found, find(model, merged));
  return InputMerger(model, merged, std::move(found)).run();
}

Result<std::vector<Tensor>> merge_outputs(const Model& model, std::span<const MergedInput> merged,
                                          std::span<const Tensor> outputs) {
  ISOMER_TRY(const std::vector<Found> found, find(model, merged));
  std::map<size_t, Tensor> at;  // by place
  for (size_t i = 0; i < outputs.size(); ++i) at.emplace(i, outputs[i]);
  for (size_t m = 0; m < merged.size(); ++m) {
    std::vector<Tensor> parts;
    for (const size_t place : found[m].outputs) parts.push_back(at.extract(place).mapped());
    ISOMER_TRY(at[std::ranges::min(found[m].outputs)], joined(parts, merged[m].axis));
  }
  std::vector<Tensor> out;
  for (auto& [place, tensor] : at) out.push_back(std::move(tensor));
  return out;
}

}  // namespace isomer::replay
