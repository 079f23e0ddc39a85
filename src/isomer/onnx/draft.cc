#include "isomer/onnx/draft.h"

#include <algorithm>

#include "isomer/ir/label.h"
#include "isomer/onnx/names.h"
#include "isomer/onnx/node_form.h"
#include "isomer/onnx/proto_attr.h"
#include "isomer/onnx/proto_tensor.h"
#include "isomer/onnx/subgraphs.h"
#include "isomer/onnx/value_types.h"

namespace isomer {
namespace {

/// The opset of Identity for aliases if the model does not import the standard domain.
constexpr int kAliasOpset = 13;

class Drafter {
 public:
  Drafter(const Graph& graph, const ModelInfo& info, ExportNames names)
      : graph_(graph), info_(info), names_(std::move(names)) {}

  Result<Draft> run() {
    draft_.model = info_.model;
    proto_ = draft_.model.mutable_graph();
    for (const auto& old : info_.model.graph().initializer()) initializers_[old.name()] = &old;
    proto_->clear_initializer();
    add_constants();
    for (NodeId id = 0; id < graph_.nodes().size(); ++id)
      if (graph_.node(id).is_input() || graph_.node(id).is_constant()) add_aliases(graph_.node(id));
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) ISOMER_CHECK(add_node(id));
    list_inputs();
    drop_stale();
    return std::move(draft_);
  }

 private:
  void add_weight(const std::string& name, const Tensor& tensor) {
    onnx::TensorProto header = tensor_header(tensor);
    if (const auto old = initializers_.find(name); old != initializers_.end()) header.MergeFrom(*old->second);
    header.set_name(name);
    draft_.weights.push_back({std::move(header), tensor});
  }

  void add_constants() {
    for (const auto& [name, tensor] : info_.defaults) add_weight(name, tensor);
    for (const Node& node : graph_.nodes()) {
      if (!node.is_constant()) continue;
      const Tensor& tensor = node.attrs.tensor("value");
      parameters_[tensor.hash()].push_back(draft_.weights.size());
      add_weight(names_.of(node.result()), tensor);
    }
  }

  /// The name of an initializer with these elements: from the graph, from the model, or a new one.
  std::string parameter(const Tensor& tensor) {
    auto& same = parameters_[tensor.hash()];
    for (const size_t index : same)
      if (draft_.weights[index].tensor == tensor) return draft_.weights[index].header.name();
    const auto old = info_.constant_names.find(tensor.hash());
    const bool again = old != info_.constant_names.end() && names_.take(old->second);
    std::string name = again ? old->second : names_.fresh("param");
    same.push_back(draft_.weights.size());
    add_weight(name, tensor);
    return name;
  }

  void add_aliases(const Node& node) {
    for (uint32_t i = 0; i < node.num_results; ++i) {
      for (const std::string& alias : names_.aliases(node.result(i))) {
        onnx::NodeProto* identity = proto_->add_node();
        identity->set_op_type("Identity");
        identity->set_name(node_names_.insert(alias).second ? alias : "");
        identity->add_input(names_.of(node.result(i)));
        identity->add_output(alias);
        if (info_.opsets.contains("") || std::exchange(alias_opset_, true)) continue;
        draft_.model.add_opset_import()->set_version(kAliasOpset);
      }
    }
  }

  bool needed(ValueId value) const {
    return !graph_.consumers(value).empty() || graph_.is_output(value) || graph_.origin(value) != kNoOrigin;
  }

  Status add_node(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.is_input() || node.is_constant()) return {};
    auto status = node.is_opaque() ? add_opaque(id) : add_known(node);
    if (!status) return fail_in(node_label(graph_, id), status.error());
    add_aliases(node);
    return {};
  }

  Status add_opaque(NodeId id) {
    const Node& node = graph_.node(id);
    const std::string& bytes = node.attrs.text("@node");
    if (is_own(node, kTrainedInitializer)) return {};  // written with the defaults
    if (is_own(node, kSparseInitializer)) {
      auto* sparse = proto_->add_sparse_initializer();
      if (!sparse->ParseFromString(bytes)) return fail("its '@node' is not a sparse tensor");
      sparse->mutable_values()->set_name(names_.of(node.result()));
      return {};
    }
    onnx::NodeProto proto;
    if (!proto.ParseFromString(bytes)) return fail("its '@node' is not an ONNX node");
    const auto operands = graph_.operands(node);
    const auto captures = static_cast<size_t>(node.attrs.integer("@captures"));
    if (captures > operands.size()) return fail("it captures more values than it has operands");
    proto.clear_input();
    for (const ValueId operand : operands.first(operands.size() - captures))
      proto.add_input(operand == kNoValue ? "" : names_.of(operand));
    proto.clear_output();
    for (uint32_t i = 0; i < node.num_results; ++i)
      proto.add_output(needed(node.result(i)) ? names_.of(node.result(i)) : "");
    if (!names_.renamed_captures(id).empty()) rename_captures(proto, names_.renamed_captures(id));
    node_names_.insert(proto.name());
    *proto_->add_node() = std::move(proto);
    return {};
  }

  /// The node's name, doc string, ... from the model.
  onnx::NodeProto side_of(const Node& node, const OnnxForm& form) {
    onnx::NodeProto side;
    const onnx::NodeProto* old = nullptr;
    for (uint32_t i = 0; i < node.num_results && old == nullptr; ++i)
      if (const auto at = info_.nodes.find(graph_.origin(node.result(i))); at != info_.nodes.end()) old = &at->second;
    if (old != nullptr && old->op_type() == form.op_type) side = *old;
    std::string name = old != nullptr ? old->name() : names_.of(node.result());
    if (!name.empty() && !node_names_.insert(name).second) name.clear();
    side.clear_name();
    if (!name.empty()) side.set_name(name);
    side.set_op_type(form.op_type);
    if (normal_domain(side.domain()) != form.domain) side.set_domain(form.domain);
    return side;
  }

  Status add_known(const Node& node) {
    ISOMER_TRY(const OnnxForm form, onnx_form_of(graph_, node, info_));
    onnx::NodeProto proto = side_of(node, form);
    for (const FormOperand& operand : form.operands) {
      if (operand.value != kNoValue)
        proto.add_input(names_.of(operand.value));
      else
        proto.add_input(operand.constant.empty() ? "" : parameter(operand.constant));
    }
    while (proto.input_size() > 0 && proto.input(proto.input_size() - 1).empty()) proto.mutable_input()->RemoveLast();
    // An optional result may be omitted if nobody reads it and the model did not name it.
    const bool may_omit = node.op->max_results != OpDef::kVariadic;
    for (uint32_t i = 0; i < node.num_results; ++i) {
      const bool omit = may_omit && i >= node.op->min_results && i > 0 && !needed(node.result(i));
      proto.add_output(omit ? "" : names_.of(node.result(i)));
    }
    while (proto.output(proto.output_size() - 1).empty()) proto.mutable_output()->RemoveLast();
    for (const auto& [attr, value] : form.attrs) *proto.add_attribute() = attr_proto(attr, value);
    *proto_->add_node() = std::move(proto);
    return {};
  }

  /// Models before IR version 4 list their initializers as inputs.
  void list_inputs() {
    std::unordered_set<std::string> listed(info_.inputs.begin(), info_.inputs.end());
    std::unordered_set<std::string> weights;
    for (const Weight& weight : draft_.weights) weights.insert(weight.header.name());
    auto& inputs = *proto_->mutable_input();
    const auto gone = [&](const auto& input) {
      return !listed.contains(input.name()) && !weights.contains(input.name());
    };
    inputs.erase(std::remove_if(inputs.begin(), inputs.end(), gone), inputs.end());
    if (info_.model.ir_version() >= 4) return;
    for (const auto& input : inputs) listed.insert(input.name());
    for (const Weight& weight : draft_.weights) {
      if (listed.contains(weight.header.name())) continue;
      auto* input = inputs.Add();
      input->set_name(weight.header.name());
      *input->mutable_type() = type_proto(weight.tensor.type());
    }
  }

  /// Removes the model's information about values that no longer exist.
  void drop_stale() {
    std::unordered_set<std::string> alive;
    for (const auto& input : proto_->input()) alive.insert(input.name());
    for (const Weight& weight : draft_.weights) alive.insert(weight.header.name());
    for (const auto& sparse : proto_->sparse_initializer()) alive.insert(sparse.values().name());
    for (const auto& node : proto_->node()) alive.insert(node.output().begin(), node.output().end());
    auto& infos = *proto_->mutable_value_info();
    const auto stale = [&](const auto& info) { return !alive.contains(info.name()); };
    infos.erase(std::remove_if(infos.begin(), infos.end(), stale), infos.end());
    auto& annotations = *proto_->mutable_quantization_annotation();
    const auto unbound = [&](const auto& annotation) { return !alive.contains(annotation.tensor_name()); };
    annotations.erase(std::remove_if(annotations.begin(), annotations.end(), unbound), annotations.end());
  }

  const Graph& graph_;
  const ModelInfo& info_;
  ExportNames names_;
  Draft draft_;
  onnx::GraphProto* proto_ = nullptr;
  std::unordered_map<std::string, const onnx::TensorProto*> initializers_;
  std::unordered_map<uint64_t, std::vector<size_t>> parameters_;  // indices into the weights, by content
  std::unordered_set<std::string> node_names_;
  bool alias_opset_ = false;
};

}  // namespace

Result<Draft> make_draft(const Model& model) {
  ISOMER_TRY(ExportNames names, ExportNames::assign(model.graph, *model.info));
  return Drafter(model.graph, *model.info, std::move(names)).run();
}

}  // namespace isomer
