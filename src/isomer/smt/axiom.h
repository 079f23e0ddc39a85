#pragma once
// The meaning of an operator as mathematics: extents and elements of its results in terms of its operands and
// attributes, none of which need be known.

#include <functional>
#include <map>
#include <optional>
#include <variant>

#include "isomer/smt/scope.h"

namespace isomer {

/// A tensor whose extents are polynomials and whose elements are mathematics.
struct SymbolicTensor {
  std::vector<Dim> shape;
  /// The element at an index, one entry an axis, each within its extent.
  std::function<Element(const std::vector<Dim>&)> at;
  /// The elements are real numbers. Else they are of any type, integers that wrap around among them: sums and products
  /// are those of a commutative ring, and nothing is divided.
  bool real = true;
  /// Of a tensor of positions: the same elements as integers. Null: they are not known as such.
  std::function<Dim(const std::vector<Dim>&)> integer = nullptr;

  size_t rank() const { return shape.size(); }
};

using SymbolicAttr = std::variant<Dim, std::vector<Dim>, Element, std::string>;

/// What the axiom of an operator is given, and where it puts the results. An axiom decides what depends on extents and
/// attributes through `scope`, assumes there what a well-typed node guarantees, and throws GaveUp at what it does not
/// cover.
struct Axiom {
  Scope& scope;
  std::string op;
  std::map<std::string, SymbolicAttr> attrs;
  std::vector<std::optional<SymbolicTensor>> operands;  // nothing for an absent one
  size_t num_results = 1;
  std::vector<SymbolicTensor> results = {};
  bool real = true;  ///< whether elements that come from no operand are real numbers

  bool has(size_t i) const { return i < operands.size() && operands[i].has_value(); }
  const SymbolicTensor& operand(size_t i) const { return *operands[i]; }
  bool has(const std::string& attr) const { return attrs.contains(attr); }
  /// Attributes; GaveUp where it is of another kind or missing. An integer is a real number, too.
  Dim integer(const std::string& attr) const;
  const std::vector<Dim>& integers(const std::string& attr) const;
  Element number(const std::string& attr) const;
  const std::string& text(const std::string& attr) const;
  /// An attribute that must be a known integer (an axis), and a list of such.
  int64_t known(const std::string& attr) const;
  std::vector<int64_t> known_list(const std::string& attr) const;
  /// A known axis, counted from the front.
  size_t axis(const std::string& attr, size_t rank) const;
  /// A well-typed node has this: where it does not hold, there is nothing to show.
  void require(bool holds) const { scope.assume(holds); }
  /// Operator and attributes as the name of an uninterpreted function.
  std::string name() const;
};

using AxiomFn = void (*)(Axiom&);

/// The integer that this is; GaveUp where it is not known.
int64_t known_integer(const Dim& dim);

}  // namespace isomer
