#pragma once
// Evaluates expressions of rules backwards: finds the value of an open variable for which an expression has a given
// value.

#include "isomer/rules/expr.h"

namespace isomer {

/// Returns whether every variable of the expression is bound.
bool is_bound(const Expr& expr, const Binding& binding);

/// Appends to `out` the attributes for which `expr` evaluates to `wanted`, if there is one known way: it inverts sums,
/// differences and products with one side known, joined lists, lists item by item, `list[i]`, `normal`, `inverse`,
/// `permute` and `index`. Returns false if that fails. The caller must check the answer by evaluation, which may give
/// another value.
bool solve(const Expr& expr, const ExprValue& wanted, const ExprContext& context,
           std::vector<std::pair<std::string, ExprValue>>& out);

}  // namespace isomer
