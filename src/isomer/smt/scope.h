#pragma once
// Symbolic execution over integers that are not known: what is asked about them is answered by the solver, and where
// the answer depends on them, all cases are gone through.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "isomer/smt/element.h"

namespace isomer {

/// Why a proof was given up; thrown within `smt` and caught where a proof begins.
struct GaveUp {
  std::string reason;
};

/// Integers, facts about them, and the elements that are computed under these facts. One per proof; not to be shared by
/// threads.
class Scope {
 public:
  struct Limits {
    size_t cases = 512;           ///< of one exploration
    size_t queries = 5000;        ///< of the solver, by this scope
    size_t all_queries = 9'000;   ///< by all scopes that share the solver
    size_t all_unanswered = 100;  ///< of them
  };

  Scope() : Scope(Limits{}) {}
  explicit Scope(Limits limits) : Scope(limits, std::make_shared<Solver>()) {}
  /// Scopes may share a solver: what one asked, the others need not ask.
  Scope(Limits limits, std::shared_ptr<Solver> solver)
      : limits_(limits), solver_(std::move(solver)), queries_before_(solver_->queries()) {}

  /// A new integer.
  Dim symbol(const std::string& prefix);

  /// Runs `body` under every combination of answers to what it decides. It must do the same again when it is run again.
  void explore(const std::function<void()>& body);

  /// Whether `question` holds. Where it holds for some values only, the exploration that it belongs to is split.
  bool decide(const Formula& question);
  /// From here on it holds; cases where it cannot hold are dropped.
  void assume(const Formula& fact);
  /// Whether the facts (and the further ones) imply it; no split.
  bool implied(const Formula& statement, const std::vector<Formula>& further = {});
  /// Whether some values satisfy all facts. Nothing where that was not found out.
  std::optional<bool> consistent();
  /// Whether Σ weights[i] [conditions[i]] is 0 wherever the facts and the further ones hold.
  bool sums_to_zero(const std::vector<Formula>& further, const std::vector<Formula>& conditions,
                    const std::vector<Rational>& weights);

  /// floor(a / b) for b > 0, and a - b floor(a / b).
  Dim quotient(const Dim& a, const Dim& b);
  Dim remainder(const Dim& a, const Dim& b) { return a - b * quotient(a, b); }
  /// The symbol `name`, which is a function of the arguments: of others it is again(others), and facts(symbol) hold.
  Dim define(const std::string& name, std::vector<Dim> arguments,
             std::function<Dim(Scope&, const std::vector<Dim>&)> again,
             const std::function<std::vector<Formula>(const Dim&)>& facts);
  /// The integer that a list which is not known has at `index`; whenever it is asked for, `facts` of it hold.
  Dim entry(const std::string& list, const Dim& index, const std::function<std::vector<Formula>(const Dim&)>& facts);
  /// Where `value` stands in a list of `length` different integers, or `length` where it does not: at(place(v)) = v.
  /// `at` makes entries of the list.
  Dim place(const std::string& list, const Dim& value, const Dim& length, const std::function<Dim(const Dim&)>& at);

  /// a b
  Element times(const Element& a, const Element& b);
  /// Σ of body(k) over 0 <= k[i] < extents[i].
  Element sum(const std::vector<Dim>& extents, const std::function<Element(const std::vector<Dim>&)>& body);
  /// The extreme ("max", "min") of body(k) over 0 <= k[i] < extents[i], without those that are nothing.
  Element extreme(const std::string& name, const std::vector<Dim>& extents,
                  const std::function<std::optional<Element>(const std::vector<Dim>&)>& body);

  /// All facts that are known here.
  Formula known() const { return all_of(facts({})); }
  /// What a defined symbol is a function of: the dividend and the divisor of a quotient, the index of an entry, the
  /// value of a place. Null for any other symbol.
  const std::vector<Dim>* arguments_of(const std::string& symbol) const;

  /// The symbols of a polynomial and those that its defined symbols depend on.
  std::set<std::string> symbols_in(const Dim& dim) const;

  // Free symbols replaced, also within quotients.
  Dim substitute(const Dim& dim, const std::map<std::string, Dim>& values);
  Formula substitute(const Formula& formula, const std::map<std::string, Dim>& values);
  Element substitute(const Element& element, const std::map<std::string, Dim>& values);
  Product substitute(const Product& product, const std::map<std::string, Dim>& values);
  Factor substitute(const Factor& factor, const std::map<std::string, Dim>& values);

 private:
  /// An exploration that is going on: facts speak of its symbols and those of the frames around it.
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
  /// Explores in a new frame; `body` gets the facts that were decided in the end.
  void explore(const std::set<std::string>& symbols, const std::vector<Formula>& ranges,
               const std::function<void(const std::function<Formula()>& region)>& body);
  /// New integers in the ranges, those of extent 1 being 0; their names and ranges.
  std::vector<Dim> bound_indices(const std::vector<Dim>& extents, std::vector<std::string>& names,
                                 std::vector<Formula>& ranges);
  /// The polynomial with symbols that are known to equal others, or numbers, replaced by them.
  Dim canonical(const Dim& dim);
  std::vector<Formula> facts(const std::vector<Formula>& further) const;
  /// Gives bounds new names, so that nothing is captured; the values and these names.
  std::map<std::string, Dim> rebound(std::vector<std::string>& bounds, std::map<std::string, Dim> values);
  /// Those of the facts that share symbols with the statement, directly or through others.
  std::vector<Formula> facts_about(const Formula& statement, const std::vector<Formula>& further);
  const std::set<std::string>& symbols_of_fact(const Formula& fact);
  /// A symbol that is a function of other integers.
  struct Definition {
    std::vector<Dim> arguments;
    std::function<Dim(Scope&, const std::vector<Dim>&)> again;  ///< of other arguments
    std::vector<Formula> facts;
    /// Of a place: the length of the list, and what makes its entries.
    std::optional<Dim> length = std::nullopt;
    std::function<Dim(const Dim&)> at = nullptr;
  };
  /// What holds of the defined symbols that these formulas speak of, directly or not.
  std::vector<Formula> definitions_in(const std::vector<Formula>& formulas) const;
  /// Replaces a bound v that counts only where its place in a list is below the list's length by the place itself.
  bool bound_by_place(Product& product);
  size_t depth_of(const Formula& formula) const;
  void all_symbols(std::set<std::string>& symbols) const;
  void spend();

  Limits limits_;
  std::shared_ptr<Solver> solver_;
  size_t queries_before_;
  std::vector<Frame> frames_;
  std::map<std::string, Definition> definitions_;
  std::map<std::string, size_t> counters_;
  std::unordered_map<std::string, bool> implied_;                   ///< by the facts and the statement
  std::unordered_map<std::string, std::set<std::string>> symbols_;  ///< of facts, with those that they depend on
};

}  // namespace isomer
