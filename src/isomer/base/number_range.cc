#include "isomer/base/number_range.h"

namespace isomer {

std::string NumberRange::str() const {
  if (open) return fmt::format("a finite number above {:g}", min);
  if (max == std::numeric_limits<double>::max()) return fmt::format("a finite number of at least {:g}", min);
  return fmt::format("a number from {:g} to {:g}", min, max);
}

Status NumberRange::check(double value) const {
  // Written so that NaN fails.
  const bool inside = value <= max && (open ? value > min : value >= min);
  if (!inside) return fail("must be {}", str());
  return {};
}

std::string IntegerRange::str() const { return fmt::format("an integer from {} to {}", min, max); }

Status IntegerRange::check(int64_t value) const {
  if (value < min || value > max) return fail("must be {}", str());
  return {};
}

}  // namespace isomer
