#pragma once
// Einsum: sums of products over named axes.

#include <string>
#include <vector>

#include "isomer/base/result.h"

namespace isomer {

/// An axis: a letter, or kEinsumEllipsis + i for the i-th axis (from the last) of an ellipsis.
using EinsumLabel = int;
using EinsumTerm = std::vector<EinsumLabel>;
inline constexpr EinsumLabel kEinsumEllipsis = 256;

struct EinsumEquation {
  std::vector<EinsumTerm> operands;
  EinsumTerm result;
};

/// Parses the attribute for operands of these ranks. Fails if it is invalid or does not match the ranks.
Result<EinsumEquation> parse_einsum(const std::string& text, const std::vector<size_t>& ranks);

}  // namespace isomer
