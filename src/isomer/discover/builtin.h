#pragma once
// The universes that are built into the program (rulesets/universes), and universes from files.

#include "isomer/discover/universe.h"

namespace isomer {

/// Returns "convolution", "matrix" and so on, sorted.
std::vector<std::string> universe_names();

/// Returns all variants of the universe called `name`, or of the file of that name. The Error contains the name.
Result<std::vector<Universe>> load_universe(const std::string& name);

}  // namespace isomer
