#include "isomer/onnx/proto_tensor.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

namespace isomer {
namespace {

size_t alignment_of(DType dtype) { return std::max<size_t>(1, dtype_bits(dtype) / 8); }

bool aligned(const void* data, DType dtype) {
  const size_t alignment = alignment_of(dtype);
  return (alignment & (alignment - 1)) != 0 || reinterpret_cast<uintptr_t>(data) % alignment == 0;
}

Tensor copied(DType dtype, std::vector<int64_t> dims, std::span<const std::byte> bytes) {
  Tensor tensor = Tensor::zeros(dtype, std::move(dims));
  if (!bytes.empty()) std::memcpy(tensor.mutable_bytes().data(), bytes.data(), bytes.size());
  return tensor;
}

/// Elements that are narrower than their field (`int32_data` for half, int8, packed int4, ...) are in its low bits.
template <class To, class Field>
Result<Tensor> narrowed_field(DType dtype, std::vector<int64_t> dims, const Field& field) {
  const size_t size = Tensor::byte_size(dtype, dims);
  if (static_cast<size_t>(field.size()) != size / sizeof(To) || size % sizeof(To) != 0)
    return fail("it has {} elements in a typed field, but its type needs {}", field.size(), size / sizeof(To));
  Tensor tensor = Tensor::zeros(dtype, std::move(dims));
  auto to = tensor.mutable_data<To>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<To>(field.Get(static_cast<int>(i)));
  return tensor;
}

/// One element of 6 bits per entry, packed here like raw data, low bits first.
Result<Tensor> six_bit_field(DType dtype, std::vector<int64_t> dims, const onnx::TensorProto& proto) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  if (proto.int32_data_size() != count)
    return fail("it has {} elements in a typed field, but its type needs {}", proto.int32_data_size(), count);
  Tensor tensor = Tensor::zeros(dtype, std::move(dims));
  auto to = tensor.mutable_data<uint8_t>();
  for (int i = 0; i < proto.int32_data_size(); ++i) {
    const size_t bit = static_cast<size_t>(i) * 6;
    const unsigned shifted = (static_cast<unsigned>(proto.int32_data(i)) & 0x3fU) << (bit % 8);
    to[bit / 8] |= static_cast<uint8_t>(shifted);
    if (shifted > 0xff) to[bit / 8 + 1] |= static_cast<uint8_t>(shifted >> 8);
  }
  return tensor;
}

Result<Tensor> string_field(std::vector<int64_t> dims, const onnx::TensorProto& proto) {
  if (proto.has_raw_data()) return fail("strings cannot be raw data");
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  if (count != proto.string_data_size())
    return fail("it has {} strings, but its type needs {}", proto.string_data_size(), count);
  return Tensor::strings(std::move(dims), {proto.string_data().begin(), proto.string_data().end()});
}

/// Reads elements from the field for their type.
Result<Tensor> from_field(DType dtype, std::vector<int64_t> dims, const onnx::TensorProto& proto) {
  switch (dtype) {
    case DType::String:
      return string_field(std::move(dims), proto);
    case DType::Float:
    case DType::Complex64:
      return narrowed_field<float>(dtype, std::move(dims), proto.float_data());
    case DType::Double:
    case DType::Complex128:
      return narrowed_field<double>(dtype, std::move(dims), proto.double_data());
    case DType::Int64:
      return narrowed_field<int64_t>(dtype, std::move(dims), proto.int64_data());
    case DType::Uint64:
      return narrowed_field<uint64_t>(dtype, std::move(dims), proto.uint64_data());
    case DType::Uint32:
      return narrowed_field<uint32_t>(dtype, std::move(dims), proto.uint64_data());
    case DType::Int32:
      return narrowed_field<int32_t>(dtype, std::move(dims), proto.int32_data());
    case DType::Float6E2M3:
    case DType::Float6E3M2:
      return six_bit_field(dtype, std::move(dims), proto);
    default:
      if (dtype_bits(dtype) == 16) return narrowed_field<uint16_t>(dtype, std::move(dims), proto.int32_data());
      return narrowed_field<uint8_t>(dtype, std::move(dims), proto.int32_data());
  }
}

Result<Tensor> from_external(DType dtype, std::vector<int64_t> dims, const onnx::TensorProto& proto,
                             ExternalData& external) {
  if (dtype == DType::String) return fail("strings cannot be external data");
  ISOMER_TRY(const FileBytes found, external.find(proto, Tensor::byte_size(dtype, dims)));
  if (!aligned(found.bytes.data(), dtype)) {
    ISOMER_CHECK(external.allow_copy(found.bytes.size()));
    return copied(dtype, std::move(dims), found.bytes);
  }
  return Tensor::view(dtype, std::move(dims), found.bytes, found.owner);
}

/// `own` is `proto` if its raw data may be moved, otherwise nullptr.
Result<Tensor> convert(const onnx::TensorProto& proto, onnx::TensorProto* own, ExternalData& external) {
  const auto dtype = dtype_from_onnx(proto.data_type());
  if (!dtype || *dtype == DType::Undefined) return fail("its element type {} is not known", proto.data_type());
  if (proto.has_segment()) return fail("it is stored in segments, which is not supported");
  std::vector<int64_t> dims(proto.dims().begin(), proto.dims().end());
  ISOMER_TRY(const size_t size, checked_byte_size(*dtype, dims));
  if (proto.data_location() == onnx::TensorProto::EXTERNAL)
    return from_external(*dtype, std::move(dims), proto, external);
  if (!proto.has_raw_data()) return from_field(*dtype, std::move(dims), proto);
  if (*dtype == DType::String) return fail("strings cannot be raw data");
  if (proto.raw_data().size() != size)
    return fail("it has {} bytes of raw data, but its type needs {}", proto.raw_data().size(), size);
  constexpr size_t kWorthTaking = 256;  // shorter data is copied, because it may be inside of the string object
  const auto bytes = std::as_bytes(std::span(proto.raw_data()));
  if (own == nullptr || size < kWorthTaking || !aligned(bytes.data(), *dtype))
    return copied(*dtype, std::move(dims), bytes);
  const auto data = std::make_shared<const std::string>(std::move(*own->mutable_raw_data()));
  own->clear_raw_data();
  return Tensor::view(*dtype, std::move(dims), std::as_bytes(std::span(*data)), data);
}

}  // namespace

Result<size_t> checked_byte_size(DType dtype, std::span<const int64_t> dims) {
  unsigned __int128 count = 1;
  for (const int64_t dim : dims) {
    if (dim < 0) return fail("it has the negative extent {}", dim);
    // An extent of 0 counts as 1, because later arithmetic computes partial products.
    count *= static_cast<uint64_t>(std::max<int64_t>(dim, 1));
    if (count > static_cast<uint64_t>(Dim::kHuge / 64)) return fail("its extents are too large to address");
  }
  return Tensor::byte_size(dtype, dims);
}

Result<Tensor> take_tensor(onnx::TensorProto& proto, ExternalData& external) {
  return convert(proto, &proto, external);
}

Result<Tensor> read_tensor(const onnx::TensorProto& proto, ExternalData& external) {
  return convert(proto, nullptr, external);
}

onnx::TensorProto tensor_header(const Tensor& tensor) {
  onnx::TensorProto proto;
  proto.set_data_type(static_cast<int32_t>(tensor.dtype()));
  for (const int64_t dim : tensor.dims()) proto.add_dims(dim);
  if (tensor.dtype() == DType::String)
    for (const std::string& element : tensor.string_elements()) proto.add_string_data(element);
  return proto;
}

onnx::TensorProto tensor_proto(const Tensor& tensor) {
  onnx::TensorProto proto = tensor_header(tensor);
  const auto bytes = tensor.bytes();
  if (tensor.dtype() != DType::String) proto.set_raw_data(bytes.data(), bytes.size());
  return proto;
}

}  // namespace isomer
