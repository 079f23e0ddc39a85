#include "isomer/discover/siblings.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "isomer/rules/build.h"
#include "isomer/rules/walk.h"

namespace isomer {
namespace {

/// Maps the inputs of the first sibling to those of the second.
using Renaming = std::map<std::string, std::string>;

Expr renamed(Expr expr, const Renaming& renaming) {
  if (expr.kind == Expr::Kind::Variable && renaming.contains(expr.name.substr(1)))
    expr.name = "?" + renaming.at(expr.name.substr(1));
  for (Expr& arg : expr.args) arg = renamed(std::move(arg), renaming);
  return expr;
}

Term renamed(Term term, const Renaming& renaming) {
  if (term.kind == Term::Kind::Value && renaming.contains(term.name)) term.name = renaming.at(term.name);
  for (auto& [name, expr] : term.attrs) expr = renamed(std::move(expr), renaming);
  for (Term& operand : term.operands) operand = renamed(std::move(operand), renaming);
  return term;
}

std::vector<std::string> names_of_values(const Term& term) {
  std::vector<std::string> out;
  for_each_term(term, [&](const Term& each) {
    if (each.kind == Term::Kind::Value) out.push_back(each.name);
  });
  return out;
}

/// Returns the renaming of the inputs of `first` that makes it equal to `second`; nothing if that requires other
/// changes, or no renaming at all.
std::optional<Renaming> renaming_between(const Term& first, const Term& second) {
  const std::vector<std::string> from = names_of_values(first);
  const std::vector<std::string> to = names_of_values(second);
  if (from.size() != to.size()) return std::nullopt;
  Renaming out;
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != to[i]) out.emplace(from[i], to[i]);
  std::set<std::string> targets;
  for (const auto& [name, other] : out)
    if (out.contains(other) || !targets.insert(other).second) return std::nullopt;
  if (out.empty() || !(renamed(first, out) == second)) return std::nullopt;
  return out;
}

/// Rewrites a rule, given which inputs correspond to each other.
class AnyNumber {
 public:
  explicit AnyNumber(Renaming renaming) : renaming_(std::move(renaming)) {}

  std::optional<Rule> run(const Rule& rule) {
    Rule out;
    out.sources = side(rule.sources);
    out.targets = side(rule.targets);
    for (const Expr& each : rule.conditions) condition(each, rule, out);
    for (const auto& [name, other] : renaming_) {
      if (!concatenated_.contains(name) && !repeated_.contains(name)) return std::nullopt;
      const Expr sequence = variable_of(name);
      out.conditions.push_back(call_expr(">=", {call_expr("len", {sequence}), integer_expr(2)}));
      const auto axis = concatenated_.find(name);
      if (axis != concatenated_.end() && rule.sources.size() > 1)
        out.conditions.push_back(call_expr("alike", {sequence, axis->second}));
    }
    return failed_ ? std::nullopt : std::optional(std::move(out));
  }

 private:
  static Expr variable_of(const std::string& name) {
    Expr out = variable_expr(name);
    out.name[0] = '@';
    return out;
  }

  bool are_siblings(const Term& first, const Term& second) const {
    return !(first == second) && renamed(first, renaming_) == second;
  }

  std::vector<Term> side(const std::vector<Term>& terms) {
    if (terms.size() == 2 && are_siblings(terms[0], terms[1])) return {sequence(terms[0])};
    std::vector<Term> out;
    out.reserve(terms.size());
    for (const Term& each : terms) out.push_back(outside(each));
    return out;
  }

  /// Rewrites a term outside of a repetition.
  Term outside(Term term) {
    if (term.kind == Term::Kind::Value && is_of_siblings(term.name)) failed_ = true;
    for (auto& [name, expr] : term.attrs) expr = once(std::move(expr));
    if (term.kind == Term::Kind::Apply && term.op->has(Trait::Concatenation) && term.operands.size() == 2 &&
        are_siblings(term.operands[0], term.operands[1])) {
      const Term& first = term.operands[0];
      if (first.kind == Term::Kind::Value) concatenated_.try_emplace(first.name, term.attrs[0].second);
      term.operands = {sequence(first)};
      return term;
    }
    for (Term& operand : term.operands) operand = outside(std::move(operand));
    return term;
  }

  /// Rewrites a term to all its siblings.
  Term sequence(Term term) {
    const bool bare = term.kind == Term::Kind::Value;
    term = element(std::move(term));
    term.repeated = !bare;
    return term;
  }

  Term element(Term term) {
    if (term.kind == Term::Kind::Value && renaming_.contains(term.name)) {
      term.kind = Term::Kind::Sequence;
      repeated_.insert(term.name);
    }
    for (const auto& [name, expr] : term.attrs)
      if (speaks_of_siblings(expr)) failed_ = true;
    for (Term& operand : term.operands) operand = element(std::move(operand));
    return term;
  }

  bool is_of_siblings(const std::string& name) const {
    return renaming_.contains(name) ||
           std::ranges::any_of(renaming_, [&](const auto& each) { return each.second == name; });
  }

  bool speaks_of_siblings(const Expr& expr) const {
    return any_expr(expr, [&](const Expr& part) {
      return part.kind == Expr::Kind::Variable && is_of_siblings(part.name.substr(1));
    });
  }

  /// Rewrites an expression outside of a repetition: a statement about each sibling becomes one about a list.
  Expr once(Expr expr) {
    if (!speaks_of_siblings(expr)) return expr;
    const bool pair = expr.kind == Expr::Kind::List && expr.args.size() == 2 && expr.args[0].name == "dim" &&
                      renamed(expr.args[0], renaming_) == expr.args[1] &&
                      renaming_.contains(expr.args[0].args[0].name.substr(1));
    if (pair) return call_expr("dims", {variable_of(expr.args[0].args[0].name.substr(1)), expr.args[0].args[1]});
    if (expr.name == "rank" && renaming_.contains(expr.args[0].name.substr(1)))
      return call_expr("rank", {variable_of(expr.args[0].name.substr(1))});
    if (expr.kind == Expr::Kind::Variable) failed_ = true;
    for (Expr& arg : expr.args) arg = once(std::move(arg));
    return expr;
  }

  void condition(const Expr& each, const Rule& rule, Rule& out) {
    if (!speaks_of_siblings(each)) return out.conditions.push_back(each);
    const auto says_it_of_the_first = [&](const Expr& other) {
      return !(other == each) && renamed(other, renaming_) == each;
    };
    if (std::ranges::any_of(rule.conditions, says_it_of_the_first)) return;
    if (each.name == "==" && each.args[0].name == "shape" && each.args[1] == renamed(each.args[0], renaming_)) {
      out.conditions.push_back(call_expr("alike", {variable_of(each.args[0].args[0].name.substr(1))}));
    } else if (each.name == "real" && renaming_.contains(each.args[0].name.substr(1))) {
      out.conditions.push_back(call_expr("real", {variable_of(each.args[0].name.substr(1))}));
    } else {
      out.conditions.push_back(once(each));
    }
  }

  const Renaming renaming_;
  std::map<std::string, Expr> concatenated_;  // inputs whose siblings are concatenated directly, with the axis
  std::set<std::string> repeated_;
  bool failed_ = false;
};

}  // namespace

std::optional<Rule> for_any_number(const Rule& rule) {
  std::vector<Renaming> renamings;
  const auto collect = [&](const std::vector<Term>& pair) {
    if (pair.size() != 2) return;
    if (auto found = renaming_between(pair[0], pair[1])) renamings.push_back(std::move(*found));
  };
  for (const std::vector<Term>* side : {&rule.sources, &rule.targets}) {
    collect(*side);
    for (const Term& term : *side)
      for_each_term(term, [&](const Term& each) {
        if (each.kind == Term::Kind::Apply && each.op->has(Trait::Concatenation)) collect(each.operands);
      });
  }
  // Those with more inputs first: concat(f(a, b), f(c, d)) is more specific than concat(a, c).
  std::ranges::stable_sort(renamings, std::greater<>(), &Renaming::size);
  for (const Renaming& renaming : renamings)
    if (auto found = AnyNumber(renaming).run(rule)) return found;
  return std::nullopt;
}

}  // namespace isomer
