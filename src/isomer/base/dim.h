#pragma once
// A tensor dimension: an integer, or a polynomial over the model's symbolic dimensions.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace isomer {

/// A value of a shape expression. Symbols stand for any integer >= 0. An expression that is not a polynomial (a floor
/// division with a remainder) becomes a symbol whose name is the printed expression, so that equal expressions stay
/// equal. Equality is structural on a normal form: `a == b` means equal for every value of the symbols; `!(a == b)`
/// only means that equality is not known. Arithmetic saturates at kHuge.
class Dim {
 public:
  static constexpr int64_t kHuge = int64_t{1} << 60;

  Dim(int64_t value = 0) : value_(value) {}  // NOLINT(google-explicit-constructor): an integer is a dimension

  /// The symbol called `name` (not empty).
  static Dim symbol(const std::string& name);

  bool is_const() const { return poly_ == nullptr; }
  /// The integer; requires is_const().
  int64_t value() const { return value_; }
  /// True when this is known to be exactly `v`.
  bool is(int64_t v) const { return is_const() && value_ == v; }
  /// The name of the symbol if this is a single symbol.
  std::optional<std::string> symbol_name() const;

  /// The text of the expression: "3", "N", "2*N+1". ir/text parses it.
  std::string str() const;
  uint64_t hash() const;

  /// The integer for given values of the symbols; nullopt if one is missing.
  std::optional<int64_t> evaluate(const std::function<std::optional<int64_t>(const std::string&)>& value_of) const;

  /// The polynomial as a sum: integer coefficients of products of symbols (an empty product for the constant), in a
  /// fixed order.
  std::vector<std::pair<std::vector<std::string>, int64_t>> terms() const { return poly(); }

  friend bool operator==(const Dim& a, const Dim& b);
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);

 private:
  /// Sorted symbol names, repeated for powers; empty for the constant term.
  using Monomial = std::vector<std::string>;
  /// Sorted by monomial, no zero coefficients.
  using Poly = std::vector<std::pair<Monomial, int64_t>>;

  static Dim from_poly(Poly poly);
  Poly poly() const;
  friend Dim floor_div(const Dim& a, const Dim& b);
  friend std::optional<bool> at_least(const Dim& a, const Dim& b);

  int64_t value_ = 0;
  std::shared_ptr<const Poly> poly_;  // null for an integer
};

/// floor(a / b). If b is the integer 0, the result is a fresh symbol that equals nothing else.
Dim floor_div(const Dim& a, const Dim& b);
/// ceil(a / b).
Dim ceil_div(const Dim& a, const Dim& b);
/// True if a >= b for every value of the symbols, false if for none, nullopt if this is not known.
std::optional<bool> at_least(const Dim& a, const Dim& b);

/// The extents of a tensor, outermost first.
using Shape = std::vector<Dim>;

/// The text of a shape: "[1,3,N]".
std::string shape_str(const Shape& shape);
/// Product of all extents (1 for rank 0).
Dim element_count(const Shape& shape);
/// The extents as integers, if all of them are constant.
std::optional<std::vector<int64_t>> concrete(const Shape& shape);

}  // namespace isomer
