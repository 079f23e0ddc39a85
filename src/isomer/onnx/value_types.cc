#include "isomer/onnx/value_types.h"

#include <algorithm>
#include <cctype>

namespace isomer {
namespace {

std::string readable_symbol(const std::string& param) {
  std::string name;
  for (const char c : param) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  const bool letter = std::isalpha(static_cast<unsigned char>(name.empty() ? '0' : name[0])) != 0;
  return letter ? name : "d" + name;
}

}  // namespace

std::string TypeReader::free_symbol(const std::string& wish) {
  std::string name = wish;
  for (size_t n = 2; !used_.insert(name).second; ++n) name = fmt::format("{}_{}", wish, n);
  return name;
}

const std::string& TypeReader::symbol_of(const std::string& param) {
  const auto known = symbols_.find(param);
  if (known != symbols_.end()) return known->second;
  return symbols_.emplace(param, free_symbol(readable_symbol(param))).first->second;
}

void TypeReader::reserve(const onnx::TypeProto& type) {
  if (!type.has_tensor_type()) return;
  for (const auto& dim : type.tensor_type().shape().dim())
    if (!dim.dim_param().empty()) symbol_of(dim.dim_param());
}

Result<Dim> TypeReader::dimension(const onnx::TensorShapeProto::Dimension& dim) {
  if (dim.has_dim_value() && dim.dim_value() != -1) {
    if (dim.dim_value() < 0) return fail("it has the negative extent {}", dim.dim_value());
    return Dim(dim.dim_value());
  }
  // Some exporters write -1 for an unknown extent.
  if (!dim.dim_param().empty()) return Dim::symbol(symbol_of(dim.dim_param()));
  return Dim::symbol(free_symbol(fmt::format("unnamed{}", nameless_++)));
}

Result<TensorType> TypeReader::read(const onnx::TypeProto& type) {
  if (!type.has_tensor_type()) return TensorType();
  const auto dtype = dtype_from_onnx(type.tensor_type().elem_type());
  if (!dtype) return fail("its element type {} is not known", type.tensor_type().elem_type());
  TensorType result;
  result.dtype = *dtype;
  if (!type.tensor_type().has_shape()) return result;
  Shape shape;
  __int128 count = 1;
  for (const auto& proto : type.tensor_type().shape().dim()) {
    ISOMER_TRY(Dim dim, dimension(proto));
    if (dim.is_const()) count *= std::max<int64_t>(dim.value(), 1);  // later arithmetic computes partial products
    if (count > Dim::kHuge / 64) return fail("its extents are too large to address");
    shape.push_back(std::move(dim));
  }
  result.shape = std::move(shape);
  return result;
}

onnx::TypeProto type_proto(const TensorType& type) {
  onnx::TypeProto proto;
  auto* tensor = proto.mutable_tensor_type();
  tensor->set_elem_type(static_cast<int32_t>(type.dtype));
  if (!type.shape) return proto;
  auto* shape = tensor->mutable_shape();
  for (const Dim& dim : *type.shape) {
    auto* to = shape->add_dim();
    if (dim.is_const())
      to->set_dim_value(dim.value());
    else
      to->set_dim_param(dim.str());
  }
  return proto;
}

}  // namespace isomer
