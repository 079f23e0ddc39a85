#include "isomer/smt/equal.h"

#include "isomer/smt/align.h"

namespace isomer {
namespace {

/// Products whose factors are equal wherever they apply, in the indices of the first product.
struct Collection {
  std::vector<Formula> regions;
  std::vector<Rational> weights;
};

class Comparison {
 public:
  explicit Comparison(Scope& scope) : scope_(scope) {}

  bool equal(const Element& a, const Element& b, const std::vector<Formula>& facts) {
    if (a.str() == b.str()) return true;
    const Element difference = a - b;
    return cancels(difference.products(), facts, [&](const Collection& collection) {
      return scope_.sums_to_zero(facts, collection.regions, collection.weights);
    });
  }

 private:
  using Holds = std::function<bool(const Collection&)>;

  /// Whether `holds` is true for every collection of the products.
  bool cancels(std::vector<Product> products, const std::vector<Formula>& facts, const Holds& holds) {
    while (!products.empty()) {
      // Facts may be about outer bounds with the same names.
      const Product first = scope_.substitute(products.front(), {});
      Collection collection{{first.region}, {first.coefficient}};
      std::vector<Product> others;
      for (size_t i = 1; i < products.size(); ++i) {
        if (const auto region = region_in(products[i], first, facts)) {
          collection.regions.push_back(*region);
          collection.weights.push_back(products[i].coefficient);
        } else {
          others.push_back(products[i]);
        }
      }
      if (!holds(collection)) return false;
      products = std::move(others);
    }
    return true;
  }

  /// The region of `from` in the indices of `to`, if the factors of both are equal within it.
  std::optional<Formula> region_in(const Product& from, const Product& to, const std::vector<Formula>& facts) {
    // Renames the bounds of `from`, which may be a copy of `to`.
    const Product source = scope_.substitute(from, {});
    std::optional<Formula> out;
    for_each_alignment(scope_, source, to, [&](const IndexChange& change, const std::vector<size_t>& partner) {
      const Formula region = scope_.substitute(source.region, change);
      std::vector<Formula> within = facts;
      within.push_back(region);
      for (size_t i = 0; i < partner.size(); ++i)
        if (!equal(*scope_.substitute(source.factors[i], change), *to.factors[partner[i]], within)) return false;
      out = region;
      return true;
    });
    return out;
  }

  bool equal(const FactorNode& a, const FactorNode& b, const std::vector<Formula>& facts) {
    if (a.kind == FactorNode::Kind::Extreme) return equal_extremes(a, b, facts);
    if (!scope_.implied(isomer::equal(a.index, b.index), facts)) return false;
    for (size_t i = 0; i < a.arguments.size(); ++i)
      if (!equal(a.arguments[i], b.arguments[i], facts)) return false;
    return true;
  }

  /// Whether both are the same set of values: each collection of equal cases has cases of both sides at the same
  /// indices.
  bool equal_extremes(const FactorNode& a, const FactorNode& b, const std::vector<Formula>& facts) {
    std::vector<Product> cases;
    for (const auto& [node, side] : {std::pair{&a, 1}, std::pair{&b, -1}})
      for (size_t i = 0; i < node->arguments.size(); ++i)
        cases.push_back(
            {side, node->bounds, node->regions[i], {function("", {node->arguments[i]}).products()[0].factors[0]}});
    return cancels(std::move(cases), facts, [&](const Collection& collection) {
      std::vector<Formula> sides[2];
      for (size_t i = 0; i < collection.regions.size(); ++i)
        sides[collection.weights[i] > 0 ? 0 : 1].push_back(collection.regions[i]);
      const Formula left = any_of(sides[0]);
      const Formula right = any_of(sides[1]);
      return scope_.implied((left && right) || (!left && !right), facts);
    });
  }

  Scope& scope_;
};

}  // namespace

bool equal_elements(Scope& scope, const Element& a, const Element& b) { return Comparison(scope).equal(a, b, {}); }

}  // namespace isomer
