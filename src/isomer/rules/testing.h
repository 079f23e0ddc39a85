#pragma once
// Helpers for tests of rules.

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "isomer/rules/rule.h"

namespace isomer {

/// The complete file: families as they are written, then the tactics.
inline std::string print_rule_file(const RuleFile& file) {
  std::vector<std::string> parts;
  std::set<std::string_view> printed;  // names of families
  for (const Rule& rule : file.rules) {
    const auto family =
        std::ranges::find(file.families, rule.family, [](const RuleFamily& f) { return f.written.name; });
    if (family == file.families.end())
      parts.push_back(print_rule(rule));
    else if (printed.insert(family->written.name).second)
      parts.push_back(print_family(*family));
  }
  for (const Tactic& tactic : file.tactics) parts.push_back(print_tactic(tactic));
  return fmt::format("{}", fmt::join(parts, "\n"));
}

}  // namespace isomer
