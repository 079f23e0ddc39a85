#pragma once
// Names similar to one that does not exist, for error messages.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isomer {

/// Up to four of the names that have a similar spelling or the same beginning as `name`; the nearest first.
std::vector<std::string> near_names(std::string_view name, std::span<const std::string> names);

/// "; did you mean a, b or c?" with the near names; empty if there are none.
std::string did_you_mean(std::string_view name, std::span<const std::string> names);

}  // namespace isomer
