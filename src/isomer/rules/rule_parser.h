#pragma once
// Parses one rule without its name. parse.cc parses the files that rules stand in.

#include <string>

#include "isomer/ir/scanner.h"
#include "isomer/rules/rule.h"

namespace isomer {

/// An operator variable while a rule is parsed for one of its operators.
struct BoundOperator {
  std::string variable;
  const OpDef* op = nullptr;
  /// Keeps the variable in the terms (Term::op_variable), as the rule is written.
  bool as_written = false;
};

/// Parses the sources, choices, target and conditions of a rule. With an operator variable, a source must use it.
Result<Rule> parse_rule_body(Scanner& scan, const BoundOperator* bound = nullptr);

}  // namespace isomer
