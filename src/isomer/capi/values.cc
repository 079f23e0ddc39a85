#include "isomer/capi/values.h"

#include <algorithm>
#include <cstring>

#include "isomer/capi/border.h"

namespace isomer::capi {
namespace {

/// Returns the element type with this number; an Error if its data cannot cross the border.
Result<DType> dtype_of(int32_t number) {
  const auto dtype = dtype_from_onnx(number);
  if (!dtype || *dtype == DType::Undefined) return fail("{} is not an element type", number);
  if (*dtype == DType::Field || dtype_bits(*dtype) == 0)
    return fail("the C interface does not support elements of type {}", dtype_name(*dtype));
  return *dtype;
}

/// Returns the alignment of elements: that of a C number of the same width; complex elements are two such numbers.
size_t alignment(DType dtype) {
  const bool complex = dtype == DType::Complex64 || dtype == DType::Complex128;
  return std::max<size_t>(1, dtype_bits(dtype) / (complex ? 16 : 8));
}

Status check_bools(std::span<const std::byte> bytes) {
  const auto is_bool = [](std::byte one) { return one == std::byte{0} || one == std::byte{1}; };
  if (!std::ranges::all_of(bytes, is_bool)) return fail("a bool is neither 0 nor 1");
  return {};
}

}  // namespace

Result<isomer_type> c_type(const TensorType& type) {
  isomer_type out{};
  out.dtype = static_cast<int32_t>(type.dtype);
  out.rank = -1;
  if (!type.shape) return out;
  if (type.rank() > ISOMER_MAX_RANK)
    return fail("{} has {} axes, but the C interface supports at most {}", type.str(), type.rank(), ISOMER_MAX_RANK);
  out.rank = static_cast<int32_t>(type.rank());
  for (size_t i = 0; i < type.rank(); ++i) {
    const Dim& dim = (*type.shape)[i];
    out.extents[i] = dim.is_const() ? dim.value() : -1;
  }
  return out;
}

Result<size_t> type_bytes(const isomer_type& type) {
  ISOMER_TRY(const DType dtype, dtype_of(type.dtype));
  if (type.rank < 0 || type.rank > ISOMER_MAX_RANK) return fail("rank {}: must be 0 to {}", type.rank, ISOMER_MAX_RANK);
  const std::span<const int64_t> extents(type.extents, static_cast<size_t>(type.rank));
  for (size_t i = 0; i < extents.size(); ++i)
    if (extents[i] < 0) return fail("extent {} is {}: must not be negative", i, extents[i]);
  // A product with a factor 0 is 0, however large the other factors are.
  if (std::ranges::find(extents, 0) != extents.end()) return 0;
  unsigned __int128 bits = dtype_bits(dtype);
  for (const int64_t extent : extents) {
    bits *= static_cast<uint64_t>(extent);
    if (bits > (uint64_t{1} << 62)) return fail("[{}] is too large to address", fmt::join(extents, ","));
  }
  return static_cast<size_t>((bits + 7) / 8);
}

Result<Tensor> view_of(const isomer_input& input) {
  ISOMER_TRY(const size_t bytes, type_bytes(input.type));
  if (input.bytes != bytes) return fail("{} bytes are given, but the type needs {}", input.bytes, bytes);
  if (bytes > 0) ISOMER_CHECK(given(input.data, "data"));
  const auto dtype = static_cast<DType>(input.type.dtype);
  if (reinterpret_cast<uintptr_t>(input.data) % alignment(dtype) != 0)
    return fail("data is not aligned to {} bytes", alignment(dtype));
  const std::span<const std::byte> elements(static_cast<const std::byte*>(input.data), bytes);
  if (dtype == DType::Bool) ISOMER_CHECK(check_bools(elements));
  // The caller owns the data. A shared pointer without a reference count expresses this.
  const std::shared_ptr<const void> owner(std::shared_ptr<const void>(), &input);
  return Tensor::view(dtype, {input.type.extents, input.type.extents + input.type.rank}, elements, owner);
}

Status crosses(const Tensor& tensor) {
  if (tensor.empty()) return {};
  ISOMER_CHECK(dtype_of(static_cast<int32_t>(tensor.dtype())).map([](DType) {}));
  return c_type(tensor.type()).map([](const isomer_type&) {});
}

bool store(const Tensor& tensor, isomer_output& output) {
  output.type = tensor.empty() ? isomer_type{} : c_type(tensor.type()).value();
  output.bytes = tensor.bytes().size();
  if (output.bytes > output.capacity) return false;
  if (output.bytes > 0) std::memcpy(output.data, tensor.bytes().data(), output.bytes);
  return true;
}

}  // namespace isomer::capi
