#pragma once
// Numeric comparison of what two runs gave.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/tensor.h"

namespace isomer {

/// A real element x is close to the expected e when |x - e| <= atol + rtol * |e|.
struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-7;
};

/// One output of two runs.
struct OutputComparison {
  std::string problem;  ///< why the two are not comparable (element types or extents differ); empty when they are
  int64_t elements = 0;
  double max_abs = 0;      ///< largest |x - e|, over elements that are finite in both
  double max_rel = 0;      ///< max_abs over the largest finite |e|; max_abs itself when all e are 0
  int64_t not_finite = 0;  ///< elements where one is NaN or infinite and the other is not the same
  int64_t beyond = 0;      ///< finite real elements that are not close, and other elements that are not equal

  bool equal() const { return problem.empty() && not_finite == 0 && beyond == 0; }
  /// One line for people: "max abs 1e-06, max rel 2e-07" or what is wrong.
  std::string str() const;
};

/// All outputs, in their order.
struct Comparison {
  std::vector<OutputComparison> outputs;

  bool equal() const;
  double max_abs() const;
  double max_rel() const;
};

/// Compares `got` with `expected`. Real and complex elements within the tolerance; integers, booleans, strings and
/// field elements exactly.
OutputComparison compare_tensors(const Tensor& got, const Tensor& expected, const Tolerance& tolerance = {});

/// As above for lists of outputs; fails when their numbers differ.
Result<Comparison> compare_outputs(std::span<const Tensor> got, std::span<const Tensor> expected,
                                   const Tolerance& tolerance = {});

}  // namespace isomer
