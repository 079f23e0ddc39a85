// Integers that are functions of others: quotients, entries of lists, and places in lists.

#include "isomer/smt/scope.h"

namespace isomer {

Dim Scope::canonical(const Dim& dim) {
  std::set<std::string> symbols;
  symbols_of(dim, symbols);
  std::map<std::string, Dim> values;
  for (const Frame& frame : frames_) {
    for (const Formula& fact : frame.facts) {
      if (fact.kind() != Formula::Kind::Zero) continue;
      const auto terms = fact.dim().terms();
      const auto& [names, coefficient] = terms.back();  // eliminates the symbol that sorts last
      if (terms.size() > 2 || names.size() != 1 || std::abs(coefficient) != 1 || !symbols.contains(names[0])) continue;
      if (terms[0].first.size() > 1) continue;
      values.emplace(names[0], Dim::symbol(names[0]) - Dim(coefficient) * fact.dim());
    }
  }
  return values.empty() ? dim : canonical(substitute(dim, values));
}

Dim Scope::quotient(const Dim& given, const Dim& by) {
  Dim a = canonical(given);
  const Dim b = canonical(by);
  if (b.is(1)) return a;
  if (b.is_const() && a.is_const()) return floor_div(a, b);
  // Splits a = b whole + rest, term by term. If 0 <= rest < b, `whole` is the quotient.
  Dim whole(0);
  Dim rest(0);
  for (const auto& [names, coefficient] : a.terms()) {
    Dim term(coefficient);
    for (const std::string& name : names) term = term * Dim::symbol(name);
    const Dim part = floor_div(term, b);
    const bool exact = part * b == term;
    whole = whole + (exact ? part : Dim(0));
    rest = rest + (exact ? Dim(0) : term);
  }
  if (rest.is(0)) return whole;
  // floor(floor(x / y) / b) = floor(x / (y b))
  if (const auto inner = rest.symbol_name(); inner && inner->starts_with("floor(")) {
    const std::vector<Dim> of = definitions_.at(*inner).arguments;
    return whole + quotient(of[0], of[1] * b);
  }
  if (implied(within(0, rest, b))) return whole;
  const std::string name = "floor(" + rest.str() + "/(" + b.str() + "))";
  return whole +
         define(
             name, {rest, b},
             [](Scope& scope, const std::vector<Dim>& with) { return scope.quotient(with[0], with[1]); },
             [&](const Dim& symbol) { return std::vector<Formula>{at_most(b, 0) || within(0, rest - b * symbol, b)}; });
}

Dim Scope::define(const std::string& name, std::vector<Dim> arguments,
                  std::function<Dim(Scope&, const std::vector<Dim>&)> again,
                  const std::function<std::vector<Formula>(const Dim&)>& facts) {
  Dim symbol = Dim::symbol(name);
  if (!definitions_.contains(name))
    definitions_.emplace(name, Definition{std::move(arguments), std::move(again), facts(symbol)});
  return symbol;
}

Dim Scope::entry(const std::string& list, const Dim& index,
                 const std::function<std::vector<Formula>(const Dim&)>& facts) {
  return define(
      list + "[" + index.str() + "]", {index},
      [=](Scope& scope, const std::vector<Dim>& with) { return scope.entry(list, with[0], facts); }, facts);
}

Dim Scope::place(const std::string& list, const Dim& value, const Dim& length,
                 const std::function<Dim(const Dim&)>& at) {
  // The place of an entry is the index at which it was read.
  if (const auto name = value.symbol_name(); name && name->starts_with(list + "["))
    return definitions_.at(*name).arguments[0];
  const std::string name = "place of " + value.str() + " in " + list;
  Dim symbol = Dim::symbol(name);
  if (!definitions_.contains(name)) {
    definitions_.emplace(name, Definition{{value},
                                          [=](Scope& scope, const std::vector<Dim>& with) {
                                            return scope.place(list, with[0], length, at);
                                          },
                                          {within(0, symbol, length + 1)},
                                          length,
                                          at});
    // at(place) = value; added after the definition, because it mentions the place.
    definitions_.at(name).facts.push_back(equal(symbol, length) || equal(at(symbol), value));
  }
  return symbol;
}

}  // namespace isomer
