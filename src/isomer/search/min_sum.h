#pragma once
// Minimizes a sum of functions of binary variables by dynamic programming.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace isomer {

/// A function of a few binary variables.
struct Factor {
  std::vector<size_t> variables = {};  ///< ascending
  std::vector<double> values = {};     ///< bit i of the index is the i-th variable's value; may be infinite
};

/// Returns an assignment of `variables` variables under which the sum of all factors is minimal; among equal ones, the
/// same in every run. Eliminates one variable after the other, that with the fewest neighbors first: on a chain or a
/// tree, the time is linear. Nothing if an elimination would take a table of more than `max_width` variables, or if
/// every sum is infinite.
std::optional<std::vector<bool>> min_sum(std::span<const Factor> factors, size_t variables, size_t max_width = 16);

}  // namespace isomer
