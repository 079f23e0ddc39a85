#include "isomer/ops/kernel_types.h"

#include <algorithm>

#include "isomer/ir/field.h"
#include "isomer/ops/stored.h"

namespace isomer {
namespace {

bool below_a_byte(DType dtype) { return dtype_bits(dtype) > 0 && dtype_bits(dtype) < 8; }

bool is_small_integer(DType dtype) {
  return dtype == DType::Int4 || dtype == DType::Int2 || dtype == DType::Uint4 || dtype == DType::Uint2;
}

/// The type as which a Numeric kernel sees elements of type T that it does not see as they are.
template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, float>;

template <class From, class To>
Tensor with_elements(const Tensor& tensor, DType to) {
  Tensor out = Tensor::zeros(to, tensor.dims());
  const auto x = tensor.data<From>();
  const auto y = out.mutable_data<To>();
  // Elements of type int8_t are numbers, no characters. NOLINTNEXTLINE(bugprone-signed-char-misuse)
  for (size_t i = 0; i < x.size(); ++i) y[i] = static_cast<To>(x[i]);
  return out;
}

/// Unpacks elements to one To each.
template <class To>
Tensor unpacked(const Tensor& tensor, DType to) {
  Tensor out = Tensor::zeros(to, tensor.dims());
  const auto y = out.mutable_data<To>();
  const size_t bits = dtype_bits(tensor.dtype());
  const auto sign = is_signed_integer(tensor.dtype()) ? int64_t{1} << (bits - 1) : 0;
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = static_cast<To>((int64_t{packed_code(tensor.bytes(), i, bits)} ^ sign) - sign);
  return out;
}

template <class From>
Tensor packed(const Tensor& tensor, DType to) {
  Tensor out = Tensor::zeros(to, tensor.dims());
  const auto x = tensor.data<From>();
  for (size_t i = 0; i < x.size(); ++i)
    set_packed_code(out.mutable_bytes(), i, dtype_bits(to), static_cast<uint32_t>(static_cast<uint64_t>(x[i])));
  return out;
}

}  // namespace

uint32_t packed_code(std::span<const std::byte> bytes, size_t i, size_t bits) {
  uint32_t code = 0;
  for (size_t b = 0; b < bits; ++b) {
    const size_t at = i * bits + b;
    code |= (std::to_integer<uint32_t>(bytes[at / 8]) >> (at % 8) & 1) << b;
  }
  return code;
}

void set_packed_code(std::span<std::byte> bytes, size_t i, size_t bits, uint32_t code) {
  for (size_t b = 0; b < bits; ++b) {
    const size_t at = i * bits + b;
    bytes[at / 8] |= static_cast<std::byte>((code >> b & 1) << (at % 8));
  }
}

DType kernel_dtype(Compute compute, DType dtype) {
  if (compute == Compute::AsIs) return dtype;
  if (compute == Compute::Movement) return below_a_byte(dtype) ? DType::Uint8 : dtype;
  if (dtype == DType::Half || dtype == DType::BFloat16) return DType::Float;
  if (is_small_integer(dtype)) return DType::Int64;
  return is_integer(dtype) && dtype_bits(dtype) < 64 ? DType::Int64 : dtype;
}

Tensor widened(Compute compute, const Tensor& tensor) {
  const DType to = kernel_dtype(compute, tensor.dtype());
  if (tensor.empty() || to == tensor.dtype()) return tensor;
  if (compute == Compute::Movement) return unpacked<uint8_t>(tensor, to);
  const auto widen = [&]<class T>() { return with_elements<T, Wide<T>>(tensor, to); };
  return for_stored(tensor.dtype(), widen, [&] { return unpacked<int64_t>(tensor, to); });
}

Tensor narrowed(Compute compute, const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  if (compute == Compute::Movement) return packed<uint8_t>(tensor, dtype);
  const auto narrow = [&]<class T>() { return with_elements<Wide<T>, T>(tensor, dtype); };
  return for_stored(dtype, narrow, [&] { return packed<int64_t>(tensor, dtype); });
}

int64_t nearest_stored(int64_t value, DType stored) {
  if (stored == DType::Int64 || kernel_dtype(Compute::Numeric, stored) != DType::Int64) return value;
  const bool has_sign = is_signed_integer(stored);
  const int64_t end = int64_t{1} << (dtype_bits(stored) - (has_sign ? 1 : 0));
  return std::clamp(value, has_sign ? -end : 0, end - 1);
}

Tensor in_double(const Tensor& tensor) {
  if (!is_real(tensor.dtype()) || tensor.dtype() == DType::Double) return tensor;
  return with_elements<float, double>(widened(Compute::Numeric, tensor), DType::Double);
}

Attrs in_double(const Attrs& attrs) {
  Attrs out = attrs;
  for (const auto& [name, value] : attrs.entries())
    if (const Tensor* tensor = std::get_if<Tensor>(&value)) out = out.with(name, in_double(*tensor));
  return out;
}

Result<Tensor> in_field(const Tensor& tensor) {
  if (!is_real(tensor.dtype())) return tensor;
  const Tensor reals = widened(Compute::Numeric, tensor);
  Tensor out = Tensor::zeros(DType::Field, tensor.dims());
  const auto y = out.mutable_data<Fp>();
  const bool single = reals.dtype() == DType::Float;
  for (size_t i = 0; i < y.size(); ++i) {
    const double value = single ? reals.data<float>()[i] : reals.data<double>()[i];
    const auto element = field_from_real(value);
    if (!element) return fail("{} is not in the prime field", value);
    y[i] = *element;
  }
  return out;
}

}  // namespace isomer
