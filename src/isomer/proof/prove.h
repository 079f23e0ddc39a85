#pragma once
// Proofs of rules from the axioms of operators.
//
// A rule is proved structure by structure: ranks, lengths of sequences, axes and permutations are fixed, and every
// extent, every other attribute and every element is unknown. Both sides become elements at an unknown index
// (smt/element.h), and equality is shown for all of them (smt/equal.h).

#include "isomer/proof/structure.h"
#include "isomer/rules/expr.h"
#include "isomer/smt/solver.h"

namespace isomer {

struct Proof {
  bool proved = false;
  bool gave_up = false;   ///< at something that proofs do not cover, or a limit; nothing speaks against it
  std::string how;        ///< one line: what the proof is general in, or why it failed
  size_t structures = 0;  ///< number of structures that the rule applies to
  size_t cases = 0;       ///< number of cases of extents and attributes
};

/// Tries to prove a match: with its actual extents and attributes, for all elements (and all extents that the model
/// leaves open). Proofs should share a solver, because a new one takes longer than most proofs.
Proof prove_match(const Rule& rule, const Binding& match, const ValueFacts& facts,
                  const std::shared_ptr<Solver>& solver);

/// Tries all structures within bounds. `proved` means that there is at least one and that all of them hold.
Proof prove_rule(const Rule& rule);

}  // namespace isomer
