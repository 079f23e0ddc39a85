#include "isomer/egraph/solve.h"

#include <algorithm>

#include "isomer/rules/functions.h"
#include "isomer/rules/walk.h"

namespace isomer {
namespace {

using Solved = std::vector<std::pair<std::string, ExprValue>>;

std::optional<Dims> dims_in(const ExprValue& value) {
  const auto* list = std::get_if<Dims>(&value);
  return list == nullptr ? std::nullopt : std::optional(*list);
}

std::optional<size_t> place_of(const Dims& list, const Dim& value) {
  const auto found = std::ranges::find(list, value);
  return found == list.end() ? std::nullopt : std::optional(static_cast<size_t>(found - list.begin()));
}

/// Returns x with a op x = wanted (`left`: x op a = wanted), for integers.
Result<Dim> inverted(const std::string& op, const Dim& known, const Dim& wanted, bool left) {
  if (op == "+") return wanted - known;
  if (op == "-") return left ? wanted + known : known - wanted;
  if (op != "*" || !known.is_const() || !wanted.is_const() || known.is(0)) return fail("no inverse");
  if (wanted.value() % known.value() != 0) return fail("no inverse");
  return Dim(wanted.value() / known.value());
}

class Solver {
 public:
  Solver(const ExprContext& context, Solved& out) : context_(context), out_(out) {}

  bool solve(const Expr& expr, const ExprValue& wanted) {
    if (is_bound(expr, context_.binding)) return true;
    if (expr.kind == Expr::Kind::Variable) return variable(expr, wanted);
    if (expr.kind == Expr::Kind::List) return list(expr, wanted);
    if (expr.kind != Expr::Kind::Call || expr.args.empty()) return false;
    if (expr.name == "normal") return solve(expr.args[0], wanted);
    if (expr.name == "inverse") return inverse(expr.args[0], wanted);
    if (expr.args.size() != 2) return false;
    const bool left = !is_bound(expr.args[0], context_.binding);
    if (left && !is_bound(expr.args[1], context_.binding)) return false;
    const auto known = evaluate(expr.args[left ? 1 : 0], context_);
    return known && binary(expr, *known, wanted, left);
  }

 private:
  bool variable(const Expr& expr, const ExprValue& wanted) {
    if (expr.name[0] != '?') return false;
    const std::string name = expr.name.substr(1);
    for (const auto& [other, value] : out_)
      if (other == name) return equal_values(value, wanted);
    out_.emplace_back(name, wanted);
    return true;
  }

  bool list(const Expr& expr, const ExprValue& wanted) {
    const auto items = dims_in(wanted);
    if (!items || items->size() != expr.args.size()) return false;
    for (size_t i = 0; i < items->size(); ++i)
      if (!solve(expr.args[i], (*items)[i])) return false;
    return true;
  }

  bool inverse(const Expr& permutation, const ExprValue& wanted) {
    const auto list = dims_in(wanted);
    if (!list) return false;
    Dims out;
    for (size_t i = 0; i < list->size(); ++i) {
      const auto place = place_of(*list, Dim(static_cast<int64_t>(i)));
      if (!place) return false;
      out.emplace_back(static_cast<int64_t>(*place));
    }
    return solve(permutation, out);
  }

  bool binary(const Expr& expr, const ExprValue& known, const ExprValue& wanted, bool left) {
    const Expr& open = expr.args[left ? 0 : 1];
    if (expr.name == "++") return joined(open, known, wanted, left);
    if (expr.name == "permute") return permuted(open, known, wanted, left);
    if (expr.name == "at" || expr.name == "index") {
      // list[x] = wanted and index(list, x) = wanted, with a known list.
      const auto list = dims_in(known);
      const auto* number = std::get_if<Dim>(&wanted);
      if (left || !list || number == nullptr || !number->is_const()) return false;
      if (expr.name == "at") {
        const auto place = place_of(*list, *number);
        return place && solve(open, Dim(static_cast<int64_t>(*place)));
      }
      const auto at = static_cast<size_t>(number->value());
      return at < list->size() && solve(open, (*list)[at]);
    }
    const auto value =
        elementwise(known, wanted, [&](const Dim& a, const Dim& b) { return inverted(expr.name, a, b, left); });
    return value && solve(open, *value);
  }

  bool joined(const Expr& open, const ExprValue& known, const ExprValue& wanted, bool left) {
    const auto part = dims_in(known);
    const auto whole = dims_in(wanted);
    if (!part || !whole || part->size() > whole->size()) return false;
    const auto rest = static_cast<std::ptrdiff_t>(whole->size() - part->size());
    if (left) return solve(open, Dims(whole->begin(), whole->begin() + rest));
    return solve(open, Dims(whole->end() - rest, whole->end()));
  }

  /// permute(q, p)[i] = q[p[i]]
  bool permuted(const Expr& open, const ExprValue& known, const ExprValue& wanted, bool left) {
    const auto have = dims_in(known);
    const auto result = dims_in(wanted);
    if (!have || !result || have->size() != result->size()) return false;
    Dims out(have->size());
    for (size_t i = 0; i < out.size(); ++i) {
      const auto place = left ? place_of(*have, Dim(static_cast<int64_t>(i))) : place_of(*have, (*result)[i]);
      if (!place) return false;
      out[i] = left ? (*result)[*place] : Dim(static_cast<int64_t>(*place));
    }
    return solve(open, out);
  }

  const ExprContext& context_;
  Solved& out_;
};

}  // namespace

bool is_bound(const Expr& expr, const Binding& binding) {
  return !any_expr(expr, [&](const Expr& part) {
    if (part.kind != Expr::Kind::Variable) return false;
    const std::string_view name = std::string_view(part.name).substr(1);
    return binding.value(name) == nullptr && binding.sequence(name) == nullptr && binding.attr(name) == nullptr &&
           binding.record(name) == nullptr;
  });
}

bool solve(const Expr& expr, const ExprValue& wanted, const ExprContext& context, Solved& out) {
  return Solver(context, out).solve(expr, wanted);
}

}  // namespace isomer
