#include "isomer/optimize/merge_parameters.h"

#include <algorithm>
#include <map>
#include <set>

#include "isomer/eval/join.h"
#include "isomer/ir/copy.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

constexpr const char* kMerged = "merged/";

/// Inputs that become one, by their places among the inputs of the graph, and the axis along which they are joined.
struct InputGroup {
  int64_t axis;
  std::vector<size_t> inputs;
};

/// Finds the inputs that can be merged.
class GroupFinder {
 public:
  explicit GroupFinder(const Model& model) : graph_(model.graph) {
    std::map<std::string, size_t> outputs;
    for (size_t i = 0; i < graph_.outputs().size(); ++i) outputs.emplace(output_name(model, i), i);
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const ValueId input = graph_.inputs()[i];
      const auto replaced = outputs.find(kNewValue + input_name(model, i));
      const TensorType& type = graph_.type(input);
      if (replaced == outputs.end() || input_default(model, i) == nullptr || !type.shape || !concrete(*type.shape) ||
          graph_.type(graph_.outputs()[replaced->second]) != type)
        continue;
      states_.emplace(input, State{i, graph_.outputs()[replaced->second]});
    }
  }

  std::vector<InputGroup> run() {
    for (const auto& [axis, members] : readers_of_the_same())
      if (members.size() > 1 && std::ranges::none_of(members, [&](ValueId v) { return taken_.contains(v); }))
        take(axis, members);
    return std::move(groups_);
  }

 private:
  /// An input whose value each step replaces.
  struct State {
    size_t place;
    ValueId next;
  };
  using Members = std::vector<ValueId>;

  bool is_state(ValueId value) const { return states_.contains(value); }

  /// A parameter that a product or convolution reads, and its axis that is one of the result's channels.
  struct Weight {
    ValueId value;
    int64_t axis;
  };

  std::optional<Weight> weight_of(const Node& node) const {
    if (node.is_opaque() || node.is_input() || node.is_constant() || !node.op->domain.empty()) return std::nullopt;
    const auto operands = graph_.operands(node);
    const std::string& name = node.op->name;
    if (name == "MatMul") {
      if (is_state(operands[1]) && graph_.type(operands[1]).rank() == 2) return Weight{operands[1], 1};
      const Node& before = graph_.producer_node(operands[1]);
      if (before.is_opaque() || before.op != &op("Transpose") || !is_state(graph_.operands(before)[0]) ||
          before.attrs.ints("perm") != Ints{1, 0})
        return std::nullopt;
      return Weight{graph_.operands(before)[0], 0};
    }
    if (operands.size() < 2 || !is_state(operands[1])) return std::nullopt;
    if (name == "Gemm") return Weight{operands[1], node.attrs.integer("transB") != 0 ? 0 : 1};
    if (name == "Conv" && node.attrs.integer("group") == 1) return Weight{operands[1], 0};
    return std::nullopt;
  }

  /// Returns what must be equal in nodes whose weights are merged: all but the extent of the weights' axis.
  std::string key_of(const Node& node, const Weight& weight) const {
    const auto operands = graph_.operands(node);
    const TensorType& type = graph_.type(weight.value);
    Shape others = *type.shape;
    others.erase(others.begin() + weight.axis);
    const bool has_bias = operands.size() > 2 && operands[2] != kNoValue;
    return fmt::format("{} {} {:x} {} {} {}", node.op->name, operands[0], node.attrs.hash(), weight.axis,
                       TensorType{type.dtype, others}.str(), has_bias);
  }

  /// Returns the weights of nodes that read the same data, in order, and their axis.
  std::vector<std::pair<int64_t, Members>> readers_of_the_same() {
    std::map<std::string, size_t> known;
    std::vector<std::pair<int64_t, Members>> out;
    for (const Node& node : graph_.nodes()) {
      const auto weight = weight_of(node);
      if (!weight) continue;
      const auto [at, is_new] = known.emplace(key_of(node, *weight), out.size());
      if (is_new) out.push_back({weight->axis, {}});
      Members& members = out[at->second].second;
      if (std::ranges::find(members, weight->value) != members.end()) continue;
      members.push_back(weight->value);
      note_bias(node, weight->value);
    }
    return out;
  }

  /// Notes the bias of a node's weights: an operand, or what is added to all rows of the product.
  void note_bias(const Node& node, ValueId weight) {
    const auto operands = graph_.operands(node);
    ValueId bias = operands.size() > 2 ? operands[2] : kNoValue;
    const auto readers = graph_.consumers(node.result());
    if (node.op->name == "MatMul" && readers.size() == 1) {
      const Node& reader = graph_.node(readers[0]);
      if (!reader.is_opaque() && reader.op == &op("Add"))
        for (const ValueId operand : graph_.operands(reader))
          if (operand != node.result()) bias = operand;
    }
    if (bias != kNoValue && is_state(bias) && graph_.type(bias).rank() == 1) biases_.emplace(weight, bias);
  }

  /// Makes a group of inputs, and of what belongs to them: their biases, and the state of the optimizer for both.
  void take(int64_t axis, const Members& members) {
    add(axis, members);
    Members biases;
    for (const ValueId member : members)
      if (const auto bias = biases_.find(member); bias != biases_.end()) biases.push_back(bias->second);
    const std::set<ValueId> distinct(biases.begin(), biases.end());
    const bool free = std::ranges::none_of(biases, [&](ValueId bias) { return taken_.contains(bias); });
    if (distinct.size() == members.size() && free && alike(biases, 0)) add(0, biases);
  }

  void add(int64_t axis, const Members& members) {
    InputGroup group{axis, {}};
    Members next;
    for (const ValueId member : members) {
      taken_.insert(member);
      group.inputs.push_back(states_.at(member).place);
      next.push_back(states_.at(member).next);
    }
    groups_.push_back(std::move(group));
    std::set<Members> seen;
    follow(axis, next, seen);
  }

  /// Returns whether values can be joined along an axis.
  bool alike(const Members& values, int64_t axis) const {
    const auto others = [&](ValueId value) -> std::optional<TensorType> {
      if (value == kNoValue || !graph_.type(value).shape) return std::nullopt;
      Shape extents = *graph_.type(value).shape;
      if (static_cast<size_t>(axis) >= extents.size()) return std::nullopt;
      extents.erase(extents.begin() + axis);
      return TensorType{graph_.type(value).dtype, extents};
    };
    const auto first = others(values[0]);
    return first && std::ranges::all_of(values, [&](ValueId value) { return others(value) == first; });
  }

  /// Looks for state that the new values of a group are computed from, element by element and in the same way.
  // NOLINTNEXTLINE(misc-no-recursion): each list of values is looked at once
  void follow(int64_t axis, const Members& values, std::set<Members>& seen) {
    const std::set<ValueId> distinct(values.begin(), values.end());
    if (!alike(values, axis) || distinct.size() != values.size() || !seen.insert(values).second) return;
    if (std::ranges::all_of(values, [&](ValueId v) { return is_state(v); })) {
      if (std::ranges::none_of(values, [&](ValueId v) { return taken_.contains(v); })) add(axis, values);
      return;
    }
    const Node& first = graph_.producer_node(values[0]);
    for (const ValueId value : values) {
      const Node& node = graph_.producer_node(value);
      if (node.is_input() || node.is_constant() || node.is_opaque() || node.op != first.op ||
          !node.op->has(Trait::Elementwise) || node.attrs != first.attrs ||
          graph_.operands(node).size() != graph_.operands(first).size())
        return;
    }
    for (size_t i = 0; i < graph_.operands(first).size(); ++i) {
      Members operands;
      for (const ValueId value : values) operands.push_back(graph_.operands(graph_.producer_node(value))[i]);
      follow(axis, operands, seen);
    }
  }

  const Graph& graph_;
  std::map<ValueId, State> states_;
  std::map<ValueId, ValueId> biases_;  // by weight
  std::set<ValueId> taken_;
  std::vector<InputGroup> groups_;
};

/// Makes a step with merged inputs. The checker of certificates makes it anew, with code of its own.
class StepMerger {
 public:
  StepMerger(const Model& model, std::span<const InputGroup> groups)
      : model_(model), graph_(model.graph), groups_(groups), builder_(graph_.name_table()) {}

  Result<MergedModel> run() {
    for (const InputGroup& group : groups_) ISOMER_CHECK(describe(group));
    ISOMER_TRY(const std::vector<ValueId> copies,
               copy_values(builder_, graph_, [&](ValueId input) { return copied_input(input); }));
    for (ValueId value = 0; value < graph_.num_values(); ++value)
      if (graph_.origin(value) != kNoOrigin) builder_.set_origin(copies[value], graph_.origin(value));
    std::vector<ValueId> results;
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const auto whole = whole_of_output_.find(output_name(model_, i));
      if (whole == whole_of_output_.end()) {
        results.push_back(copies[graph_.outputs()[i]]);
        outputs_.push_back({output_name(model_, i)});
        continue;
      }
      const MergedInput& merged = merged_[whole->second];
      if (std::ranges::find(outputs_, kNewValue + merged.input, &Port::name) != outputs_.end()) continue;
      std::vector<ValueId> parts;
      for (const std::string& part : merged.parts) parts.push_back(copies[output_called(kNewValue + part)]);
      ISOMER_TRY(const ValueId joined, builder_.add(op("Concat"), {{"axis", merged.axis}}, parts));
      results.push_back(joined);
      outputs_.push_back({kNewValue + merged.input});
    }
    ISOMER_TRY(Model model, with_ports(model_, builder_.finish(results), inputs_, outputs_));
    return MergedModel{std::move(model), std::move(merged_)};
  }

 private:
  Status describe(const InputGroup& group) {
    MergedInput out{.axis = group.axis, .input = free_name(kMerged + input_name(model_, group.inputs[0]))};
    for (const size_t input : group.inputs) {
      const std::string part = input_name(model_, input);
      out.parts.push_back(part);
      whole_of_input_.emplace(input, merged_.size());
      whole_of_output_.emplace(kNewValue + part, merged_.size());
    }
    merged_.push_back(std::move(out));
    return {};
  }

  /// Returns a name that no value of the model has, and whose new value's name none has either.
  std::string free_name(const std::string& wish) const {
    std::string name = wish;
    for (int n = 2; has_value(model_, name) || has_value(model_, kNewValue + name); ++n)
      name = fmt::format("{}_{}", wish, n);
    return name;
  }

  ValueId output_called(const std::string& name) const {
    size_t i = 0;
    while (output_name(model_, i) != name) ++i;
    return graph_.outputs()[i];
  }

  /// Called for all inputs in order.
  Result<ValueId> copied_input(ValueId input) {
    const size_t place = next_input_++;
    const auto whole = whole_of_input_.find(place);
    if (whole == whole_of_input_.end()) {
      const Tensor* const preset = input_default(model_, place);
      inputs_.push_back({input_name(model_, place), preset == nullptr ? Tensor() : *preset});
      return builder_.input_like(graph_, input);
    }
    if (const auto made = parts_.find(place); made != parts_.end()) return made->second;
    const InputGroup& group = groups_[whole->second];
    std::vector<Tensor> presets;
    Ints sizes;
    for (const size_t part : group.inputs) {
      presets.push_back(*input_default(model_, part));
      sizes.push_back(presets.back().dims()[static_cast<size_t>(group.axis)]);
    }
    ISOMER_TRY(Tensor preset, joined(presets, group.axis));
    const ValueId merged = builder_.parameter(preset.type());
    inputs_.push_back({merged_[whole->second].input, std::move(preset)});
    ISOMER_TRY(const NodeId split, builder_.node(op("Split"), {{"axis", group.axis}, {"split", sizes}},
                                                 std::vector{merged}, group.inputs.size()));
    for (size_t i = 0; i < group.inputs.size(); ++i) parts_.emplace(group.inputs[i], builder_.at(split).result(i));
    return parts_.at(place);
  }

  const Model& model_;
  const Graph& graph_;
  const std::span<const InputGroup> groups_;
  GraphBuilder builder_;
  std::vector<MergedInput> merged_;          // by group
  std::map<size_t, size_t> whole_of_input_;  // groups by the places of inputs
  std::map<std::string, size_t> whole_of_output_;
  std::map<size_t, ValueId> parts_;  // by place
  size_t next_input_ = 0;
  std::vector<Port> inputs_, outputs_;
};

}  // namespace

Result<std::optional<MergedModel>> merge_parameters(const Model& model) {
  const std::vector<InputGroup> groups = GroupFinder(model).run();
  if (groups.empty()) return std::nullopt;
  ISOMER_TRY(MergedModel merged, StepMerger(model, groups).run());
  return merged;
}

}  // namespace isomer
