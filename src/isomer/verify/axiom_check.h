#pragma once
// The check of axioms: what an operator's axiom says, over unknown extents and attributes, is evaluated exactly at
// small ones and compared with the reference kernel.

#include <string>

#include "isomer/ir/op.h"

namespace isomer {

struct AxiomBounds {
  size_t max_rank = 4;
  /// Instances of one pattern (a number of operands, reals or integers) and rank. Where there are more, the bounds are
  /// narrowed as those of rules are (bounds_ladder.h).
  size_t max_instances = 600;
  size_t max_steps = 60'000;  ///< choices tried to list them
};

struct AxiomVerdict {
  bool refuted = false;
  size_t structures = 0;  ///< ranks, axes, ...: each has the axiom written out once, for all extents and attributes
  size_t cases = 0;       ///< that the axiom tells apart in them
  size_t instances = 0;
  size_t elements = 0;         ///< of results, compared
  size_t given_up = 0;         ///< structures that the axiom does not cover
  std::string why_given_up;    ///< of the first of them
  std::string bounds;          ///< within which all instances were tried
  std::string counterexample;  ///< attributes, operands, and both results as small tensors

  /// "4 structures, 12 cases, 300 instances, ...".
  std::string str() const;
};

/// Compares the axiom with the kernel: shapes, and every element of every result, in the prime field (real numbers;
/// each comparison errs with probability at most degree / 2^61) and on integers. An instance that no case of the axiom
/// covers refutes it, too, and so does an index beyond an extent.
AxiomVerdict check_axiom(const OpDef& op, const AxiomBounds& bounds = {});

enum class AxiomRanks : uint8_t { Least, All };

/// The shape and the elements that an operator's results have by its axiom, for the operands of one instance of each
/// number of operands, of the least rank or of every rank up to 4: as formulas, a case a line.
std::string axiom_text(const OpDef& op, AxiomRanks ranks = AxiomRanks::Least);

}  // namespace isomer
