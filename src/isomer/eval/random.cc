#include "isomer/eval/random.h"

#include "isomer/base/rng.h"
#include "isomer/ir/field.h"
#include "isomer/ops/kernel_types.h"

namespace isomer {
namespace {

template <class T, class F>
Tensor filled(DType dtype, const std::vector<int64_t>& dims, F draw) {
  Tensor tensor = Tensor::zeros(dtype, dims);
  for (T& element : tensor.mutable_data<T>()) element = draw();
  return tensor;
}

std::string random_word(Rng& rng) {
  std::string word;
  for (uint64_t length = 1 + rng.below(6); length > 0; --length)
    word += static_cast<char>('a' + static_cast<char>(rng.below(26)));
  return word;
}

/// For types that Numeric kernels compute with as another type: draws in that type and narrows the result.
Tensor random_narrow(DType dtype, const std::vector<int64_t>& dims, uint64_t seed) {
  const DType wide = kernel_dtype(Compute::Numeric, dtype);
  return narrowed(Compute::Numeric, random_tensor(wide, dims, seed), dtype);
}

}  // namespace

Tensor random_tensor(DType dtype, const std::vector<int64_t>& dims, uint64_t seed) {
  Rng rng(seed);
  if (kernel_dtype(Compute::Numeric, dtype) != dtype) return random_narrow(dtype, dims, seed);
  switch (dtype) {
    case DType::Float:
    case DType::Complex64:
      return filled<float>(dtype, dims, [&] { return static_cast<float>(rng.normal()); });
    case DType::Double:
    case DType::Complex128:
      return filled<double>(dtype, dims, [&] { return rng.normal(); });
    case DType::Int64:
    case DType::Uint64:
      return filled<int64_t>(dtype, dims, [&] { return static_cast<int64_t>(rng.below(8)); });
    case DType::Bool:
      return filled<uint8_t>(dtype, dims, [&] { return static_cast<uint8_t>(rng.below(2)); });
    case DType::Field:
      return filled<Fp>(dtype, dims, [&] { return Fp::raw(rng.below(Fp::kPrime)); });
    case DType::String: {
      Tensor tensor = Tensor::zeros(dtype, dims);
      for (std::string& element : tensor.mutable_strings()) element = random_word(rng);
      return tensor;
    }
    default:
      // For floating-point types of 8 bits or less, codes whose upper exponent bits are 0 are small finite numbers.
      return filled<uint8_t>(dtype, dims, [&] { return static_cast<uint8_t>(rng.next() & 0x3f); });
  }
}

}  // namespace isomer
