#pragma once
// Symbolic execution over unknown integers. The solver answers questions about them. If the answer depends on their
// values, all cases are explored.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "isomer/smt/element.h"

namespace isomer {

/// The reason why a proof was given up; thrown within `smt` and caught where the proof begins.
struct GaveUp {
  std::string reason;
};

/// Integers, facts about them, and the elements that are computed under these facts. Each proof has its own scope. Not
/// safe for concurrent use.
class Scope {
 public:
  struct Limits {
    size_t cases = 512;           ///< of one exploration
    size_t queries = 5000;        ///< of the solver, by this scope
    size_t unanswered = 100;      ///< of those, the ones without an answer
    size_t all_queries = 9'000;   ///< of all scopes that share the solver
    size_t all_unanswered = 100;  ///< of those queries, the ones without an answer
  };

  Scope() : Scope(Limits{}) {}
  explicit Scope(Limits limits) : Scope(limits, std::make_shared<Solver>()) {}
  /// Scopes may share a solver, and then also its cached answers.
  Scope(Limits limits, std::shared_ptr<Solver> solver)
      : limits_(limits),
        solver_(std::move(solver)),
        queries_before_(solver_->queries()),
        unanswered_before_(solver_->unanswered()) {}

  /// A new integer.
  Dim symbol(const std::string& prefix);

  /// Runs `body` once for each combination of answers to its decisions. `body` must be deterministic.
  void explore(const std::function<void()>& body);

  /// Whether `question` holds. If it holds only for some values, the current exploration is split into cases.
  bool decide(const Formula& question);
  /// Assumes a fact from here on. Cases where it cannot hold are dropped.
  void assume(const Formula& fact);
  /// Assumes how extents agree in a well-typed node.
  void agree(const Formula& fact);
  /// Whether such facts must be implied from here on.
  void demand(bool on) { demanding_ = on; }
  /// The first fact that had to be implied and was not, in any case.
  const std::optional<Formula>& unmet() const { return unmet_; }
  /// Whether the facts and `further` imply the statement. Does not split.
  bool implied(const Formula& statement, const std::vector<Formula>& further = {});
  /// Whether some values satisfy all facts; nullopt if the solver did not find out.
  std::optional<bool> consistent();
  /// Whether Σ weights[i] [conditions[i]] is 0 wherever the facts and `further` hold.
  bool sums_to_zero(const std::vector<Formula>& further, const std::vector<Formula>& conditions,
                    const std::vector<Rational>& weights);

  /// The polynomial, with symbols replaced by the symbols, products or numbers that they are known to equal.
  Dim canonical(const Dim& dim);
  /// a / b for a >= 0 and b > 0, where b divides a. If the quotient is not a polynomial, it is a new symbol q, and a is
  /// known as q b from here on.
  Dim exactly_divided(const Dim& a, const Dim& b);
  /// floor(a / b) for b > 0, and a - b floor(a / b).
  Dim quotient(const Dim& a, const Dim& b);
  Dim remainder(const Dim& a, const Dim& b) { return a - b * quotient(a, b); }
  /// The symbol `name` as a function of the arguments. For other arguments it is again(others). facts(symbol) hold.
  Dim define(const std::string& name, std::vector<Dim> arguments,
             std::function<Dim(Scope&, const std::vector<Dim>&)> again,
             const std::function<std::vector<Formula>(const Dim&)>& facts);
  /// The integer at `index` of an unknown list. `facts` hold for it at every call.
  Dim entry(const std::string& list, const Dim& index, const std::function<std::vector<Formula>(const Dim&)>& facts);
  /// The position of `value` in a list of `length` distinct integers, or `length` if it is not in the list:
  /// at(place(v)) = v. `at` makes entries of the list.
  Dim place(const std::string& list, const Dim& value, const Dim& length, const std::function<Dim(const Dim&)>& at);

  /// The product a b.
  Element times(const Element& a, const Element& b);
  /// Σ of body(k) over 0 <= k[i] < extents[i].
  Element sum(const std::vector<Dim>& extents, const std::function<Element(const std::vector<Dim>&)>& body);
  /// The maximum or minimum ("max", "min") of body(k) over 0 <= k[i] < extents[i], ignoring those k for which it is
  /// nullopt.
  Element extreme(const std::string& name, const std::vector<Dim>& extents,
                  const std::function<std::optional<Element>(const std::vector<Dim>&)>& body);

  /// The conjunction of all facts that are known here.
  Formula known() const { return all_of(facts({})); }
  /// The arguments of a defined symbol: the dividend and the divisor of a quotient, the index of an entry, the value of
  /// a place. nullptr for any other symbol.
  const std::vector<Dim>* arguments_of(const std::string& symbol) const;

  /// The symbols of a polynomial, and those that its defined symbols depend on.
  std::set<std::string> symbols_in(const Dim& dim) const;

  // Replace free symbols, also within quotients.
  Dim substitute(const Dim& dim, const std::map<std::string, Dim>& values);
  Formula substitute(const Formula& formula, const std::map<std::string, Dim>& values);
  Element substitute(const Element& element, const std::map<std::string, Dim>& values);
  Product substitute(const Product& product, const std::map<std::string, Dim>& values);
  Factor substitute(const Factor& factor, const std::map<std::string, Dim>& values);

 private:
  /// An exploration in progress. Its facts are about its own symbols and those of the enclosing frames.
  struct Frame {
    std::set<std::string> symbols;
    std::vector<Formula> facts;
  };
  struct Split {
    size_t depth;
    Formula question;
  };
  struct Impossible {
    size_t depth;
  };
  /// Explores in a new frame. `body` receives a function that returns the facts decided so far.
  void explore(const std::set<std::string>& symbols, const std::vector<Formula>& ranges,
               const std::function<void(const std::function<Formula()>& region)>& body);
  /// Makes new integers in the ranges, where those of extent 1 are 0. Returns them and appends their names and ranges.
  std::vector<Dim> bound_indices(const std::vector<Dim>& extents, std::vector<std::string>& names,
                                 std::vector<Formula>& ranges);
  /// Values of the polynomial's symbols that single facts imply.
  std::map<std::string, Dim> known_values(const Dim& dim) const;
  std::vector<Formula> facts(const std::vector<Formula>& further) const;
  /// Renames bounds to avoid capture. Returns the values extended by the new names.
  std::map<std::string, Dim> rebound(std::vector<std::string>& bounds, std::map<std::string, Dim> values);
  /// For a polynomial with a positive common factor that is 0: that the other factor is 0. Only outside of sums.
  std::optional<Formula> without_common_factor(const Formula& fact);
  /// The facts that share symbols with the statement, directly or through other facts.
  std::vector<Formula> facts_about(const Formula& statement, const std::vector<Formula>& further);
  const std::set<std::string>& symbols_of_fact(const Formula& fact);
  /// A symbol that is a function of other integers.
  struct Definition {
    std::vector<Dim> arguments;
    std::function<Dim(Scope&, const std::vector<Dim>&)> again;  ///< makes the symbol for other arguments
    std::vector<Formula> facts;
    /// For a place: the length of the list, and the function that makes its entries.
    std::optional<Dim> length = std::nullopt;
    std::function<Dim(const Dim&)> at = nullptr;
  };
  /// What is known, with facts about the defined symbols that occur in it or in the other formulas, directly or
  /// indirectly. The other formulas need not hold.
  std::vector<Formula> with_definitions(const std::vector<Formula>& known,
                                        const std::vector<Formula>& others = {}) const;
  /// Replaces a bound v by its place in a list, if the product is nonzero only where that place is below the list's
  /// length.
  bool bound_by_place(Product& product);
  /// Replaces a bound k on which no factor depends, and of which the region only says 0 <= k < n, by the factor n. For
  /// a number or a symbol n.
  bool counted_bound(Product& product);
  /// Multiplies by a number or by a symbol n, which cancels a factor 1 / n if n > 0 where the product is not 0.
  void multiply(Product& product, const Dim& extent);
  /// Whether a symbol occurs, or one that is defined by it.
  bool depends(const Formula& formula, const std::string& symbol);
  bool depends(const FactorNode& factor, const std::string& symbol);
  /// Whether the facts, `further` and the condition imply each part of the statement.
  bool implies(const Formula& condition, const Formula& statement, std::vector<Formula> further);
  size_t depth_of(const Formula& formula) const;
  void all_symbols(std::set<std::string>& symbols) const;
  void spend();

  /// Counts calls that are in progress.
  class Nesting {
   public:
    explicit Nesting(size_t& depth) : depth_(depth) { ++depth_; }
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;

   private:
    size_t& depth_;
  };

  Limits limits_;
  size_t nested_ = 0;  ///< calls of canonical
  bool demanding_ = false;
  std::optional<Formula> unmet_;
  std::shared_ptr<Solver> solver_;
  size_t queries_before_;
  size_t unanswered_before_;
  std::vector<Frame> frames_;
  std::map<std::string, Definition> definitions_;
  std::map<std::string, size_t> counters_;
  std::unordered_map<std::string, bool> implied_;                   ///< by facts and statement
  std::unordered_map<std::string, std::set<std::string>> symbols_;  ///< of facts, with those that they depend on
};

/// The polynomial q with a = q b; nullopt if there is none, or it was not found.
std::optional<Dim> exact_quotient(const Dim& a, const Dim& b);

}  // namespace isomer
