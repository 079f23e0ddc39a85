#pragma once
// The options of isomer_optimize, a JSON object, as those of the pipeline.

#include <string_view>

#include "isomer/optimize/optimize.h"

namespace isomer::capi {

/// Sets what `json` names in `options`. An Error where the text is no JSON object, or a key is unknown or has no value
/// of its type and range; docs/embedding.md lists them.
Status read_options(std::string_view json, OptimizeOptions& options);

}  // namespace isomer::capi
