#pragma once
// Expressions of rules read backwards: which value of an open variable makes an expression a given one.

#include "isomer/rules/expr.h"

namespace isomer {

/// Whether every variable of the expression is bound.
bool is_bound(const Expr& expr, const Binding& binding);

/// Appends to `out` the attributes that make `expr` evaluate to `wanted`, if
/// there is one way to tell: sums, differences and products with one side known, joined lists,
/// lists item by item, `list[i]`, `normal`, `inverse`, `permute` and `index` are read backwards. False where that
/// fails. Whoever asks checks the answer: evaluation may yet give another value.
bool solve(const Expr& expr, const ExprValue& wanted, const ExprContext& context,
           std::vector<std::pair<std::string, ExprValue>>& out);

}  // namespace isomer
