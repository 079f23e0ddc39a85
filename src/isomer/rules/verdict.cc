#include "isomer/rules/verdict.h"

#include <algorithm>
#include <array>

namespace isomer {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"proved", "refuted", "tested", "unknown"};

}  // namespace

std::string_view verdict_name(Verdict verdict) { return kNames[static_cast<size_t>(verdict)]; }

std::optional<Verdict> verdict_from_name(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Verdict>(found - kNames.begin());
}

}  // namespace isomer
