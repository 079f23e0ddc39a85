#pragma once
// Rules as equations: from the source to the target, and from the target to the source.

#include "isomer/rules/expr.h"

namespace isomer {

/// A rule in one of its directions. Literals that are matched have names ("#0", ...), under which a binding has the
/// constants that they matched.
struct Direction {
  /// An attribute or record of the new side that matching the old side does not determine. It tries the values that
  /// nodes of this operator have.
  struct Guess {
    std::string name;
    const OpDef* op;
    std::string attr = {};                  ///< empty: a record
    std::vector<std::string> without = {};  ///< of all attributes except these
  };

  Rule rule;
  bool forward = true;
  size_t number = 0;  ///< of the rule, in the given order
  std::vector<Guess> guesses = {};

  const std::vector<Term>& from() const { return forward ? rule.sources : rule.targets; }
  const std::vector<Term>& to() const { return forward ? rule.targets : rule.sources; }
  /// Returns whether it replaces several terms at once.
  bool several_roots() const { return from().size() > 1 || from()[0].repeated; }
};

/// Returns the forward direction of every rule, and the backward direction unless a target is a bare variable or the
/// source has a value that the target does not determine.
std::vector<Direction> directions_of(const std::vector<Rule>& rules);

}  // namespace isomer
