// Substitution of free symbols in polynomials, formulas and elements.

#include "isomer/smt/scope.h"

namespace isomer {

Dim Scope::substitute(const Dim& dim, const std::map<std::string, Dim>& values) {
  Dim out(0);
  for (const auto& [names, coefficient] : dim.terms()) {
    Dim product(coefficient);
    for (const std::string& name : names) {
      if (const auto value = values.find(name); value != values.end()) {
        product = product * value->second;
      } else if (const auto found = definitions_.find(name); found != definitions_.end()) {
        const Definition definition = found->second;
        std::vector<Dim> arguments;
        for (const Dim& argument : definition.arguments) arguments.push_back(substitute(argument, values));
        product = product * definition.again(*this, arguments);
      } else {
        product = product * Dim::symbol(name);
      }
    }
    out = out + product;
  }
  return out;
}

Formula Scope::substitute(const Formula& formula, const std::map<std::string, Dim>& values) {
  std::vector<Formula> parts;
  switch (formula.kind()) {
    case Formula::Kind::True:
    case Formula::Kind::False:
      return formula;
    case Formula::Kind::Zero:
      return equal(substitute(formula.dim(), values), 0);
    case Formula::Kind::NonNegative:
      return at_most(0, substitute(formula.dim(), values));
    case Formula::Kind::Not:
      return !substitute(formula.parts()[0], values);
    default:
      break;
  }
  for (const Formula& part : formula.parts()) parts.push_back(substitute(part, values));
  return formula.kind() == Formula::Kind::And ? all_of(std::move(parts)) : any_of(std::move(parts));
}

std::map<std::string, Dim> Scope::rebound(std::vector<std::string>& bounds, std::map<std::string, Dim> values) {
  for (std::string& bound : bounds) {
    const Dim fresh = symbol("k");
    values.insert_or_assign(bound, fresh);
    bound = *fresh.symbol_name();
  }
  return values;
}

Factor Scope::substitute(const Factor& factor, const std::map<std::string, Dim>& values) {
  FactorNode out = *factor;
  const auto inner = rebound(out.bounds, values);
  for (Dim& dim : out.index) dim = substitute(dim, inner);
  for (Element& argument : out.arguments) argument = substitute(argument, inner);
  for (Formula& region : out.regions) region = substitute(region, inner);
  return std::make_shared<const FactorNode>(std::move(out));
}

Product Scope::substitute(const Product& product, const std::map<std::string, Dim>& values) {
  Product out{product.coefficient, product.bounds, true, {}};
  const auto inner = rebound(out.bounds, values);
  out.region = substitute(product.region, inner);
  for (const Factor& factor : product.factors) out.factors.push_back(substitute(factor, inner));
  return out;
}

Element Scope::substitute(const Element& element, const std::map<std::string, Dim>& values) {
  std::vector<Product> out;
  for (const Product& product : element.products()) out.push_back(substitute(product, values));
  return Element(std::move(out));
}

}  // namespace isomer
