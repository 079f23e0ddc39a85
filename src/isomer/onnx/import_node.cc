#include <algorithm>

#include "isomer/base/printable.h"
#include "isomer/onnx/dynamic_types.h"
#include "isomer/onnx/importer.h"
#include "isomer/onnx/node_form.h"
#include "isomer/onnx/proto_attr.h"
#include "isomer/onnx/proto_tensor.h"
#include "isomer/onnx/small_values.h"
#include "isomer/onnx/subgraphs.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// The part of a known node that a side table keeps.
onnx::NodeProto side_of(const onnx::NodeProto& proto) {
  onnx::NodeProto side = proto;
  side.clear_input();
  side.clear_output();
  side.clear_attribute();
  return side;
}

/// The number of results without trailing absent ones.
size_t result_count(const onnx::NodeProto& proto) {
  int count = proto.output_size();
  while (count > 0 && proto.output(count - 1).empty()) --count;
  return static_cast<size_t>(count);
}

bool all_integers(std::span<const Tensor> tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const Tensor& t) { return is_integer(t.dtype()) || t.dtype() == DType::Bool; });
}

/// Converts integers to a tensor of `type` (int64, int32 or bool). Returns empty() if an element does not fit.
Tensor integers(const TensorType& type, const ShapeValue& value) {
  std::vector<int64_t> dims;
  if (!value.scalar) dims.push_back(static_cast<int64_t>(value.elements.size()));
  Ints elements;
  for (const Dim& element : value.elements) elements.push_back(element.value());
  if (type.dtype == DType::Int64) return Tensor::ints(dims, elements);
  if (type.dtype == DType::Bool)
    return Tensor::of<uint8_t>(DType::Bool, dims, std::vector<uint8_t>(elements.begin(), elements.end()));
  for (const int64_t element : elements)
    if (element != static_cast<int32_t>(element)) return {};
  return Tensor::of<int32_t>(DType::Int32, dims, std::vector<int32_t>(elements.begin(), elements.end()));
}

}  // namespace

Result<ValueId> Importer::use(const std::string& name) const {
  if (const auto at = values_.find(name); at != values_.end()) return at->second;
  return fail("it uses '{}', which is not defined", printable(name));
}

Result<std::vector<ValueId>> Importer::operands_of(const onnx::NodeProto& proto) const {
  std::vector<ValueId> operands;
  for (const std::string& input : proto.input()) {
    operands.push_back(kNoValue);
    if (input.empty()) continue;
    ISOMER_TRY(operands.back(), use(input));
  }
  return operands;
}

Tensor Importer::known(ValueId value) const {
  if (value == kNoValue) return {};
  if (const Tensor* data = builder_.constant_data(value)) return *data;
  const auto at = computed_.find(value);
  return at == computed_.end() ? Tensor() : at->second;
}

Status Importer::read_constant(const onnx::NodeProto& proto) {
  if (proto.attribute_size() != 1) return fail("it has {} attributes, but a constant has one", proto.attribute_size());
  if (proto.output_size() != 1 || proto.input_size() != 0) return fail("a constant has no operands and one result");
  const auto& attr = proto.attribute(0);
  const std::string where = fmt::format("attribute '{}'", printable(attr.name()));
  ISOMER_TRY(const auto value, in_context(where, read_attr(attr, external_)));
  if (!value) return fail("the attribute '{}' is not a constant", printable(attr.name()));
  return define_constant(proto.output(0), tensor_from_attr(*value));
}

Result<bool> Importer::read_attributes(const onnx::NodeProto& proto, OnnxForm& form) const {
  bool complete = true;
  for (const auto& attr : proto.attribute()) {
    if (attr.name().empty()) return fail("an attribute has no name");
    auto value = read_attr(attr, external_);
    if (!value) return fail_in(fmt::format("attribute '{}'", printable(attr.name())), value.error());
    if (!*value || attr.name().front() == '@') {
      complete = false;
      continue;
    }
    if (!form.attrs.emplace(attr.name(), std::move(**value)).second)
      return fail("the attribute '{}' is given twice", printable(attr.name()));
  }
  return complete;
}

Result<OnnxForm> Importer::form_of(const onnx::NodeProto& proto, int opset, std::span<const ValueId> operands) const {
  OnnxForm form{.op_type = proto.op_type(), .domain = normal_domain(proto.domain()), .opset = opset};
  form.num_results = std::max<size_t>(1, result_count(proto));
  for (const ValueId operand : operands) form.operands.push_back({operand, known(operand)});
  set_types(form);
  return form;
}

void Importer::set_types(OnnxForm& form) const {
  form.types.clear();
  for (const FormOperand& operand : form.operands) {
    const bool typed = operand.value != kNoValue && builder_.type(operand.value).known();
    form.types.push_back(typed ? &builder_.type(operand.value) : nullptr);
  }
}

bool Importer::as_declared(const onnx::NodeProto& proto, const Node& node) const {
  for (int i = 0; i < proto.output_size(); ++i) {
    const auto declared = declared_.find(proto.output(i));
    if (proto.output(i).empty() || declared == declared_.end() || static_cast<uint32_t>(i) >= node.num_results)
      continue;
    const DType dtype = declared->second.dtype;
    if (dtype != DType::Undefined && dtype != builder_.type(node.result(static_cast<uint32_t>(i))).dtype) return false;
  }
  return true;
}

std::vector<ValueId> Importer::known_results(NodeId id) {
  const Node node = builder_.at(id);
  std::vector<Tensor> operands;
  bool all_known = true;
  for (const ValueId operand : builder_.peek().operands(node)) {
    operands.push_back(known(operand));
    all_known = all_known && (operand == kNoValue || !operands.back().empty());
  }
  std::vector<TensorType> types;
  for (uint32_t i = 0; i < node.num_results; ++i) types.push_back(builder_.type(node.result(i)));
  std::optional<std::vector<Tensor>> results;
  if (all_known) results = evaluate_small(*node.op, node.attrs, std::move(operands), types);
  if (!results) {
    shapes_.learn(builder_, id);
    if (const auto value = shapes_.find(builder_, node.result());
        value && std::ranges::all_of(value->elements, &Dim::is_const))
      if (Tensor tensor = integers(types[0], *value); !tensor.empty()) results = {std::move(tensor)};
  }
  std::vector<ValueId> constants;
  if (!results) return constants;
  if (all_integers(*results)) {
    for (Tensor& result : *results) constants.push_back(builder_.constant(std::move(result)));
  } else {
    // Floats remain nodes, so that import does not change rounding. Only parameters are read from them.
    for (uint32_t i = 0; i < node.num_results; ++i) computed_[node.result(i)] = (*results)[i];
  }
  return constants;
}

Status Importer::define_results(const onnx::NodeProto& proto, NodeId id) {
  const auto constants = known_results(id);
  const Node& node = builder_.at(id);
  if (result_count(proto) > node.num_results)
    return fail("it has {} results, but the operator returns {}", result_count(proto), node.num_results);
  bool first = true;
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty()) continue;
    const auto index = static_cast<uint32_t>(i);
    ISOMER_CHECK(define(proto.output(i), constants.empty() ? builder_.at(id).result(index) : constants[index]));
    if (first) info_->nodes.emplace(static_cast<Origin>(names_->names.size() - 1), side_of(proto));
    first = false;
  }
  return {};
}

void Importer::keep_form(NodeId id, std::optional<OriginalForm> form) {
  const Node& node = builder_.at(id);
  for (uint32_t i = 0; form && i < node.num_results; ++i) {
    const Origin origin = builder_.peek().origin(node.result(i));
    if (origin == kNoOrigin) continue;
    info_->forms.emplace(origin, std::move(*form));  // for equal nodes, the form of the first
    return;
  }
}

Result<bool> Importer::read_known(const onnx::NodeProto& proto, OnnxForm form) {
  shapes_.express(builder_, form);
  OnnxForm original = form;
  ISOMER_TRY(const auto normal, normalize(form));
  if (!normal) return false;
  for (const ValueId operand : normal->operands)
    if (operand != kNoValue && !builder_.type(operand).known()) return false;
  ISOMER_TRY(const NodeId id, builder_.node(*normal->op, normal->attrs, normal->operands, form.num_results));
  if (!as_declared(proto, builder_.at(id))) return false;
  // It must be possible to write a known node even if no rewrite changes it.
  if (!onnx_form_of(builder_.peek(), builder_.at(id), *info_)) return false;
  ISOMER_CHECK(define_results(proto, id));
  keep_form(id, original_form(std::move(original), normal->sources, form_key(builder_.peek(), builder_.at(id))));
  return true;
}

std::vector<TensorType> Importer::opaque_types(const onnx::NodeProto& proto, const OnnxForm* form) {
  std::vector<PartialType> inferred;
  if (form != nullptr) inferred = dynamic_types(builder_, shapes_, *form);
  inferred.resize(static_cast<size_t>(proto.output_size()));
  // No symbol of a model begins with a question mark (see TypeReader), and the counter makes each one unique.
  const auto fresh = [&] { return Dim::symbol(fmt::format("?{}", unknown_extents_++)); };
  std::vector<TensorType> types;
  for (int i = 0; i < proto.output_size(); ++i) {
    const auto declared = declared_.find(proto.output(i));
    const bool absent = proto.output(i).empty();
    const TensorType* known = absent || declared == declared_.end() ? nullptr : &declared->second;
    types.push_back(absent ? TensorType() : completed(inferred[static_cast<size_t>(i)], known, fresh));
  }
  return types;
}

Status Importer::add_opaque(onnx::NodeProto& proto, int opset, std::vector<ValueId> operands, const OnnxForm* form) {
  ISOMER_CHECK(embed_external(proto, external_));
  const auto captures = captured_names(proto);
  for (const std::string& name : captures) {
    operands.push_back(kNoValue);
    ISOMER_TRY(operands.back(), use(name));
  }
  std::vector<Attrs::Entry> attrs = {
      {"@op_type", proto.op_type()},
      {"@domain", normal_domain(proto.domain())},
      {"@opset", int64_t{opset}},
      {"@instance", opaque_nodes_++},
      {"@captures", static_cast<int64_t>(captures.size())},
      {"@node", proto.SerializeAsString()},
  };
  if (form != nullptr && find_op(form->op_type, form->domain) != nullptr)
    attrs.insert(attrs.end(), form->attrs.begin(), form->attrs.end());
  const NodeId id = builder_.opaque(Attrs(std::move(attrs)), operands, opaque_types(proto, form));
  for (int i = 0; i < proto.output_size(); ++i)
    if (!proto.output(i).empty())
      ISOMER_CHECK(define(proto.output(i), builder_.at(id).result(static_cast<uint32_t>(i))));
  return {};
}

Status Importer::add_opaque_sparse(onnx::SparseTensorProto& proto) {
  const auto dtype = dtype_from_onnx(proto.values().data_type());
  if (!dtype || *dtype == DType::Undefined) return fail("its element type is not known");
  const std::vector<int64_t> dims(proto.dims().begin(), proto.dims().end());
  ISOMER_CHECK(checked_byte_size(*dtype, dims));
  for (auto* part : {proto.mutable_values(), proto.mutable_indices()}) {
    ISOMER_TRY(const Tensor tensor, read_tensor(*part, external_));
    if (part->data_location() != onnx::TensorProto::EXTERNAL) continue;
    ISOMER_CHECK(external_.allow_copy(tensor.bytes().size()));
    part->clear_external_data();
    part->clear_data_location();
    part->set_raw_data(tensor.bytes().data(), tensor.bytes().size());
  }
  Attrs attrs{{"@op_type", std::string(kSparseInitializer)},
              {"@domain", std::string(kOwnDomain)},
              {"@opset", int64_t{1}},
              {"@instance", opaque_nodes_++},
              {"@captures", int64_t{0}},
              {"@node", proto.SerializeAsString()}};
  const NodeId id = builder_.opaque(std::move(attrs), {}, {TensorType(*dtype, Shape(dims.begin(), dims.end()))});
  return define(proto.values().name(), builder_.at(id).result());
}

Status Importer::read_node(onnx::NodeProto& proto, bool quantized) {
  if (proto.op_type().empty()) return fail("it has no operator");
  const std::string domain = normal_domain(proto.domain());
  const auto opset = info_->opsets.find(domain);
  if (opset == info_->opsets.end())
    return fail("the model imports no opset of the domain '{}'", printable(proto.domain()));
  const bool function = functions_.contains(domain + '\0' + proto.op_type());
  const bool sparse = proto.attribute_size() == 1 && proto.attribute(0).has_sparse_tensor();
  if (proto.op_type() == "Constant" && domain.empty() && !function && !sparse) return read_constant(proto);
  ISOMER_TRY(std::vector<ValueId> operands, operands_of(proto));
  if (function || has_subgraph(proto)) return add_opaque(proto, opset->second, std::move(operands), nullptr);
  ISOMER_TRY(OnnxForm form, form_of(proto, opset->second, operands));
  if (find_op(proto.op_type(), domain) == nullptr) {
    const auto readable = read_attributes(proto, form);
    return add_opaque(proto, opset->second, std::move(operands), readable && *readable ? &form : nullptr);
  }
  ISOMER_TRY(const bool complete, read_attributes(proto, form));
  if (complete && !quantized) {
    ISOMER_TRY(const bool done, read_known(proto, form));
    if (done) return {};
    set_types(form);  // normalization may have built a node before it gave up
  }
  return add_opaque(proto, opset->second, std::move(operands), complete ? &form : nullptr);
}

}  // namespace isomer
