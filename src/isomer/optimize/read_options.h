#pragma once
// The options of a run as a JSON object, for the C interface and Python.

#include <string_view>

#include "isomer/optimize/optimize.h"

namespace isomer {

/// Sets what `json` names in `options`. An Error where the text is no JSON object, or a key is unknown or has no value
/// of its type and range; docs/reference/options.md lists them.
Status read_options(std::string_view json, OptimizeOptions& options);

}  // namespace isomer
