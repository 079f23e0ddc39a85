#pragma once
// Candidates for inputs of given extents.

#include "isomer/plan/candidate.h"

namespace isomer {

/// A candidate, and where the values of the original are in it.
struct BoundCandidate {
  Candidate candidate;
  std::vector<ValueId> images = {};  ///< by value of the original
};

/// Returns a candidate with inputs of these types, which fit those that it has. Extents that depend on
/// symbols of the original are known in it. An Error names an operator that does not take them.
Result<BoundCandidate> with_input_types(const Candidate& candidate, std::span<const TensorType> inputs);

}  // namespace isomer
