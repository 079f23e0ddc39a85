#pragma once
// Structures of rules: the properties of an instance that a proof fixes.

#include <string>
#include <vector>

#include "isomer/check/instances.h"

namespace isomer {

/// Returns everything that proofs fix, as text: ranks, element types, lengths of sequences, and fixed attributes. Two
/// instances of one structure have the same proof.
std::string structure_key(const Instance& instance);

struct Structures {
  std::vector<Instance> instances;  ///< one for each structure
  /// The range of structures: "ranks <= 4, lengths <= 3". It names the extents at which they were found if these are
  /// not 1 and 2.
  std::string bounds;
};

/// Returns one instance of every structure of the rule that has one with extents of 1 and 2, ranks up to 4 and
/// sequences up to 3; at fewer extents or with lower limits if those are too many to list.
Structures structures_of(const Rule& rule);

}  // namespace isomer
