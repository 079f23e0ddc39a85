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

  /// Nodes that are inputs, in order; they are called a, b, c, ...
  const std::vector<uint32_t>& inputs() const { return inputs_; }
  std::string name(uint32_t input) const;

  /// The term of a node. A constant of equal elements is, in a source, a literal: it may have any shape. Nothing when a
  /// size is no sum of extents, or a literal no number of the rule language (1/9).
  std::optional<Term> term(uint32_t node, bool source, SizeChoice& sizes) const;

  /// The extent of a node's value along an axis; by choice, along the same axis of an input that `other` does not read.
  std::optional<Expr> extent(uint32_t node, size_t axis, uint32_t other, SizeChoice& sizes) const;

 private:
  /// Where an attribute stands in the form of a node: the operator's, or a constant's.
  struct Site {
    uint32_t node;
    std::vector<size_t> path;  // operands to descend to
  };

  const Term& form(size_t variant, const PairNode& node) const;
  std::optional<Term> filled(const Site& site, Term form, const Term* a, const Term* b, SizeChoice& sizes) const;
  std::optional<Term> constant(uint32_t node, bool source, SizeChoice& sizes) const;
  std::optional<ExprValue> attribute(const Site& site, size_t variant, size_t k) const;
  std::optional<Expr> general(uint32_t node, const Expr& written, const std::vector<ExprValue>& values,
                              SizeChoice& sizes) const;
  std::optional<Expr> number(uint32_t node, const Ints& by_variant, SizeChoice& sizes) const;
  std::vector<Expr> candidates(uint32_t node, const Ints& by_variant) const;

  const TermPair& pair_;
  std::span<const Universe> universes_;
  const PairTypes& types_;
  std::vector<uint32_t> inputs_;
};

}  // namespace isomer
