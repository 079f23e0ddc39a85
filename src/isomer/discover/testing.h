#pragma once
// Universes for tests.

#include <gtest/gtest.h>

#include "isomer/base/file.h"
#include "isomer/discover/universe.h"

namespace isomer {

/// All variants of a universe of rulesets/universes.
inline std::vector<Universe> load_universe(const std::string& name) {
  const auto text = read_file(std::string(ISOMER_SOURCE_DIR) + "/rulesets/universes/" + name + ".universe");
  EXPECT_TRUE(text.has_value());
  std::vector<Universe> out;
  for (size_t i = 0; i < universe_variants(*text).value(); ++i) {
    auto variant = parse_universe(*text, i);
    EXPECT_TRUE(variant.has_value()) << variant.error().message;
    out.push_back(std::move(*variant));
  }
  return out;
}

}  // namespace isomer
