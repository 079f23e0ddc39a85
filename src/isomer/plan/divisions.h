#pragma once
// Operators divided into parts that run at the same time (FlexFlow: Jia et al. 2019, "Beyond Data and Model Parallelism
// for Deep Neural Networks", section 4).

#include "isomer/plan/candidate.h"

namespace isomer {

/// Returns the axis of a division.
constexpr size_t axis_of(Division division) { return static_cast<size_t>(division); }

/// Returns whether the results of a node can be computed in parts along an axis, each from parts of the operands or
/// from whole ones. (In at most as many parts as the axis has positions, whose number need not be known.)
bool is_divisible(const Graph& graph, const Node& node, Division division);

/// Returns a candidate without decisions about divisions, in which the divided operators have `parts` parts, of about
/// equal extents. A part reads the same part of an operand if that is divided in the same way; others are cut from the
/// whole, and results that something else reads whole are joined. Each part has one thread (Team::One) unless its
/// team is decided, and the other decisions about the value. Decisions without effect: about operators that
/// are not divisible in this way, along axes of fewer positions, and about results whose extents are not known.
Candidate with_divisions(const Candidate& candidate, size_t parts);

/// A candidate with_divisions, and where the values of the original are in it.
struct DividedCandidate {
  Candidate candidate;
  /// By value of the original: its parts in the divided graph; if it is not divided, itself. Empty for values that no
  /// output needs there.
  std::vector<std::vector<ValueId>> values = {};
  /// By value of the divided graph: the original's value that it is, is a part of, or joins; kNoValue if it is cut from
  /// a whole one.
  std::vector<ValueId> originals = {};
};
DividedCandidate divided(const Candidate& candidate, size_t parts);

/// Returns the candidate with all operators divided along one axis that are divisible into so many parts along it.
/// Their teams are not decided.
Candidate divided_everywhere(const Candidate& candidate, Division division, size_t parts);

}  // namespace isomer
