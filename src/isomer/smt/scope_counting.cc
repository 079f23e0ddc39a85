// Sums of equal summands.

#include <algorithm>

#include "isomer/smt/scope.h"

namespace isomer {
namespace {

/// Returns n if the parts of a region say 0 <= bound < n; else nothing. Removes these parts.
std::optional<Dim> take_range(const Dim& bound, std::vector<Formula>& parts) {
  const Formula begins = at_most(0, bound);
  std::optional<Dim> extent;
  std::vector<Formula> rest;
  bool bounded = false;
  for (const Formula& part : parts) {
    std::set<std::string> symbols;
    part.symbols(symbols);
    if (part.str() == begins.str()) {
      bounded = true;
    } else if (!extent && part.kind() == Formula::Kind::NonNegative && symbols.contains(*bound.symbol_name())) {
      extent = part.dim() + bound + 1;
    } else {
      rest.push_back(part);
    }
  }
  if (!bounded || !extent) return std::nullopt;
  parts = std::move(rest);
  return extent;
}

}  // namespace

bool Scope::depends(const Formula& formula, const std::string& symbol) {
  return symbols_of_fact(formula).contains(symbol);
}

bool Scope::depends(const FactorNode& factor, const std::string& symbol) {
  const auto in_product = [&](const Product& product) {
    return depends(product.region, symbol) ||
           std::ranges::any_of(product.factors, [&](const Factor& inner) { return depends(*inner, symbol); });
  };
  return std::ranges::any_of(factor.index, [&](const Dim& dim) { return symbols_in(dim).contains(symbol); }) ||
         std::ranges::any_of(factor.regions, [&](const Formula& region) { return depends(region, symbol); }) ||
         std::ranges::any_of(factor.arguments, [&](const Element& argument) {
           return std::ranges::any_of(argument.products(), in_product);
         });
}

bool Scope::counted_bound(Product& product) {
  for (const std::string& name : product.bounds) {
    if (std::ranges::any_of(product.factors, [&](const Factor& factor) { return depends(*factor, name); })) continue;
    std::vector<Formula> parts{product.region};
    if (product.region.kind() == Formula::Kind::And) parts = product.region.parts();
    const auto extent = take_range(Dim::symbol(name), parts);
    if (!extent || (!extent->is_const() && !extent->symbol_name())) continue;
    const Formula rest = all_of(parts);
    if (depends(rest, name) || symbols_in(*extent).contains(name) || !implied(at_most(0, *extent), {rest})) continue;
    std::erase(product.bounds, std::string(name));
    product.region = rest;
    multiply(product, *extent);
    return true;
  }
  return false;
}

void Scope::multiply(Product& product, const Dim& extent) {
  if (extent.is_const()) {
    product.coefficient *= extent.value();
    return;
  }
  const Element count = Element::integer(extent);
  const std::string reciprocal = factor_str(*inverse(count).products()[0].factors[0]);
  const auto found =
      std::ranges::find_if(product.factors, [&](const Factor& factor) { return factor_str(*factor) == reciprocal; });
  if (found != product.factors.end() && implied(at_most(1, extent), {product.region}))
    product.factors.erase(found);
  else
    product.factors.push_back(count.products()[0].factors[0]);
}

}  // namespace isomer
