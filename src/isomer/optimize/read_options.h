#pragma once
// Reads options from a JSON object, for the C interface and Python.

#include <string_view>

#include "isomer/optimize/optimize.h"

namespace isomer {

/// Sets the options that `json` names; docs/reference/options.md lists them. An Error if the text is not a JSON object,
/// a key is unknown, or a value has a wrong type or is out of range.
Status read_options(std::string_view json, OptimizeOptions& options);
/// Likewise, the options that concern only the engine.
Status read_options(std::string_view json, EngineOptions& options);

}  // namespace isomer
