#pragma once
// The extents of all nodes of a pair of graphs, in every variant of its universe.

#include <optional>
#include <span>
#include <vector>

#include "isomer/discover/term_pair.h"

namespace isomer {

class PairTypes {
 public:
  /// Returns nothing if an operator does not accept its operands in some variant.
  static std::optional<PairTypes> make(const TermPair& pair, std::span<const PairContext> variants);

  size_t variants() const { return dims_.size(); }
  const Ints& dims(size_t variant, uint32_t node) const { return dims_[variant][node]; }
  size_t rank(uint32_t node) const { return dims_[0][node].size(); }
  /// One extent, by variant.
  Ints extent(uint32_t node, size_t axis) const;

 private:
  std::vector<std::vector<Ints>> dims_;  // by variant and node
};

}  // namespace isomer
