#include "isomer/egraph/direction.h"

#include <algorithm>
#include <set>

#include "isomer/rules/walk.h"

namespace isomer {
namespace {

void name_literal(Term& term, size_t& named) {
  if (term.kind == Term::Kind::Literal) term.name = "#" + std::to_string(named++);
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
  }
};

/// Returns the guesses that the backward direction needs; nothing if values would have to be guessed too.
std::optional<std::vector<Direction::Guess>> guesses_of(const Rule& rule) {
  Names source;
  for_each_source_term(rule, [&](const Term& term) { source.read(term); });
  Names target;
  for_each_target_term(rule, [&](const Term& term) { target.read(term); });
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
    for_each_source_term(forward.rule, [&](Term& term) { name_literal(term, named); });
    out.push_back(std::move(forward));
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    if (!all_operators(rules[i].targets)) continue;
    auto guesses = guesses_of(rules[i]);
    if (!guesses) continue;
    size_t named = 0;
    Direction backward{rules[i], false, i, std::move(*guesses)};
    for_each_target_term(backward.rule, [&](Term& term) { name_literal(term, named); });
    out.push_back(std::move(backward));
  }
  return out;
}

}  // namespace isomer
