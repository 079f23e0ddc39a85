#pragma once
// Writes the graphs of a pair as terms of the rule language; numbers that were sizes become extents of inputs.

#include "isomer/discover/term_pair.h"
#include "isomer/rules/expr.h"

namespace isomer {

/// Chooses which of the extents of the right size is written for each size, in order of writing. Until next() is
/// called, the choices are the same.
class SizeChoice {
 public:
  /// Call it before terms are written: the first size comes next.
  void restart() { met_ = 0; }
  const Expr& pick(const std::vector<Expr>& candidates);
  /// Advances to the next combination for the sizes met since restart(); the first one changes fastest. Returns false
  /// after the last.
  bool next();

 private:
  std::vector<size_t> picked_;
  std::vector<size_t> candidates_;  // how many, of each size
  size_t met_ = 0;
};

class TermWriter {
 public:
  /// `pair`, `universes` and `dims` must outlive the writer.
  TermWriter(const TermPair& pair, std::span<const Universe> universes, const PairDims& dims);

  /// A variable of the terms: an input, or a part of an input that is a bundle.
  struct Variable {
    uint32_t node;
    std::optional<PartId> part;
  };
  /// Called a, b, c, ... in order.
  const std::vector<Variable>& variables() const { return variables_; }
  std::string name(size_t variable) const { return std::string(1, static_cast<char>('a' + variable)); }
  size_t rank(const Variable& variable) const;

  /// Returns the term of a node. In a source, a constant of equal elements becomes a literal, which matches any shape.
  /// Returns nothing if a size is not a sum of extents, or the rule language cannot express a literal (1/9).
  std::optional<Term> term(uint32_t node, bool source, SizeChoice& sizes) const;

  /// Returns the extent of a node's value along an axis; prefers extents along the same axis of an input that `other`
  /// does not read.
  std::optional<Expr> extent(uint32_t node, size_t axis, uint32_t other, SizeChoice& sizes) const;

 private:
  /// The position of an attribute in the form of a node: the form of the operator, of a part of its result, or of a
  /// constant.
  struct Site {
    uint32_t node;
    std::optional<PartId> part = std::nullopt;
    std::vector<size_t> path = {};  // operands to descend into
  };

  std::optional<size_t> bundle_of(uint32_t node) const;
  std::optional<Term> variable(uint32_t node, std::optional<PartId> part) const;
  std::optional<Term> written(const Site& site, bool source, SizeChoice& sizes) const;
  std::optional<Term> part_of_operand(const Site& site, const Term& form, PartId part, bool source,
                                      SizeChoice& sizes) const;
  Ints extents_by_variant(uint32_t node, size_t axis) const;
  Ints extents_by_variant(const Variable& variable, size_t axis) const;
  const Term& form(size_t variant, const Site& site) const;
  /// Operands of a node as terms; bundles are not written, only their parts.
  using Operands = std::vector<std::optional<Term>>;
  std::optional<Term> filled(const Site& site, Term form, const Operands& operands, bool source,
                             SizeChoice& sizes) const;
  std::optional<Term> constant(uint32_t node, bool source, SizeChoice& sizes) const;
  std::optional<ExprValue> attribute(const Site& site, size_t variant, size_t k) const;
  std::optional<Expr> general(uint32_t node, const Expr& written, const std::vector<ExprValue>& values,
                              SizeChoice& sizes) const;
  std::optional<Expr> number(uint32_t node, const Ints& by_variant, SizeChoice& sizes) const;
  std::vector<Expr> candidates(uint32_t node, const Ints& by_variant) const;

  const TermPair& pair_;
  std::span<const Universe> universes_;
  const PairDims& dims_;
  std::vector<Variable> variables_;
};

}  // namespace isomer
