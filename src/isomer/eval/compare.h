#pragma once
// Numeric comparison of the outputs of two runs.

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/tensor.h"

namespace isomer {

/// A floating-point element x is close to the expected e if |x - e| <= atol + rtol * |e|.
struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-7;
};

/// Every number is close to every other, so that only other elements count as `beyond`.
inline constexpr Tolerance kAnyReals{.rtol = 0, .atol = std::numeric_limits<double>::infinity()};

/// The comparison of one output of two runs.
struct OutputComparison {
  std::string problem = {};  ///< why the two are not comparable (element types or extents differ); empty if they are
  int64_t elements = 0;
  double largest = 0;      ///< largest |e|, over elements that are finite in both
  double max_abs = 0;      ///< largest |x - e|, likewise
  double max_rel = 0;      ///< max_abs over the largest finite |e|; max_abs itself when all e are 0
  double mean_rel = 0;     ///< likewise, the root of the mean square of |x - e|
  int64_t not_finite = 0;  ///< elements where one is NaN or infinite and the other differs
  int64_t beyond = 0;      ///< finite floating-point elements that are not close, and other elements that are not equal

  bool equal() const { return problem.empty() && not_finite == 0 && beyond == 0; }
  /// Whether it is equal, and numbers differ at most so much, relative to the largest. False for NaN.
  bool within(double tolerance) const { return equal() && max_rel <= tolerance; }
  /// One line for people: "max abs 1e-06, max rel 2e-07" or the problem.
  std::string str() const;
};

/// The comparison of all outputs, in their order.
struct Comparison {
  std::vector<OutputComparison> outputs = {};

  bool equal() const;
  double max_abs() const { return worst(&OutputComparison::max_abs); }
  double max_rel() const { return worst(&OutputComparison::max_rel); }

 private:
  double worst(double OutputComparison::*of) const;
};

/// Compares `got` with `expected`: floating-point and complex elements within the tolerance; integers, booleans,
/// strings and field elements exactly.
OutputComparison compare_tensors(const Tensor& got, const Tensor& expected, const Tolerance& tolerance = {});

/// Likewise for lists of outputs; fails if their lengths differ.
Result<Comparison> compare_outputs(std::span<const Tensor> got, std::span<const Tensor> expected,
                                   const Tolerance& tolerance = {});

}  // namespace isomer
