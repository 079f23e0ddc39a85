#pragma once
// The graphs of a pair as terms of the rule language: numbers that were sizes become extents of inputs.

#include "isomer/discover/pair_types.h"
#include "isomer/rules/expr.h"

namespace isomer {

/// Which of the extents that have the right size stands for each size met, in order of writing. As long as it is not
/// moved on, a size is always written alike.
class SizeChoice {
 public:
  /// Before terms are written: the first size comes next.
  void restart() { met_ = 0; }
  const Expr& pick(const std::vector<Expr>& candidates);
  /// To the next combination, of the sizes met since restart(); the first one changes fastest. False after the last.
  bool next();

 private:
  std::vector<size_t> picked_;
  std::vector<size_t> candidates_;  // how many, of each size
  size_t met_ = 0;
};

class TermWriter {
 public:
  /// `pair`, `universes` and `types` outlive the writer.
  TermWriter(const TermPair& pair, std::span<const Universe> universes, const PairTypes& types);

  /// A variable of the terms, for an input or a part of one that is a bundle.
  struct Variable {
    uint32_t node;
    std::optional<PartId> part;
  };
  /// Called a, b, c, ... in order.
  const std::vector<Variable>& variables() const { return variables_; }
  std::string name(size_t variable) const { return std::string(1, static_cast<char>('a' + variable)); }
  size_t rank(const Variable& variable) const;

  /// The term of a node. A constant of equal elements is, in a source, a literal: it may have any shape. Nothing when a
  /// size is no sum of extents, or a literal no number of the rule language (1/9).
  std::optional<Term> term(uint32_t node, bool source, SizeChoice& sizes) const;

  /// The extent of a node's value along an axis; by choice, along the same axis of an input that `other` does not read.
  std::optional<Expr> extent(uint32_t node, size_t axis, uint32_t other, SizeChoice& sizes) const;

 private:
  /// Where an attribute stands in the form of a node: the operator's, that of a part of its result, or a constant's.
  struct Site {
    uint32_t node;
    std::optional<PartId> part = std::nullopt;
    std::vector<size_t> path = {};  // operands to descend to
  };

  std::optional<size_t> bundle_of(uint32_t node) const;
  std::optional<Term> variable(uint32_t node, std::optional<PartId> part) const;
  std::optional<Term> written(const Site& site, bool source, SizeChoice& sizes) const;
  std::optional<Term> part_of_operand(const Site& site, const Term& form, PartId part, bool source,
                                      SizeChoice& sizes) const;
  Ints extents_by_variant(const Variable& variable, size_t axis) const;
  const Term& form(size_t variant, const Site& site) const;
  /// Operands of a node, written; those that are bundles are not: their parts are.
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
  const PairTypes& types_;
  std::vector<Variable> variables_;
};

}  // namespace isomer
