#pragma once
// The definition of an operator as a formula: extents and elements of its results in terms of its operands and
// attributes. None of these need be known.

#include <functional>
#include <map>
#include <optional>
#include <variant>

#include "isomer/smt/scope.h"

namespace isomer {

/// A tensor whose extents are polynomials and whose elements are formulas.
struct SymbolicTensor {
  std::vector<Dim> shape;
  /// The element at an index. The index has one entry per axis, each within its extent.
  std::function<Element(const std::vector<Dim>&)> at;
  /// Whether the elements are real numbers. If not, they may have any type, including integers that wrap around: sums
  /// and products are those of a commutative ring, and there is no division.
  bool real = true;
  /// For a tensor of positions: the same elements as integers. nullptr: they are not known as integers.
  std::function<Dim(const std::vector<Dim>&)> integer = nullptr;
  /// The number of the element type. nullopt: it is not known, or any.
  std::optional<Dim> type = std::nullopt;
  /// The tensor that this one is a reshape of: it has the same elements in the same order. nullptr: itself.
  std::shared_ptr<const SymbolicTensor> reshaped = nullptr;

  size_t rank() const { return shape.size(); }
};

using SymbolicAttr = std::variant<Dim, std::vector<Dim>, Element, std::string>;

/// The input of an operator's axiom and the place for its results. An axiom decides questions about extents and
/// attributes through `scope`. There it also assumes what a well-typed node guarantees. It throws GaveUp in cases that
/// it does not cover.
struct Axiom {
  Scope& scope;
  std::string op;
  std::map<std::string, SymbolicAttr> attrs;
  std::vector<std::optional<SymbolicTensor>> operands;  // nullopt if absent
  size_t num_results = 1;
  std::vector<SymbolicTensor> results = {};
  bool real = true;  ///< whether elements that do not come from an operand are real numbers

  bool has(size_t i) const { return i < operands.size() && operands[i].has_value(); }
  const SymbolicTensor& operand(size_t i) const { return *operands[i]; }
  bool has(const std::string& attr) const { return attrs.contains(attr); }
  /// Attributes; throw GaveUp if the attribute is missing or of another kind. An integer also counts as a real number.
  Dim integer(const std::string& attr) const;
  const std::vector<Dim>& integers(const std::string& attr) const;
  Element number(const std::string& attr) const;
  const std::string& text(const std::string& attr) const;
  /// An attribute that must be a known integer (an axis), and a list of them.
  int64_t known(const std::string& attr) const;
  std::vector<int64_t> known_list(const std::string& attr) const;
  /// A known axis, counted from the front.
  size_t axis(const std::string& attr, size_t rank) const;
  /// Assumes a property of well-typed nodes. Where it does not hold, nothing needs to be proved.
  void require(bool holds) const { scope.assume(holds); }
  /// The operator and its attributes as the name of an uninterpreted function.
  std::string name() const;
};

using AxiomFn = void (*)(Axiom&);

/// The integer that `dim` is; throws GaveUp if it is not known.
int64_t known_integer(const Dim& dim);

}  // namespace isomer
