#include "isomer/base/number_range.h"

namespace isomer {

std::string NumberRange::str() const {
  if (open) return fmt::format("a finite number above {:g}", least);
  if (most == std::numeric_limits<double>::max()) return fmt::format("a finite number of at least {:g}", least);
  return fmt::format("a number from {:g} to {:g}", least, most);
}

Status NumberRange::check(double value) const {
  // Written so that NaN fails.
  const bool inside = value <= most && (open ? value > least : value >= least);
  if (!inside) return fail("must be {}", str());
  return {};
}

std::string IntegerRange::str() const { return fmt::format("an integer from {} to {}", least, most); }

Status IntegerRange::check(int64_t value) const {
  if (value < least || value > most) return fail("must be {}", str());
  return {};
}

}  // namespace isomer
