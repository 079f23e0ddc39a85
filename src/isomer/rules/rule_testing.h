#pragma once
// Rules for tests.

#include <gtest/gtest.h>

#include <string>

#include "isomer/rules/rule.h"

namespace isomer {

/// The rule with this content, which is named `r`.
inline Rule rule(const std::string& text) {
  auto rules = parse_rules("rule r\n" + text);
  EXPECT_TRUE(rules.has_value()) << (rules ? "" : rules.error().message);
  return rules ? rules->at(0) : Rule();
}

}  // namespace isomer
