#pragma once
// Checks of numbers on the command line.

#include <CLI/CLI.hpp>

#include "isomer/base/number_range.h"

namespace isomer {

/// For CLI::Option::check: accepts only the numbers of the range; the message of an error states the range.
CLI::Validator in_range(NumberRange range);
CLI::Validator in_range(IntegerRange range);

}  // namespace isomer
