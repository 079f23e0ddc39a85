#include "isomer/onnx/dynamic_types.h"

#include <algorithm>

#include "isomer/onnx/dynamic_rules.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using Extents = PartialType::Extents;
using Types = std::vector<PartialType>;

/// For nodes that are opaque for reasons other than their form (for instance, in a quantized region): uses normal
/// inference.
Types by_inference(OnnxForm form) {
  const auto normal = normalize(form);
  if (!normal || !*normal || (*normal)->op->data_dependent) return {};
  std::vector<const TensorType*> operands;
  for (const size_t source : (*normal)->sources) {
    const bool absent = source == NormalForm::kNoOperand;
    operands.push_back(absent || source >= form.types.size() ? nullptr : form.types[source]);
    if (!absent && operands.back() == nullptr) return {};
  }
  const OpDef& op = *(*normal)->op;
  if (operands.size() < op.min_operands || operands.size() > op.max_operands) return {};
  for (size_t i = 0; i < op.min_operands; ++i)
    if (operands[i] == nullptr) return {};
  const auto types = op.infer(OpView{op, (*normal)->attrs, operands, std::max(form.num_results, op.min_results)});
  Types out;
  for (size_t i = 0; types && i < types->size(); ++i) {
    const TensorType& type = (*types)[i];
    out.push_back(
        {type.dtype, type.shape ? std::optional(Extents(type.shape->begin(), type.shape->end())) : std::nullopt});
  }
  return out;
}

/// Whether a tensor with these extents can exist, as far as they are known.
bool addressable(const Shape& shape) {
  __int128 count = 1;
  for (const Dim& dim : shape) {
    if (!dim.is_const()) continue;
    count *= std::max<int64_t>(dim.value(), 1);
    if (dim.value() < 0 || count > Dim::kHuge / 64) return false;
  }
  return true;
}

}  // namespace

std::vector<PartialType> dynamic_types(const GraphBuilder& builder, const ShapeValues& shapes, const OnnxForm& form) {
  if (!form.domain.empty()) return {};
  OnnxForm expressed = form;
  shapes.express(builder, expressed);
  if (auto types = by_inference(std::move(expressed)); !types.empty()) return types;
  return type_by_rule(builder, shapes, form);
}

TensorType completed(const PartialType& inferred, const TensorType* declared, const std::function<Dim()>& fresh) {
  TensorType type = declared == nullptr ? TensorType() : *declared;
  if (type.dtype == DType::Undefined) type.dtype = inferred.dtype;
  if (inferred.dtype != type.dtype || type.dtype == DType::Undefined || !inferred.extents) return type;
  const bool more = type.shape && type.shape->size() == inferred.extents->size();
  Shape shape;
  for (size_t i = 0; i < inferred.extents->size(); ++i) {
    const auto& extent = (*inferred.extents)[i];
    shape.push_back(extent ? *extent : more ? (*type.shape)[i] : fresh());
  }
  if (addressable(shape)) type.shape = std::move(shape);
  return type;
}

}  // namespace isomer
