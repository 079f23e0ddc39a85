#include "isomer/smt/products.h"

#include <algorithm>
#include <optional>

namespace isomer {
namespace {

constexpr size_t kMaxProducts = 400;

using Monomials = std::set<std::vector<std::string>>;

void monomials_of(const Formula& formula, Monomials& out) {
  if (formula.kind() == Formula::Kind::Zero || formula.kind() == Formula::Kind::NonNegative) {
    for (const auto& [names, coefficient] : formula.dim().terms())
      if (names.size() > 1) out.insert(names);
  } else if (!formula.is_true() && !formula.is_false()) {
    for (const Formula& part : formula.parts()) monomials_of(part, out);
  }
}

bool is_comparison_of_polynomials(const Formula& formula) {
  return formula.kind() == Formula::Kind::Zero || formula.kind() == Formula::Kind::NonNegative;
}

/// Whether d >= 0 is false because some fact e >= 0 is at least as strong as -d - 1 >= 0.
bool refuted(const Formula& formula, const std::vector<Formula>& facts) {
  if (formula.kind() != Formula::Kind::NonNegative) return false;
  return std::ranges::any_of(facts, [&](const Formula& fact) {
    if (fact.kind() != Formula::Kind::NonNegative) return false;
    const Dim spare = Dim(-1) - formula.dim() - fact.dim();
    return spare.is_const() && spare.value() >= 0;
  });
}

/// The comparisons that all hold: the parts of conjunctions, and of disjunctions whose other parts are refuted.
std::vector<Formula> comparisons_in(std::span<const Formula> facts) {
  std::vector<Formula> out;
  std::vector<Formula> open(facts.begin(), facts.end());
  std::vector<Formula> disjunctions;
  const auto flatten = [&] {
    while (!open.empty()) {
      const Formula fact = std::move(open.back());
      open.pop_back();
      if (is_comparison_of_polynomials(fact))
        out.push_back(fact);
      else if (fact.kind() == Formula::Kind::And)
        open.insert(open.end(), fact.parts().begin(), fact.parts().end());
      else if (fact.kind() == Formula::Kind::Or)
        disjunctions.push_back(fact);
    }
  };
  flatten();
  for (const Formula& disjunction : std::vector<Formula>(disjunctions)) {
    std::vector<Formula> left = disjunction.parts();
    std::erase_if(left, [&](const Formula& part) { return refuted(part, out); });
    if (left.size() != 1) continue;
    open.push_back(left[0]);
    flatten();
  }
  return out;
}

/// The symbol s if the fact is s >= c for a number c >= 0.
std::optional<Dim> nonnegative_symbol(const Formula& fact) {
  if (fact.kind() != Formula::Kind::NonNegative) return std::nullopt;
  const auto terms = fact.dim().terms();
  if (terms.empty() || terms.size() > 2 || terms.back().first.size() != 1 || terms.back().second != 1)
    return std::nullopt;
  if (terms.size() == 2 && (!terms[0].first.empty() || terms[0].second > 0)) return std::nullopt;
  return Dim::symbol(terms.back().first[0]);
}

}  // namespace

std::vector<Formula> products_of_facts(std::span<const Formula> facts) {
  Monomials known;
  for (const Formula& fact : facts) monomials_of(fact, known);
  if (known.empty()) return {};
  const std::vector<Formula> comparisons = comparisons_in(facts);
  std::vector<Formula> out;
  std::set<std::string> factors;
  for (const Formula& fact : comparisons) {
    const auto factor = nonnegative_symbol(fact);
    if (!factor || !factors.insert(*factor->symbol_name()).second) continue;
    for (const Formula& other : comparisons) {
      const Dim product = other.dim() * *factor;
      const auto terms = product.terms();
      const bool helps = std::ranges::all_of(
          terms, [&](const auto& term) { return term.first.size() < 2 || known.contains(term.first); });
      if (!helps) continue;
      if (out.size() == kMaxProducts) return out;
      out.push_back(other.kind() == Formula::Kind::Zero ? equal(product, 0) : at_most(0, product));
    }
  }
  return out;
}

}  // namespace isomer
