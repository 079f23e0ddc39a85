#pragma once
// Checks of numbers on the command line.

#include <CLI/CLI.hpp>

#include "isomer/base/number_range.h"

namespace isomer {

/// For Option::check: the option takes the numbers of the range, and nothing else; the message of an error states it.
CLI::Validator in_range(NumberRange range);
CLI::Validator in_range(IntegerRange range);

}  // namespace isomer
