#pragma once
// Rules as equations: from the source to the target, and from the target to the source.

#include "isomer/rules/expr.h"

namespace isomer {

/// A rule in one of its directions. Literals that are matched have names ("#0", ...), under which a binding has the
/// constants that they matched.
struct Direction {
  /// An attribute or record of the new side that matching the old one does not tell. It takes the values that nodes of
  /// this operator have.
  struct Guess {
    std::string name;
    const OpDef* op;
    std::string attr = {};                  ///< empty: a record,
    std::vector<std::string> without = {};  ///< of all attributes but these
  };

  Rule rule;
  bool forward = true;
  size_t number = 0;  ///< of the rule, in the order given
  std::vector<Guess> guesses = {};

  const std::vector<Term>& from() const { return forward ? rule.sources : rule.targets; }
  const std::vector<Term>& to() const { return forward ? rule.targets : rule.sources; }
  /// Whether it replaces several terms at once.
  bool several_roots() const { return from().size() > 1 || from()[0].repeated; }
};

/// All directions that say what to put in the place of what: a side that is a bare variable is not replaced, and
/// neither is one that leaves a value of the other side open.
std::vector<Direction> directions_of(const std::vector<Rule>& rules);

/// Names of the variables in an expression, without sigils.
void names_in(const Expr& expr, std::vector<std::string>& out);

}  // namespace isomer
