#include "isomer/smt/scope.h"

#include <algorithm>

namespace isomer {
namespace {

constexpr size_t kOuter = 0;

std::string key_of(const std::vector<Formula>& facts, const Formula& statement) {
  std::string out;
  for (const Formula& fact : facts) out += fact.str() + "; ";
  return out + "=> " + statement.str();
}

/// Whether a fact is at least as strong as a statement that differs only in its constant: x >= 3 implies x >= 0.
bool follows(const Formula& fact, const Formula& statement) {
  if (fact.kind() != Formula::Kind::NonNegative || statement.kind() != Formula::Kind::NonNegative) return false;
  const Dim spare = statement.dim() - fact.dim();
  return spare.is_const() && spare.value() >= 0;
}

/// The constant term of a polynomial, which is its value if all symbols are 0.
int64_t at_zero(const Dim& dim) {
  for (const auto& [names, coefficient] : dim.terms())
    if (names.empty()) return coefficient;
  return 0;
}

/// Whether the solver is not needed, because the facts only say that symbols are nonnegative and the statement is false
/// if all symbols are 0 (or, for an equality of different polynomials, at some other values).
bool fails_at_zero(const std::vector<Formula>& facts, const Formula& statement) {
  for (const Formula& fact : facts)
    if (fact.kind() != Formula::Kind::NonNegative || !fact.dim().symbol_name()) return false;
  std::set<std::string> symbols;
  statement.symbols(symbols);
  // Defined symbols have facts of their own.
  for (const std::string& name : symbols)
    if (name.find_first_of("([ ") != std::string::npos) return false;
  if (statement.kind() == Formula::Kind::Zero) return true;
  if (statement.kind() == Formula::Kind::NonNegative) return at_zero(statement.dim()) < 0;
  if (statement.kind() == Formula::Kind::Not && statement.parts()[0].kind() == Formula::Kind::Zero)
    return at_zero(statement.parts()[0].dim()) == 0;
  return false;
}

/// If a fact is a < c b or a >= c b, the bound for floor(a / b) that it implies: nonlinear arithmetic is not good at
/// it.
std::optional<Formula> bound_of_quotient(const Dim& quotient, const std::vector<Dim>& of, const Formula& fact) {
  if (fact.kind() != Formula::Kind::NonNegative || of[1].is_const()) return std::nullopt;
  if (const auto above = exact_quotient(fact.dim() + of[0] + 1, of[1]))
    return at_most(of[1], 0) || less(quotient, *above);
  if (const auto below = exact_quotient(of[0] - fact.dim(), of[1]))
    return at_most(of[1], 0) || at_most(*below, quotient);
  return std::nullopt;
}

size_t degree(const Dim& dim) {
  size_t out = 0;
  for (const auto& [names, coefficient] : dim.terms()) out = std::max(out, names.size());
  return out;
}

/// The factors, if the formula says that a product of symbols is 1.
std::optional<std::vector<std::string>> factors_of_one(const Formula& fact) {
  if (fact.kind() != Formula::Kind::Zero) return std::nullopt;
  const auto terms = fact.dim().terms();
  if (terms.size() != 2 || !terms[0].first.empty() || terms[1].first.size() < 2) return std::nullopt;
  if (terms[0].second + terms[1].second != 0 || std::abs(terms[0].second) != 1) return std::nullopt;
  return terms[1].first;
}

}  // namespace

Dim Scope::symbol(const std::string& prefix) { return Dim::symbol(prefix + std::to_string(counters_[prefix]++)); }

void Scope::spend() {
  if (solver_->queries() - queries_before_ >= limits_.queries || solver_->queries() >= limits_.all_queries)
    throw GaveUp{"too many queries of the solver"};
  if (solver_->unanswered() - unanswered_before_ >= limits_.unanswered ||
      solver_->unanswered() >= limits_.all_unanswered)
    throw GaveUp{"too many queries without an answer"};
}

// Explorations --------------------------------------------------------------------------------------------------------

void Scope::explore(const std::function<void()>& body) {
  explore({}, {}, [&](const std::function<Formula()>&) { body(); });
}

void Scope::explore(const std::set<std::string>& symbols, const std::vector<Formula>& ranges,
                    const std::function<void(const std::function<Formula()>& region)>& body) {
  const size_t depth = frames_.size();
  std::vector<std::vector<Formula>> open{ranges};
  size_t cases = 0;
  while (!open.empty()) {
    if (++cases > limits_.cases) throw GaveUp{"too many cases"};
    frames_.push_back({symbols, std::move(open.back())});
    open.pop_back();
    try {
      body([&, depth] { return all_of(frames_[depth].facts); });
      frames_.resize(depth);
    } catch (const Split& split) {
      std::vector<Formula> before = ranges;
      if (split.depth == depth) before = frames_[depth].facts;
      frames_.resize(depth);
      if (split.depth != depth) throw;
      open.push_back(before);
      open.back().push_back(!split.question);
      open.push_back(std::move(before));
      open.back().push_back(split.question);
    } catch (const Impossible& impossible) {
      frames_.resize(depth);
      if (impossible.depth != depth) throw;
    } catch (...) {
      frames_.resize(depth);
      throw;
    }
  }
}

void Scope::all_symbols(std::set<std::string>& symbols) const {
  std::vector<std::string> open(symbols.begin(), symbols.end());
  while (!open.empty()) {
    const auto found = definitions_.find(open.back());
    open.pop_back();
    if (found == definitions_.end()) continue;
    std::set<std::string> inner;
    for (const Dim& argument : found->second.arguments) symbols_of(argument, inner);
    for (const Formula& fact : found->second.facts) fact.symbols(inner);
    for (const std::string& name : inner)
      if (symbols.insert(name).second) open.push_back(name);
  }
}

const std::vector<Dim>* Scope::arguments_of(const std::string& symbol) const {
  const auto found = definitions_.find(symbol);
  return found == definitions_.end() ? nullptr : &found->second.arguments;
}

std::set<std::string> Scope::symbols_in(const Dim& dim) const {
  std::set<std::string> out;
  symbols_of(dim, out);
  all_symbols(out);
  return out;
}

size_t Scope::depth_of(const Formula& formula) const {
  std::set<std::string> symbols;
  formula.symbols(symbols);
  all_symbols(symbols);
  for (size_t depth = frames_.size(); depth-- > 0;)
    for (const std::string& name : frames_[depth].symbols)
      if (symbols.contains(name)) return depth;
  return kOuter;
}

bool Scope::decide(const Formula& question) {
  if (question.is_true() || question.is_false()) return question.is_true();
  if (implied(question)) return true;
  if (implied(!question)) return false;
  throw Split{depth_of(question), question};
}

std::optional<Formula> Scope::without_common_factor(const Formula& fact) {
  // Within a sum, the factor may be positive only there, but the other factor may be about outer symbols only.
  if (frames_.size() != 1 || fact.kind() != Formula::Kind::Zero) return std::nullopt;
  const Dim dim = canonical(fact.dim());
  const auto terms = dim.terms();
  if (terms.size() < 2 || std::ranges::none_of(terms, [](const auto& term) { return term.first.size() > 1; }))
    return std::nullopt;
  const std::set<std::string> factors(terms[0].first.begin(), terms[0].first.end());
  for (const std::string& factor : factors) {
    const Dim symbol = Dim::symbol(factor);
    const auto quotient = exact_quotient(dim, symbol);
    // Values of symbols may bring the factor back. Only lower degrees come to an end.
    if (quotient && degree(*quotient) < degree(fact.dim()) && implied(at_most(1, symbol))) return equal(*quotient, 0);
  }
  return std::nullopt;
}

void Scope::assume(const Formula& fact) {
  if (fact.is_true()) return;
  if (fact.kind() == Formula::Kind::And) {
    for (const Formula& part : fact.parts()) assume(part);
    return;
  }
  // If a product of nonnegative integers is 1, each of them is 1.
  if (const auto factors = factors_of_one(fact)) {
    bool natural = true;
    for (const std::string& factor : *factors) natural = natural && implied(at_most(0, Dim::symbol(factor)));
    if (natural) {
      for (const std::string& factor : *factors) assume(equal(Dim::symbol(factor), 1));
      return;
    }
  }
  if (const auto shorter = without_common_factor(fact)) return assume(*shorter);
  const size_t depth = depth_of(fact);
  if (fact.is_false()) throw Impossible{depth};
  if (implied(fact)) return;
  if (implied(!fact)) throw Impossible{depth};
  frames_[depth].facts.push_back(fact);
}

void Scope::agree(const Formula& fact) {
  if (demanding_ && !unmet_ && !implied(fact)) unmet_ = fact;
  assume(fact);
}

// Questions -----------------------------------------------------------------------------------------------------------

std::vector<Formula> Scope::facts(const std::vector<Formula>& further) const {
  std::vector<Formula> out;
  for (const Frame& frame : frames_) out.insert(out.end(), frame.facts.begin(), frame.facts.end());
  out.insert(out.end(), further.begin(), further.end());
  return out;
}

std::vector<Formula> Scope::with_definitions(const std::vector<Formula>& known,
                                             const std::vector<Formula>& others) const {
  std::set<std::string> symbols;
  for (const Formula& formula : known) formula.symbols(symbols);
  for (const Formula& formula : others) formula.symbols(symbols);
  all_symbols(symbols);
  std::vector<Formula> out = known;
  for (const std::string& name : symbols) {
    const auto found = definitions_.find(name);
    if (found == definitions_.end()) continue;
    out.insert(out.end(), found->second.facts.begin(), found->second.facts.end());
    if (!name.starts_with("floor(")) continue;
    for (const Formula& fact : known)
      if (auto bound = bound_of_quotient(Dim::symbol(name), found->second.arguments, fact))
        out.push_back(*std::move(bound));
  }
  return out;
}

const std::set<std::string>& Scope::symbols_of_fact(const Formula& fact) {
  const auto [found, fresh] = symbols_.try_emplace(fact.str());
  if (fresh) {
    fact.symbols(found->second);
    all_symbols(found->second);
  }
  return found->second;
}

std::vector<Formula> Scope::facts_about(const Formula& statement, const std::vector<Formula>& further) {
  std::set<std::string> about = symbols_of_fact(statement);
  std::vector<Formula> rest = facts(further);
  std::vector<Formula> out;
  for (bool more = true; more;) {
    more = false;
    for (Formula& fact : rest) {
      if (fact.is_true()) continue;
      const auto& symbols = symbols_of_fact(fact);
      if (std::ranges::none_of(symbols, [&](const std::string& name) { return about.contains(name); })) continue;
      about.insert(symbols.begin(), symbols.end());
      out.push_back(std::move(fact));
      fact = true;
      more = true;
    }
  }
  return out;
}

bool Scope::implied(const Formula& statement, const std::vector<Formula>& further) {
  if (statement.is_true() || statement.is_false()) return statement.is_true();
  std::vector<Formula> known = facts_about(statement, further);
  for (const Formula& fact : known)
    if (fact.str() == statement.str() || follows(fact, statement)) return true;
  if (fails_at_zero(known, statement)) return false;
  const auto [cached, fresh] = implied_.try_emplace(key_of(known, statement), false);
  if (!fresh) return cached->second;
  spend();
  known.push_back(!statement);
  const bool holds = solver_->satisfiable(with_definitions(known)) == false;
  cached->second = holds;
  return holds;
}

std::optional<bool> Scope::consistent() {
  spend();
  return solver_->satisfiable(with_definitions(facts({})));
}

bool Scope::sums_to_zero(const std::vector<Formula>& further, const std::vector<Formula>& conditions,
                         const std::vector<Rational>& weights) {
  spend();
  const std::vector<Formula> known = with_definitions(facts(further), conditions);
  if (solver_->sums_to_zero(known, conditions, weights)) return true;
  // Two conditions that cancel imply each other; questions about single inequalities are easier.
  if (conditions.size() != 2 || weights[0] + weights[1] != 0) return false;
  return implies(conditions[0], conditions[1], further) && implies(conditions[1], conditions[0], further);
}

bool Scope::implies(const Formula& condition, const Formula& statement, std::vector<Formula> further) {
  further.push_back(condition);
  if (statement.kind() != Formula::Kind::And) return implied(statement, further);
  return std::ranges::all_of(statement.parts(), [&](const Formula& part) { return implied(part, further); });
}

// Elements ------------------------------------------------------------------------------------------------------------

Element Scope::times(const Element& a, const Element& b) {
  std::vector<Product> out;
  for (const Product& x : a.products()) {
    for (const Product& y : b.products()) {
      const bool clash = std::ranges::any_of(
          y.bounds, [&](const std::string& bound) { return std::ranges::find(x.bounds, bound) != x.bounds.end(); });
      const Product other = clash ? substitute(y, {}) : y;
      std::vector<std::string> bounds = x.bounds;
      bounds.insert(bounds.end(), other.bounds.begin(), other.bounds.end());
      Product product{x.coefficient * y.coefficient, std::move(bounds), x.region && other.region, x.factors};
      product.factors.insert(product.factors.end(), other.factors.begin(), other.factors.end());
      out.push_back(std::move(product));
    }
  }
  return Element(std::move(out));
}

std::vector<Dim> Scope::bound_indices(const std::vector<Dim>& extents, std::vector<std::string>& names,
                                      std::vector<Formula>& ranges) {
  std::vector<Dim> out;
  for (const Dim& extent : extents) {
    if (canonical(extent).is(1)) {
      out.emplace_back(0);
      continue;
    }
    out.push_back(symbol("k"));
    names.push_back(*out.back().symbol_name());
    ranges.push_back(at_most(0, out.back()));
    ranges.push_back(less(out.back(), extent));
  }
  return out;
}

namespace {

/// The value that dim == 0 implies for one of the bounds.
std::optional<std::pair<std::string, Dim>> solved(const Dim& dim, const std::vector<std::string>& bounds) {
  for (const auto& [names, coefficient] : dim.terms()) {
    if (names.size() != 1 || (coefficient != 1 && coefficient != -1)) continue;
    if (std::ranges::find(bounds, names[0]) == bounds.end()) continue;
    const Dim rest = dim - Dim(coefficient) * Dim::symbol(names[0]);
    std::set<std::string> symbols;
    symbols_of(rest, symbols);
    if (!symbols.contains(names[0])) return std::make_pair(names[0], Dim(-coefficient) * rest);
  }
  return std::nullopt;
}

/// The value that the region implies for one of the bounds, by an equality or by d >= 0 and -d >= 0. The bound can then
/// be eliminated.
std::optional<std::pair<std::string, Dim>> fixed_bound(const Product& product) {
  const std::vector<Formula> alone{product.region};
  const auto& facts = product.region.kind() == Formula::Kind::And ? product.region.parts() : alone;
  for (const Formula& fact : facts) {
    const bool range = fact.kind() == Formula::Kind::NonNegative;
    if (!range && fact.kind() != Formula::Kind::Zero) continue;
    auto found = solved(fact.dim(), product.bounds);
    if (!found) continue;
    const Dim opposite = Dim(-1) * fact.dim();
    const auto closes = [&](const Formula& other) {
      return other.kind() == Formula::Kind::NonNegative && other.dim() == opposite;
    };
    if (!range || std::ranges::any_of(facts, closes)) return found;
  }
  return std::nullopt;
}

}  // namespace

Element Scope::sum(const std::vector<Dim>& extents, const std::function<Element(const std::vector<Dim>&)>& body) {
  std::vector<std::string> names;
  std::vector<Formula> ranges;
  const std::vector<Dim> index = bound_indices(extents, names, ranges);
  if (names.empty()) return body(index);
  std::vector<Product> out;
  explore({names.begin(), names.end()}, ranges, [&](const std::function<Formula()>& region) {
    const Element element = body(index);
    for (Product product : element.products()) {
      product.bounds.insert(product.bounds.end(), names.begin(), names.end());
      product.region = region() && product.region;
      while (const auto fixed = fixed_bound(product)) {
        std::erase(product.bounds, fixed->first);
        product = substitute(product, {{fixed->first, fixed->second}});
      }
      while (bound_by_place(product)) {
      }
      if (!product.region.is_false()) out.push_back(std::move(product));
    }
  });
  // Not before, where the range of the indices was a fact.
  for (Product& product : out) {
    while (counted_bound(product)) {
    }
  }
  std::erase_if(out, [](const Product& product) { return product.coefficient == 0; });
  return Element(std::move(out));
}

bool Scope::bound_by_place(Product& product) {
  std::set<std::string> symbols;
  product.region.symbols(symbols);
  for (const std::string& name : symbols) {
    const auto found = definitions_.find(name);
    if (found == definitions_.end() || !found->second.length) continue;
    const Definition place = found->second;
    const auto value = place.arguments[0].symbol_name();
    if (!value || std::ranges::find(product.bounds, *value) == product.bounds.end()) continue;
    if (!implied(less(Dim::symbol(name), *place.length), {product.region})) continue;
    // There is exactly one k below the length with v = at(k).
    const Dim k = symbol("k");
    std::erase(product.bounds, *value);
    product = substitute(product, {{*value, place.at(k)}});
    product.bounds.push_back(*k.symbol_name());
    product.region = product.region && within(0, k, *place.length);
    return true;
  }
  return false;
}

Element Scope::extreme(const std::string& name, const std::vector<Dim>& extents,
                       const std::function<std::optional<Element>(const std::vector<Dim>&)>& body) {
  FactorNode node{FactorNode::Kind::Extreme, name, {}, {}, {}, {}};
  std::vector<Formula> ranges;
  const std::vector<Dim> index = bound_indices(extents, node.bounds, ranges);
  explore({node.bounds.begin(), node.bounds.end()}, ranges, [&](const std::function<Formula()>& region) {
    auto element = body(index);
    if (!element) return;
    node.arguments.push_back(*std::move(element));
    node.regions.push_back(region());
  });
  if (node.bounds.empty() && node.arguments.size() == 1) return node.arguments[0];
  return Element(std::make_shared<const FactorNode>(std::move(node)));
}

}  // namespace isomer
