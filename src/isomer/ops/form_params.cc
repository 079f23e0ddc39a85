#include "isomer/ops/form_params.h"

#include "isomer/ops/half.h"
#include "isomer/ops/infer.h"

namespace isomer {

const Shape* form_shape(const OnnxForm& form, size_t i) {
  if (i >= form.types.size() || form.types[i] == nullptr || !form.types[i]->shape) return nullptr;
  return &*form.types[i]->shape;
}

std::optional<Ints> spatial_extents(const OnnxForm& form, size_t i) {
  const Shape* shape = form_shape(form, i);
  if (shape == nullptr || shape->size() < 3) return std::nullopt;
  return concrete(Shape(shape->begin() + 2, shape->end()));
}

Result<std::optional<Ints>> take_ints(OnnxForm& form, const std::string& attr, size_t index, int since) {
  if (const Ints* given = form.get<Ints>(attr)) {
    Ints value = *given;
    form.attrs.erase(attr);
    return std::optional<Ints>(std::move(value));
  }
  if (form.opset < since || !form.has(index)) return std::nullopt;
  const Tensor& data = form.operands[index].constant;
  if (data.empty()) {
    if (form.obstacle.empty())
      ISOMER_CHECK(form.leave_opaque(fmt::format("its parameter '{}' is computed at run time", attr)));
    return std::nullopt;
  }
  ISOMER_TRY(Ints value, in_context(fmt::format("parameter '{}'", attr), int_elements(data)));
  drop_operand(form, index);
  return std::optional<Ints>(std::move(value));
}

void drop_operand(OnnxForm& form, size_t i) {
  if (i < form.operands.size()) form.operands[i] = {};
}

Status front_axis(OnnxForm& form, const std::string& attr, size_t extra) {
  const Shape* shape = form_shape(form, 0);
  const auto* axis = form.get<int64_t>(attr);
  if (shape == nullptr || axis == nullptr || *axis >= 0) return {};
  ISOMER_TRY(const size_t front, normal_axis(*axis, shape->size() + extra));
  form.attrs[attr] = static_cast<int64_t>(front);
  return {};
}

Status known_operands_from_onnx(OnnxForm& form) {
  for (const FormOperand& operand : form.operands)
    if (!operand.absent() && operand.constant.empty())
      return form.leave_opaque("the extents of its results depend on data");
  return {};
}

std::optional<Tensor> real_scalar(DType dtype, float value) {
  switch (dtype) {
    case DType::Float:
      return Tensor::floats({}, {value});
    case DType::Double:
      return Tensor::of<double>(dtype, {}, {value});
    case DType::Half:
      return Tensor::of<Half>(dtype, {}, {Half(value)});
    case DType::BFloat16:
      return Tensor::of<BFloat16>(dtype, {}, {BFloat16(value)});
    default:
      return std::nullopt;
  }
}

Result<double> real_element(const Tensor& tensor) {
  if (tensor.dtype() == DType::Double) return tensor.data<double>()[0];
  ISOMER_TRY(const Floats floats, float_elements(tensor));
  return static_cast<double>(floats[0]);
}

}  // namespace isomer
