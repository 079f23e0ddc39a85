#include "isomer/rules/match_plan.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "isomer/rules/walk.h"

namespace isomer {
namespace {

/// For each variable of the sources, with its sigil: how many terms must have matched until it is bound. Records have
/// the sigil `..`.
class Bound {
 public:
  explicit Bound(const Rule& rule) : last_(rule.sources.size() + 1) {
    for (size_t i = 0; i < rule.sources.size(); ++i)
      for_each_term(rule.sources[i], [&](const Term& term) { binds(term, rule.sources[i].repeated, i + 1); });
  }

  /// How many terms must have matched until a condition can be evaluated.
  size_t terms(const Expr& condition) const {
    size_t last = 0;
    if (condition.kind == Expr::Kind::Field)
      last = terms(".." + condition.args[0].name.substr(1));
    else if (condition.kind == Expr::Kind::Variable)
      last = terms(condition.name);
    else
      for (const Expr& arg : condition.args) last = std::max(last, terms(arg));
    return last;
  }

 private:
  void binds(const Term& term, bool repeated, size_t terms) {
    if (term.kind == Term::Kind::Value) add("?" + term.name, terms);
    if (term.kind == Term::Kind::Sequence) add("@" + term.name, repeated ? last_ : terms);
    if (term.kind == Term::Kind::Integers) add(term.integers.name, terms);
    if (!term.rest.empty()) add(".." + term.rest, terms);
    for (const auto& [attribute, expr] : term.attrs)
      if (expr.kind == Expr::Kind::Variable && expr.name[0] == '?') add(expr.name, terms);
  }

  /// The first term counts, since a variable stays bound.
  void add(std::string name, size_t terms) {
    if (find(name) == nullptr) variables_.emplace_back(std::move(name), terms);
  }

  size_t terms(std::string_view name) const {
    const size_t* terms = find(name);
    return terms == nullptr ? last_ : *terms;
  }

  const size_t* find(std::string_view name) const {
    const auto found = std::ranges::find(variables_, name, &std::pair<std::string, size_t>::first);
    return found == variables_.end() ? nullptr : &found->second;
  }

  const size_t last_;
  std::vector<std::pair<std::string, size_t>> variables_;
};

}  // namespace

MatchPlan::MatchPlan(const Rule& rule) : rule_(&rule), shared_(rule), ends_(rule.sources.size() + 2) {
  if (rule.conditions.empty()) return;
  const Bound bound(rule);
  std::vector<std::pair<size_t, const Expr*>> ordered;
  for (const Expr& condition : rule.conditions) ordered.emplace_back(bound.terms(condition), &condition);
  std::ranges::stable_sort(ordered, {}, &std::pair<size_t, const Expr*>::first);
  for (const auto& [terms, condition] : ordered) {
    conditions_.push_back(condition);
    ends_[terms] = conditions_.size();
  }
  for (size_t terms = 1; terms < ends_.size(); ++terms) ends_[terms] = std::max(ends_[terms], ends_[terms - 1]);
}

bool MatchPlan::single_root() const { return rule_->sources.size() == 1 && !rule_->sources[0].repeated; }

std::span<const Expr* const> MatchPlan::conditions_at(size_t terms) const {
  return conditions_until(terms).subspan(terms == 0 ? 0 : ends_[terms - 1]);
}

std::span<const Expr* const> MatchPlan::conditions_until(size_t terms) const {
  return std::span(conditions_).first(ends_[terms]);
}

std::span<const Expr* const> MatchPlan::conditions_after(size_t terms) const {
  return std::span(conditions_).subspan(ends_[terms]);
}

}  // namespace isomer
