#pragma once
// The universes that come with the program (rulesets/universes), and others from files.

#include "isomer/discover/universe.h"

namespace isomer {

/// "convolution", "matrix" and so on, sorted.
std::vector<std::string> universe_names();

/// All variants of the universe called `name`, or of the file of that name. Fails with the name.
Result<std::vector<Universe>> load_universe(const std::string& name);

}  // namespace isomer
