#include "isomer/eval/compare.h"

#include <algorithm>
#include <cmath>

#include "isomer/ops/half.h"

namespace isomer {
namespace {

template <class T>
void compare_reals(const Tensor& got, const Tensor& expected, const Tolerance& tolerance, OutputComparison& row) {
  const auto x = got.data<T>();
  const auto e = expected.data<T>();
  double squares = 0;
  for (size_t i = 0; i < e.size(); ++i) {
    const auto a = static_cast<double>(x[i]);
    const auto b = static_cast<double>(e[i]);
    if (!std::isfinite(a) || !std::isfinite(b)) {
      if (!(a == b) && !(std::isnan(a) && std::isnan(b))) ++row.not_finite;
      continue;
    }
    const double difference = std::abs(a - b);
    row.max_abs = std::max(row.max_abs, difference);
    squares += difference * difference;
    row.largest = std::max(row.largest, std::abs(b));
    if (difference > tolerance.atol + tolerance.rtol * std::abs(b)) ++row.beyond;
  }
  const double mean = e.empty() ? 0 : std::sqrt(squares / static_cast<double>(e.size()));
  row.max_rel = row.largest > 0 ? row.max_abs / row.largest : row.max_abs;
  row.mean_rel = row.largest > 0 ? mean / row.largest : mean;
}

void compare_strings(const Tensor& got, const Tensor& expected, OutputComparison& row) {
  const auto& x = got.string_elements();
  const auto& e = expected.string_elements();
  for (size_t i = 0; i < e.size(); ++i) row.beyond += x[i] == e[i] ? 0 : 1;
}

/// Compares whole elements of `width` bytes or, for smaller elements, the bytes that hold them.
void compare_bytes(const Tensor& got, const Tensor& expected, OutputComparison& row) {
  const auto x = got.bytes();
  const auto e = expected.bytes();
  const size_t width = std::max<size_t>(dtype_bits(expected.dtype()) / 8, 1);
  for (size_t i = 0; i + width <= e.size(); i += width)
    row.beyond +=
        std::equal(e.begin() + static_cast<std::ptrdiff_t>(i), e.begin() + static_cast<std::ptrdiff_t>(i + width),
                   x.begin() + static_cast<std::ptrdiff_t>(i))
            ? 0
            : 1;
}

}  // namespace

std::string OutputComparison::str() const {
  if (!problem.empty()) return problem;
  std::string out = fmt::format("max abs {:.3g}, max rel {:.3g}", max_abs, max_rel);
  if (not_finite > 0) out += fmt::format(", {} of {} elements not finite alike", not_finite, elements);
  if (beyond > 0) out += fmt::format(", {} of {} elements differ", beyond, elements);
  return out;
}

bool Comparison::equal() const {
  return std::all_of(outputs.begin(), outputs.end(), [](const OutputComparison& row) { return row.equal(); });
}

double Comparison::worst(double OutputComparison::*of) const {
  double found = 0;
  for (const OutputComparison& row : outputs) found = std::max(found, row.*of);
  return found;
}

OutputComparison compare_tensors(const Tensor& got, const Tensor& expected, const Tolerance& tolerance) {
  OutputComparison row;
  row.elements = expected.element_count();
  if (got.empty() != expected.empty() || !(got.type() == expected.type())) {
    row.problem = fmt::format("{} instead of {}", got.empty() ? "nothing" : got.type().str(),
                              expected.empty() ? "nothing" : expected.type().str());
    return row;
  }
  switch (expected.dtype()) {
    case DType::Float:
    case DType::Complex64:
      compare_reals<float>(got, expected, tolerance, row);
      break;
    case DType::Double:
    case DType::Complex128:
      compare_reals<double>(got, expected, tolerance, row);
      break;
    case DType::Half:
      compare_reals<Half>(got, expected, tolerance, row);
      break;
    case DType::BFloat16:
      compare_reals<BFloat16>(got, expected, tolerance, row);
      break;
    case DType::String:
      compare_strings(got, expected, row);
      break;
    default:
      compare_bytes(got, expected, row);
  }
  return row;
}

Result<Comparison> compare_outputs(std::span<const Tensor> got, std::span<const Tensor> expected,
                                   const Tolerance& tolerance) {
  if (got.size() != expected.size()) return fail("{} outputs instead of {}", got.size(), expected.size());
  Comparison comparison;
  for (size_t i = 0; i < got.size(); ++i) comparison.outputs.push_back(compare_tensors(got[i], expected[i], tolerance));
  return comparison;
}

}  // namespace isomer
