#pragma once
// Checks axioms: an operator's axiom, over unknown extents and attributes, is evaluated exactly at small ones and
// compared with the reference kernel.

#include <string>

#include "isomer/ir/op.h"

namespace isomer {

struct AxiomBounds {
  size_t max_rank = 4;
  /// Maximum number of instances of one pattern (a number of operands, floating-point or integer) and rank. If there
  /// are more, the bounds are narrowed as for rules (bounds_ladder.h).
  size_t max_instances = 600;
  size_t max_steps = 60'000;  ///< maximum number of choices tried to list them
};

struct AxiomVerdict {
  bool refuted = false;
  size_t structures = 0;  ///< number of structures (ranks, axes, ...); for each the axiom is evaluated once, for all
                          ///< extents and attributes
  size_t cases = 0;       ///< number of cases of the axiom in all structures
  size_t instances = 0;
  size_t elements = 0;         ///< of results that were compared
  size_t given_up = 0;         ///< number of structures that the axiom does not cover
  std::string why_given_up;    ///< for the first of them
  std::string bounds;          ///< within which all instances were tried
  std::string counterexample;  ///< attributes, operands, and both results as small tensors

  /// "4 structures, 12 cases, 300 instances, ...".
  std::string str() const;
};

/// Compares the axiom with the kernel: shapes and every element of every result, in the prime field for real numbers
/// (each comparison errs with probability at most degree / 2^61) and on integers. The axiom is also refuted by an
/// instance that no case covers, and by an index beyond an extent.
AxiomVerdict check_axiom(const OpDef& op, const AxiomBounds& bounds = {});

enum class AxiomRanks : uint8_t { Least, All };

/// Returns the shape and the elements of an operator's results by its axiom, as formulas, one case per line. There is
/// one instance per number of operands, of the lowest rank or of every rank up to 4.
std::string axiom_text(const OpDef& op, AxiomRanks ranks = AxiomRanks::Least);

}  // namespace isomer
