#include "isomer/eval/rounding.h"

#include <algorithm>

#include "isomer/base/rng.h"

namespace isomer {
namespace {

/// Moves each number by one unit of its last place, up or down. `infinite`: the bits of infinity.
template <class Bits>
Tensor changed(const Tensor& tensor, Bits infinite, uint64_t seed) {
  constexpr auto kMagnitude = static_cast<Bits>(static_cast<Bits>(-1) >> 1);
  Tensor out = Tensor::uninitialized(tensor.dtype(), tensor.dims());
  const auto from = tensor.data<Bits>();
  const auto to = out.mutable_data<Bits>();
  Rng rng(seed);
  for (size_t i = 0; i < from.size(); ++i) {
    const auto magnitude = static_cast<Bits>(from[i] & kMagnitude);
    const bool grows = (rng.next() & 1) != 0 && magnitude + 1 != infinite;
    const bool stays = magnitude == 0 || magnitude >= infinite;
    to[i] = stays ? from[i] : static_cast<Bits>(grows ? from[i] + 1 : from[i] - 1);
  }
  return out;
}

}  // namespace

Tensor with_last_bits_changed(const Tensor& tensor, uint64_t seed) {
  switch (tensor.dtype()) {
    case DType::Float:
    case DType::Complex64:
      return changed<uint32_t>(tensor, 0x7f800000U, seed);
    case DType::Double:
    case DType::Complex128:
      return changed<uint64_t>(tensor, 0x7ff0000000000000U, seed);
    case DType::Half:
      return changed<uint16_t>(tensor, 0x7c00U, seed);
    case DType::BFloat16:
      return changed<uint16_t>(tensor, 0x7f80U, seed);
    default:
      return tensor;
  }
}

Status Movement::account(std::span<const Tensor> moved, std::span<const Tensor> expected) {
  ISOMER_TRY(const Comparison comparison, compare_outputs(moved, expected, kAnyReals));
  furthest_.resize(expected.size(), 0);
  for (size_t i = 0; i < expected.size(); ++i) {
    const OutputComparison& row = comparison.outputs[i];
    if (!row.problem.empty()) return fail("output {}: {}", i, row.problem);
    furthest_[i] = std::max(furthest_[i], row.max_rel);
  }
  return {};
}

double Movement::tolerance(size_t output) const {
  constexpr double kFactor = 2;  // trials need not contain the worst case
  return std::clamp(kFactor * (*this)[output], kTolerance, kLargestTolerance);
}

Result<bool> differs_by_rounding(const OutputComparison& row, size_t output, std::optional<double> tolerance,
                                 const std::function<Result<Movement>()>& movement) {
  if (row.within(tolerance.value_or(Movement::kTolerance))) return true;
  if (tolerance || !row.within(Movement::kLargestTolerance)) return false;
  return movement().map([&](const Movement& known) { return row.within(known.tolerance(output)); });
}

}  // namespace isomer
