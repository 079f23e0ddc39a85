#include "isomer/smt/element.h"

#include <fmt/ranges.h>

namespace isomer {
namespace {

std::string product_str(const Product& product) {
  std::string out;
  if (!product.bounds.empty()) out += fmt::format("sum{{{}}}", fmt::join(product.bounds, ", "));
  if (!product.region.is_true()) out += "[" + product.region.str() + "]";
  if (product.coefficient != 1 || product.factors.empty()) out += (out.empty() ? "" : " ") + product.coefficient.str();
  for (const Factor& factor : product.factors) out += (out.empty() ? "" : " ") + factor_str(*factor);
  return out;
}

/// The only factor of an element that is a number times one factor.
const FactorNode* single_factor(const Element& x, Rational& scale) {
  if (x.products().size() != 1) return nullptr;
  const Product& product = x.products()[0];
  if (!product.bounds.empty() || !product.region.is_true() || product.factors.size() != 1) return nullptr;
  scale = product.coefficient;
  return product.factors[0].get();
}

}  // namespace

Element::Element(Rational number) {
  if (number != 0) products_.push_back({std::move(number), {}, true, {}});
}

Element Element::input(std::string name, std::vector<Dim> index) {
  return Element(std::make_shared<const FactorNode>(
      FactorNode{FactorNode::Kind::Input, std::move(name), std::move(index), {}, {}, {}}));
}

Element Element::integer(const Dim& dim) {
  std::vector<Product> sum;
  for (const auto& [names, coefficient] : dim.terms()) {
    Product product{coefficient, {}, true, {}};
    for (const std::string& name : names)
      product.factors.push_back(input("#", {Dim::symbol(name)}).products_[0].factors[0]);
    sum.push_back(std::move(product));
  }
  return Element(std::move(sum));
}

std::optional<Rational> Element::number() const {
  if (products_.empty()) return Rational(0);
  const Product& product = products_[0];
  if (products_.size() > 1 || !product.bounds.empty() || !product.region.is_true() || !product.factors.empty())
    return std::nullopt;
  return product.coefficient;
}

std::string Element::str() const {
  if (products_.empty()) return "0";
  std::string out;
  for (const Product& product : products_) out += (out.empty() ? "" : " + ") + product_str(product);
  return out;
}

Element operator+(const Element& a, const Element& b) {
  Element sum = a;
  sum.products_.insert(sum.products_.end(), b.products_.begin(), b.products_.end());
  const auto is_number = [](const Product& product) {
    return product.factors.empty() && product.bounds.empty() && product.region.is_true();
  };
  // Adds all numbers up into one.
  Rational number = 0;
  for (const Product& product : sum.products_)
    if (is_number(product)) number += product.coefficient;
  std::erase_if(sum.products_, is_number);
  if (number != 0) sum.products_.push_back({number, {}, true, {}});
  return sum;
}

Element operator*(const Rational& scale, const Element& a) {
  if (scale == 0) return {};
  Element out = a;
  for (Product& product : out.products_) product.coefficient *= scale;
  return out;
}

Element function(std::string name, std::vector<Element> arguments) {
  return Element(std::make_shared<const FactorNode>(
      FactorNode{FactorNode::Kind::Function, std::move(name), {}, std::move(arguments), {}, {}}));
}

namespace {

/// Moves nonnegative factors, relu(y) and squares, to `natural`.
void take_natural_factors(std::vector<Factor>& factors, std::vector<Factor>& natural) {
  std::vector<Factor> rest;
  for (Factor& factor : factors) {
    const auto same = [&](const Factor& other) { return factor_str(*other) == factor_str(*factor); };
    if (factor->kind == FactorNode::Kind::Function && factor->name == "relu") {
      natural.push_back(std::move(factor));
    } else if (const auto twin = std::ranges::find_if(rest, same); twin != rest.end()) {
      natural.push_back(std::move(*twin));
      rest.erase(twin);
      natural.push_back(std::move(factor));
    } else {
      rest.push_back(std::move(factor));
    }
  }
  factors = std::move(rest);
}

/// relu(x) of a product x = p q, where p consists of nonnegative factors: p relu(q).
std::optional<Element> without_natural_factors(const Element& x) {
  if (x.products().size() != 1 || !x.products()[0].bounds.empty() || !x.products()[0].region.is_true())
    return std::nullopt;
  Product rest = x.products()[0];
  std::vector<Factor> natural;
  if (rest.factors.size() < 2) return std::nullopt;
  take_natural_factors(rest.factors, natural);
  if (natural.empty()) return std::nullopt;
  const Element inner = relu(Element(std::vector<Product>{rest}));
  std::vector<Product> out;
  for (Product product : inner.products()) {
    product.factors.insert(product.factors.end(), natural.begin(), natural.end());
    out.push_back(std::move(product));
  }
  return Element(std::move(out));
}

}  // namespace

Element relu(const Element& x) {
  if (const auto number = x.number()) return *number > 0 ? *number : Rational(0);
  if (const auto out = without_natural_factors(x)) return *out;
  Rational scale;
  const FactorNode* factor = single_factor(x, scale);
  if (factor == nullptr) return function("relu", {x});
  if (scale < 0) {
    const Element positive(x.products()[0].factors[0]);
    return Rational(-scale) * (relu(positive) - positive);
  }
  if (factor->kind == FactorNode::Kind::Function && factor->name == "relu") return x;
  if (factor->kind == FactorNode::Kind::Extreme && factor->name == "max") {
    FactorNode inner = *factor;
    for (Element& argument : inner.arguments) argument = relu(argument);
    return scale * Element(std::make_shared<const FactorNode>(std::move(inner)));
  }
  return scale * function("relu", {Element(x.products()[0].factors[0])});
}

Element inverse(const Element& x) {
  if (const auto number = x.number(); number && *number != 0) return Rational(1) / *number;
  if (x.products().size() != 1 || !x.products()[0].bounds.empty() || !x.products()[0].region.is_true() ||
      x.products()[0].factors.size() < 2)
    return function("inverse", {x});
  const Product& product = x.products()[0];
  Product out{Rational(1) / product.coefficient, {}, true, {}};
  for (const Factor& factor : product.factors) out.factors.push_back(inverse(Element(factor)).products()[0].factors[0]);
  return Element(std::vector<Product>{out});
}

std::string factor_str(const FactorNode& factor) {
  std::vector<std::string> parts;
  for (const Dim& dim : factor.index) parts.push_back(dim.str());
  for (size_t i = 0; i < factor.arguments.size(); ++i) {
    const bool bounded = i < factor.regions.size() && !factor.regions[i].is_true();
    parts.push_back((bounded ? "[" + factor.regions[i].str() + "] " : "") + factor.arguments[i].str());
  }
  const std::string list = fmt::format("{}", fmt::join(parts, ", "));
  switch (factor.kind) {
    case FactorNode::Kind::Input:
      return factor.name + (parts.empty() ? "" : "[" + list + "]");
    case FactorNode::Kind::Function:
      return factor.name + "(" + list + ")";
    case FactorNode::Kind::Extreme:
      return fmt::format("{}{{{}}}({})", factor.name, fmt::join(factor.bounds, ", "), list);
  }
  return {};
}

}  // namespace isomer
