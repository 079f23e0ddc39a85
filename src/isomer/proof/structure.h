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
  std::string bounds;               ///< the range of structures: "ranks <= 4, lengths <= 3"
};

/// Returns one instance of every structure of the rule, with ranks up to 4 and sequences up to 3; with lower limits if
/// those are too many to list.
Structures structures_of(const Rule& rule);

}  // namespace isomer
