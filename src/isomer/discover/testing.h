#pragma once
// Helpers for the tests of discovery.

#include "isomer/rules/rule.h"

namespace isomer {

/// Returns the rule named "r" with this text. Throws if the text is not a rule.
inline Rule rule_of(const std::string& text) { return parse_rules("rule r\n" + text).value()[0]; }

}  // namespace isomer
