#include "isomer/ops/onnx_form.h"

#include <algorithm>

#include "isomer/ops/registry.h"
#include "isomer/ops/stored.h"
#include "isomer/ops/unknown_op.h"

namespace isomer {
namespace {

template <class From, class To>
std::vector<To> converted(const Tensor& tensor) {
  std::vector<To> out;
  for (const From v : tensor.data<From>()) out.push_back(static_cast<To>(v));
  return out;
}

/// The attribute value of the wanted kind for a constant operand.
Result<AttrValue> attr_from_tensor(const Tensor& tensor, AttrKind kind) {
  switch (kind) {
    case AttrKind::Int: {
      ISOMER_TRY(const Ints ints, int_elements(tensor));
      if (ints.size() != 1) return fail("expected one integer, got {}", ints.size());
      return AttrValue(ints[0]);
    }
    case AttrKind::Ints: {
      ISOMER_TRY(Ints ints, int_elements(tensor));
      return AttrValue(std::move(ints));
    }
    case AttrKind::Float: {
      ISOMER_TRY(const Floats floats, float_elements(tensor));
      if (floats.size() != 1) return fail("expected one number, got {}", floats.size());
      return AttrValue(floats[0]);
    }
    case AttrKind::Floats: {
      ISOMER_TRY(Floats floats, float_elements(tensor));
      return AttrValue(std::move(floats));
    }
    case AttrKind::Tensor:
      return AttrValue(tensor);
    default:
      return fail("an operand cannot stand for this kind of attribute");
  }
}

/// Moves the parameters that this opset passes as operands to attributes.
Status read_params(const OpDef& op, OnnxForm& form) {
  for (const ParamOperand& param : op.params) {
    if (form.opset < param.since || !form.has(param.index)) continue;
    const Tensor& data = form.operands[param.index].constant;
    if (data.empty()) return form.leave_opaque(fmt::format("its parameter '{}' is computed at run time", param.attr));
    const std::string where = fmt::format("parameter '{}'", param.attr);
    ISOMER_TRY(form.attrs[param.attr], in_context(where, attr_from_tensor(data, op.find_attr(param.attr)->kind)));
  }
  return {};
}

bool is_param(const OpDef& op, size_t index, int opset) {
  return std::any_of(op.params.begin(), op.params.end(),
                     [&](const ParamOperand& p) { return p.index == index && opset >= p.since; });
}

/// An attribute that this opset does not have yet and that has an effect: it could not be written again.
const AttrDef* attribute_of_later(const OpDef& op, const OnnxForm& form) {
  const auto later = [&](const AttrDef& def) {
    const auto given = form.attrs.find(def.name);
    return def.since > form.opset && given != form.attrs.end() && !(def.preset && given->second == *def.preset);
  };
  const auto found = std::ranges::find_if(op.attrs, later);
  return found == op.attrs.end() ? nullptr : &*found;
}

}  // namespace

Result<Ints> int_elements(const Tensor& tensor) {
  const auto refused = [&]() -> Result<Ints> { return fail("expected integers, got {}", tensor.type().str()); };
  if (is_real(tensor.dtype())) return refused();
  const auto read = [&]<class T>() -> Result<Ints> { return converted<T, int64_t>(tensor); };
  return for_stored(tensor.dtype(), read, refused);
}

Result<Floats> float_elements(const Tensor& tensor) {
  const auto refused = [&]() -> Result<Floats> { return fail("expected real numbers, got {}", tensor.type().str()); };
  if (!is_real(tensor.dtype())) return refused();
  return for_stored(
      tensor.dtype(), [&]<class T>() -> Result<Floats> { return converted<T, float>(tensor); }, refused);
}

Tensor tensor_from_attr(const AttrValue& value) {
  const auto count = [](const auto& list) { return std::vector<int64_t>{static_cast<int64_t>(list.size())}; };
  if (const auto* i = std::get_if<int64_t>(&value)) return Tensor::ints({}, {*i});
  if (const auto* f = std::get_if<float>(&value)) return Tensor::floats({}, {*f});
  if (const auto* s = std::get_if<std::string>(&value)) return Tensor::strings({}, {*s});
  if (const auto* ints = std::get_if<Ints>(&value)) return Tensor::ints(count(*ints), *ints);
  if (const auto* floats = std::get_if<Floats>(&value)) return Tensor::floats(count(*floats), *floats);
  if (const auto* strings = std::get_if<Strings>(&value)) return Tensor::strings(count(*strings), *strings);
  return std::get<Tensor>(value);
}

OnnxForm opaque_form(const Node& node) {
  OnnxForm form{.op_type = node.attrs.text("@op_type"),
                .domain = node.attrs.text("@domain"),
                .opset = static_cast<int>(node.attrs.integer("@opset")),
                .num_results = node.num_results};
  for (const auto& [name, value] : node.attrs.entries())
    if (!name.starts_with('@')) form.attrs[name] = value;
  return form;
}

Result<std::optional<NormalForm>> normalize(OnnxForm& form) {
  form.obstacle = why_unknown(form.op_type, form.domain, form.opset);
  if (!form.obstacle.empty()) return std::nullopt;
  const OpDef* op = find_op(form.op_type, form.domain);
  if (const AttrDef* later = attribute_of_later(*op, form); later != nullptr) {
    form.obstacle = fmt::format("attribute '{}' of {} needs opset {}", later->name, op->name, later->since);
    return std::nullopt;
  }
  if (op->from_onnx != nullptr) {
    ISOMER_CHECK(op->from_onnx(form));
    if (!form.obstacle.empty()) return std::nullopt;
    op = find_op(form.op_type, form.domain);
    if (op == nullptr) return fail("bug: normalized to the unknown operator {}", form.op_type);
  }
  ISOMER_CHECK(read_params(*op, form));
  if (!form.obstacle.empty()) return std::nullopt;
  NormalForm normal{op, {}, {}, {}};
  for (size_t i = 0; i < form.operands.size(); ++i) {
    if (is_param(*op, i, form.opset)) continue;
    normal.operands.push_back(form.operands[i].value);
    normal.sources.push_back(form.has(i) ? i : NormalForm::kNoOperand);
  }
  while (!normal.sources.empty() && normal.sources.back() == NormalForm::kNoOperand) {
    normal.operands.pop_back();
    normal.sources.pop_back();
  }
  std::vector<Attrs::Entry> entries;
  for (auto& [name, value] : form.attrs) {
    if (op->find_attr(name) == nullptr) {
      form.obstacle = fmt::format("it has the unknown attribute '{}'", name);
      return std::nullopt;
    }
    entries.emplace_back(name, std::move(value));
  }
  ISOMER_TRY(normal.attrs, complete_attrs(*op, Attrs(std::move(entries))));
  return normal;
}

Result<OnnxForm> denormalize(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands, size_t num_results,
                             int opset) {
  OnnxForm form{.op_type = op.name, .domain = op.domain, .opset = opset, .num_results = num_results};
  for (const ValueId operand : operands) form.operands.push_back({operand, {}});
  if (opset < op.since) form.obstacle = fmt::format("{} needs opset {}", op.name, op.since);
  std::vector<const ParamOperand*> params;
  for (const ParamOperand& param : op.params) params.push_back(&param);
  std::sort(params.begin(), params.end(), [](const auto* a, const auto* b) { return a->index < b->index; });
  for (const AttrDef& def : op.attrs) {
    const AttrValue* value = attrs.find(def.name);
    const bool same_as_preset = value != nullptr && def.preset && *value == *def.preset;
    if (value == nullptr || (same_as_preset && !def.always_written)) continue;
    if (opset < def.since) {
      form.obstacle = fmt::format("attribute '{}' of {} needs opset {}", def.name, op.name, def.since);
      continue;
    }
    form.attrs[def.name] = *value;
  }
  for (const ParamOperand* param : params) {
    if (opset < param->since) continue;
    const auto value = form.attrs.find(param->attr);
    // Operands after an absent parameter keep their positions.
    const bool later = form.operands.size() > param->index;
    if (value == form.attrs.end() && !later) continue;
    while (form.operands.size() < param->index) form.operands.emplace_back();
    FormOperand operand;
    if (value != form.attrs.end()) {
      operand.constant = tensor_from_attr(value->second);
      form.attrs.erase(value);
    }
    form.operands.insert(form.operands.begin() + static_cast<std::ptrdiff_t>(param->index), std::move(operand));
  }
  if (op.to_onnx != nullptr && form.obstacle.empty()) ISOMER_CHECK(op.to_onnx(form));
  return form;
}

}  // namespace isomer
