#include "isomer/egraph/direction.h"

#include <algorithm>
#include <set>

namespace isomer {
namespace {

void name_literals(Term& term, size_t& named) {
  if (term.kind == Term::Kind::Literal) term.name = "#" + std::to_string(named++);
  for (Term& operand : term.operands) name_literals(operand, named);
}

bool is_bare(const Expr& expr) { return expr.kind == Expr::Kind::Variable && expr.name[0] == '?'; }

/// The names that the terms of a side use.
struct Names {
  std::set<std::string> values;  // and sequences
  std::set<std::string> bound;   // attributes and records that matching binds
  std::vector<Direction::Guess> sites;

  void read(const Term& term) {
    if (term.kind == Term::Kind::Value || term.kind == Term::Kind::Sequence) values.insert(term.name);
    if (term.kind == Term::Kind::Integers && is_bare(term.integers)) bound.insert(term.integers.name.substr(1));
    std::vector<std::string> named;
    for (const auto& [attr, expr] : term.attrs) {
      named.push_back(attr);
      if (!is_bare(expr)) continue;
      bound.insert(expr.name.substr(1));
      sites.push_back({expr.name.substr(1), term.op, attr, {}});
    }
    if (!term.rest.empty()) {
      bound.insert(term.rest);
      sites.push_back({term.rest, term.op, "", std::move(named)});
    }
    for (const Term& operand : term.operands) read(operand);
  }
};

/// Returns the guesses that the backward direction needs; nothing if values would have to be guessed too.
std::optional<std::vector<Direction::Guess>> guesses_of(const Rule& rule) {
  Names source;
  for (const Term& term : rule.sources) source.read(term);
  Names target;
  for (const Let& let : rule.lets) target.read(let.term);
  for (const Term& term : rule.targets) target.read(term);
  if (!std::ranges::includes(target.values, source.values)) return std::nullopt;
  std::vector<Direction::Guess> out;
  for (const std::string& name : source.bound) {
    if (target.bound.contains(name)) continue;
    const auto site = std::ranges::find(source.sites, name, &Direction::Guess::name);
    // A list of integers may still follow from an equation.
    if (site != source.sites.end()) out.push_back(*site);
  }
  return out;
}

bool all_operators(const std::vector<Term>& terms) {
  return std::ranges::all_of(terms, [](const Term& term) { return term.kind == Term::Kind::Apply; });
}

}  // namespace

std::vector<Direction> directions_of(const std::vector<Rule>& rules) {
  std::vector<Direction> out;
  for (size_t i = 0; i < rules.size(); ++i) {
    size_t named = 0;
    Direction forward{rules[i], true, i};
    for (Term& term : forward.rule.sources) name_literals(term, named);
    out.push_back(std::move(forward));
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    if (!all_operators(rules[i].targets)) continue;
    auto guesses = guesses_of(rules[i]);
    if (!guesses) continue;
    size_t named = 0;
    Direction backward{rules[i], false, i, std::move(*guesses)};
    for (Let& let : backward.rule.lets) name_literals(let.term, named);
    for (Term& term : backward.rule.targets) name_literals(term, named);
    out.push_back(std::move(backward));
  }
  return out;
}

void names_in(const Expr& expr, std::vector<std::string>& out) {
  if (expr.kind == Expr::Kind::Variable) out.push_back(expr.name.substr(1));
  for (const Expr& arg : expr.args) names_in(arg, out);
}

}  // namespace isomer
