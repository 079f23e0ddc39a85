#include "isomer/eval/rounding.h"

#include <algorithm>
#include <limits>

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
    default:
      return tensor;
  }
}

Status Movement::account(std::span<const Tensor> moved, std::span<const Tensor> expected) {
  ISOMER_TRY(const Comparison comparison, compare_outputs(moved, expected, kAnyReals));
  max_.resize(expected.size(), 0);
  mean_.resize(expected.size(), 0);
  min_mean_.resize(expected.size(), std::numeric_limits<double>::infinity());
  for (size_t i = 0; i < expected.size(); ++i) {
    max_[i] = std::max(max_[i], comparison.outputs[i].max_rel);
    mean_[i] = std::max(mean_[i], comparison.outputs[i].mean_rel);
    min_mean_[i] = std::min(min_mean_[i], comparison.outputs[i].mean_rel);
  }
  ++trials_;
  return {};
}

namespace {

double tolerance_for(double movement) {
  // Another order may round many times, and trials need not contain the worst case.
  constexpr double kFactor = 10;
  return std::clamp(kFactor * movement, Movement::kTolerance, Movement::kLargestTolerance);
}

}  // namespace

double Movement::tolerance(size_t output) const { return tolerance_for((*this)[output]); }

bool Movement::explains(size_t output, const Comparison& comparison) const {
  // What noise moves by in the mean: its largest element is a few times as large as the others.
  constexpr double kNoise = 0.1;
  if (trials_ == 0) return false;
  const OutputComparison& row = comparison.outputs[output];
  if (output >= mean_.size()) return false;
  if (row.within(tolerance(output)) && row.mean_rel <= tolerance_for(mean_[output])) return true;
  return min_mean_[output] >= kNoise && may_be_noise(output, comparison);
}

bool may_be_noise(size_t output, const Comparison& comparison) {
  constexpr double kRoundingErrors = 0x1p-20;
  const OutputComparison& row = comparison.outputs[output];
  std::vector<double> largest;
  for (const OutputComparison& each : comparison.outputs)
    if (each.largest > 0) largest.push_back(each.largest);
  if (largest.empty()) return false;
  const auto median = largest.begin() + (std::ssize(largest) - 1) / 2;  // the lower one of two
  std::ranges::nth_element(largest, median);
  return row.equal() && row.largest + row.max_abs < kRoundingErrors * *median;
}

Result<bool> differs_by_rounding(size_t output, const Comparison& comparison, std::optional<double> tolerance,
                                 Movement& movement, const MoveOnce& move) {
  const OutputComparison& row = comparison.outputs[output];
  if (row.within(tolerance.value_or(Movement::kTolerance))) return true;
  if (tolerance || (!row.within(Movement::kLargestTolerance) && !may_be_noise(output, comparison))) return false;
  while (!movement.explains(output, comparison)) {
    if (movement.trials() == Movement::kTrials) return false;
    ISOMER_CHECK(move(movement));
  }
  return true;
}

}  // namespace isomer
