#include "isomer/discover/builtin.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "isomer/base/file.h"

namespace isomer {

// Generated from rulesets/universes: names and texts in turn, sorted by name, then a null pointer.
extern const char* const kUniverses[];

namespace {

Result<std::string> universe_text(const std::string& name) {
  for (const char* const* each = kUniverses; *each != nullptr; each += 2)
    if (name == each[0]) return std::string(each[1]);
  if (!std::filesystem::exists(name))
    return fail("there is neither a universe called '{}' ({}) nor such a file", name,
                fmt::join(universe_names(), ", "));
  return read_file(name);
}

}  // namespace

std::vector<std::string> universe_names() {
  std::vector<std::string> out;
  for (const char* const* each = kUniverses; *each != nullptr; each += 2) out.emplace_back(each[0]);
  return out;
}

Result<std::vector<Universe>> load_universe(const std::string& name) {
  ISOMER_TRY(const std::string text, universe_text(name));
  const auto variants = universe_variants(text);
  if (!variants) return fail_in(name, variants.error());
  std::vector<Universe> out;
  for (size_t i = 0; i < *variants; ++i) {
    auto variant = parse_universe(text, i);
    if (!variant) return fail_in(name, variant.error());
    out.push_back(std::move(*variant));
  }
  return out;
}

}  // namespace isomer
