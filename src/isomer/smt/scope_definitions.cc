// Integers that are functions of others: quotients, entries of lists, and places in lists.

#include <algorithm>
#include <numeric>

#include "isomer/smt/scope.h"

namespace isomer {

namespace {

/// The monomial without the factors of another; nullopt if it does not have them.
std::optional<std::vector<std::string>> without(std::vector<std::string> names,
                                                const std::vector<std::string>& factors) {
  for (const std::string& factor : factors) {
    const auto found = std::ranges::find(names, factor);
    if (found == names.end()) return std::nullopt;
    names.erase(found);
  }
  return names;
}

/// The greatest common divisor of the coefficients.
int64_t content(const Dim& dim) {
  int64_t out = 0;
  for (const auto& [names, coefficient] : dim.terms()) out = std::gcd(out, coefficient);
  return out;
}

}  // namespace

std::optional<Dim> exact_quotient(const Dim& a, const Dim& b) {
  constexpr size_t kMaxSteps = 16;
  if (b.is(0)) return std::nullopt;
  const auto by = b.terms().back();
  // A constant divides each term by itself, so that any number of terms is divided.
  const size_t steps = b.is_const() ? a.terms().size() : kMaxSteps;
  Dim rest = a;
  Dim out(0);
  for (size_t step = 0; step < steps && !rest.is(0); ++step) {
    const auto term = rest.terms().back();
    const auto names = without(term.first, by.first);
    Dim part = floor_div(Dim(term.second), Dim(by.second));
    if (!names || !(part * by.second).is(term.second)) return std::nullopt;
    for (const std::string& name : *names) part = part * Dim::symbol(name);
    out = out + part;
    rest = rest - part * b;
  }
  return rest.is(0) ? std::optional(out) : std::nullopt;
}

Dim Scope::exactly_divided(const Dim& given, const Dim& by) {
  const Dim a = canonical(given);
  const Dim b = canonical(by);
  if (const auto quotient = exact_quotient(a, b)) return *quotient;
  const Dim symbol = define(
      "exact(" + a.str() + "/(" + b.str() + "))", {a, b},
      [](Scope& scope, const std::vector<Dim>& with) { return scope.exactly_divided(with[0], with[1]); },
      [](const Dim& quotient) { return std::vector<Formula>{at_most(0, quotient)}; });
  assume(equal(a, symbol * b));
  return symbol;
}

Dim Scope::canonical(const Dim& given) {
  // Facts that define symbols by each other could replace them without end.
  constexpr size_t kMaxRounds = 16;
  constexpr size_t kMaxNested = 16;
  if (nested_ >= kMaxNested) return given;
  const Nesting nesting(nested_);
  Dim dim = given;
  for (size_t round = 0; round < kMaxRounds; ++round) {
    const auto values = known_values(dim);
    if (values.empty()) break;
    dim = substitute(dim, values);
  }
  return dim;
}

std::map<std::string, Dim> Scope::known_values(const Dim& dim) const {
  std::set<std::string> symbols;
  symbols_of(dim, symbols);
  std::map<std::string, Dim> values;
  using Term = std::pair<std::vector<std::string>, int64_t>;
  const auto replace_by_product = [&](const Term& single, const Term& product) {
    const std::string& name = single.first[0];
    if (std::abs(single.second) != 1 || !symbols.contains(name)) return;
    // A value that depends on the symbol would be replaced without end, except in the quotient that has this value.
    for (const std::string& factor : product.first) {
      const auto found = definitions_.find(factor);
      const bool quotient = factor.starts_with("exact(") && found->second.arguments[0] == Dim::symbol(name);
      if (!quotient && symbols_in(Dim::symbol(factor)).contains(name)) return;
    }
    Dim value(-single.second * product.second);
    for (const std::string& factor : product.first) value = value * Dim::symbol(factor);
    values.emplace(name, value);
  };
  for (const Frame& frame : frames_) {
    for (const Formula& fact : frame.facts) {
      if (fact.kind() != Formula::Kind::Zero) continue;
      const auto terms = fact.dim().terms();
      const auto& [names, coefficient] = terms.back();  // eliminates the symbol that sorts last
      if (terms.size() > 2) continue;
      if (terms.size() == 2 && names.size() > 1 && terms[0].first.size() == 1) {
        replace_by_product(terms[0], terms[1]);
        continue;
      }
      if (names.size() != 1 || std::abs(coefficient) != 1 || !symbols.contains(names[0])) continue;
      if (terms[0].first.size() > 1) {
        if (names.size() == 1) replace_by_product(terms[1], terms[0]);
        continue;
      }
      values.emplace(names[0], Dim::symbol(names[0]) - Dim(coefficient) * fact.dim());
    }
  }
  return values;
}

Dim Scope::quotient(const Dim& given, const Dim& by) {
  Dim a = canonical(given);
  const Dim b = canonical(by);
  if (b.is(1)) return a;
  if (b.is_const() && a.is_const()) return floor_div(a, b);
  if (const int64_t common = std::gcd(content(a), content(b)); common > 1)
    return quotient(*exact_quotient(a, common), *exact_quotient(b, common));
  if (const auto exact = exact_quotient(a, b)) return *exact;
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
    if (const std::vector<Dim>* found = arguments_of(*inner)) {
      const std::vector<Dim> of = *found;
      return whole + quotient(of[0], of[1] * b);
    }
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
