#pragma once

#include <string_view>

namespace isomer {

/// Isomer's version, as in CMakeLists.txt: "0.1.0".
std::string_view version();

}  // namespace isomer
