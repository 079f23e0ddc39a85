#pragma once
// Proofs of rules from the axioms of operators.
//
// A rule is proved structure by structure: with ranks, lengths of sequences, axes and permutations fixed, and with
// every extent, every other attribute and every element unknown. Both sides become elements at an unknown index
// (smt/element.h), and equality is shown for all of them (smt/equal.h).

#include "isomer/rules/expr.h"
#include "isomer/verify/proof/structure.h"

namespace isomer {

struct Proof {
  bool proved = false;
  std::string how;        ///< one line: what it is general in, or where it failed
  size_t structures = 0;  ///< that the rule applies to
  size_t cases = 0;       ///< of extents and attributes that were told apart
};

/// Tries a match: its very extents and attributes, for all elements (and all extents that the model leaves open).
Proof prove_match(const Rule& rule, const Binding& match, const ValueFacts& facts);

/// Tries all structures within bounds. `proved` means that there is one and that all of them hold.
Proof prove_rule(const Rule& rule);

}  // namespace isomer
