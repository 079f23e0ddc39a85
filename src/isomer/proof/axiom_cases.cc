#include "isomer/proof/axiom_cases.h"

namespace isomer {
namespace {

/// Returns the known facts that do not depend on these symbols, directly or indirectly.
Formula outer_facts(const Scope& scope, const std::vector<Dim>& index) {
  std::vector<Formula> out;
  const Formula known = scope.known();
  const auto keep = [&](const Formula& fact) {
    std::set<std::string> symbols;
    fact.symbols(symbols);
    for (const std::string& name : symbols) {
      const auto within = scope.symbols_in(Dim::symbol(name));
      for (const Dim& axis : index)
        if (within.contains(*axis.symbol_name())) return;
    }
    out.push_back(fact);
  };
  if (known.kind() == Formula::Kind::And)
    for (const Formula& fact : known.parts()) keep(fact);
  else
    keep(known);
  return all_of(std::move(out));
}

}  // namespace

AxiomCases::AxiomCases(const Rule& pattern, const Instance& instance, std::shared_ptr<Solver> solver)
    : scope_({.all_queries = SIZE_MAX, .all_unanswered = SIZE_MAX}, std::move(solver)) {
  size_t num_results = 0;
  scope_.explore([&] {
    const auto results = Instantiation(scope_, pattern, instance, {}).source();
    num_results = results.size();
    const Formula facts = scope_.known();
    for (size_t r = 0; r < results.size(); ++r) cases_.push_back({facts, facts, r, results[r].shape, std::nullopt});
  });
  for (size_t r = 0; r < num_results; ++r) {
    scope_.explore([&] {
      const auto results = Instantiation(scope_, pattern, instance, {}).source();
      std::vector<Dim> index;
      for (size_t axis = 0; axis < results[r].rank(); ++axis) {
        index.push_back(Dim::symbol(index_symbol(r, axis)));
        scope_.assume(within(0, index.back(), results[r].shape[axis]));
      }
      Element element = results[r].at(index);
      cases_.push_back({scope_.known(), outer_facts(scope_, index), r, results[r].shape, std::move(element)});
    });
  }
}

}  // namespace isomer
