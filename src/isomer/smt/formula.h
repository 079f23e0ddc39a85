#pragma once
// Statements about integers: comparisons of polynomials, joined by `and`, `or` and `not`.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "isomer/base/dim.h"

namespace isomer {

/// A formula; immutable, copies share data. Trivial formulas are simplified to true or false.
class Formula {
 public:
  enum class Kind : uint8_t { True, False, Zero, NonNegative, And, Or, Not };

  Formula(bool value) : kind_(value ? Kind::True : Kind::False) {}  // NOLINT(google-explicit-constructor): a constant

  Kind kind() const { return kind_; }
  bool is_true() const { return kind_ == Kind::True; }
  bool is_false() const { return kind_ == Kind::False; }
  /// Of Zero (dim() == 0) and NonNegative (dim() >= 0).
  const Dim& dim() const { return dim_; }
  const std::vector<Formula>& parts() const { return *parts_; }

  /// The text of the formula. It is printed once; copies share it.
  const std::string& str() const;
  /// Adds the names of all symbols.
  void symbols(std::set<std::string>& out) const;

  friend Formula equal(const Dim& a, const Dim& b);
  friend Formula at_most(const Dim& a, const Dim& b);
  friend Formula operator!(const Formula& a);
  friend Formula all_of(std::vector<Formula> parts);
  friend Formula any_of(std::vector<Formula> parts);

 private:
  Formula(Kind kind, Dim dim) : kind_(kind), dim_(std::move(dim)), text_(std::make_shared<std::string>()) {}
  std::string printed() const;
  Formula(Kind kind, std::vector<Formula> parts);

  Kind kind_;
  Dim dim_;
  std::shared_ptr<const std::vector<Formula>> parts_;
  std::shared_ptr<std::string> text_;  ///< empty until str() is called; null if there is nothing to print
};

/// a == b
Formula equal(const Dim& a, const Dim& b);
/// a <= b
Formula at_most(const Dim& a, const Dim& b);
/// a < b
inline Formula less(const Dim& a, const Dim& b) { return at_most(a + 1, b); }
/// low <= a < high
Formula within(const Dim& low, const Dim& a, const Dim& high);
Formula operator!(const Formula& a);
/// The conjunction; true without parts.
Formula all_of(std::vector<Formula> parts);
/// The disjunction; false without parts.
Formula any_of(std::vector<Formula> parts);
inline Formula operator&&(const Formula& a, const Formula& b) { return all_of({a, b}); }
inline Formula operator||(const Formula& a, const Formula& b) { return any_of({a, b}); }
/// True if the lists have equal lengths and equal elements.
Formula equal(const std::vector<Dim>& a, const std::vector<Dim>& b);

/// Adds the names of a polynomial's symbols.
void symbols_of(const Dim& dim, std::set<std::string>& out);

}  // namespace isomer
