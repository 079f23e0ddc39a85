#pragma once
// What of an instance of a rule is fixed when a proof is tried, and what it is general in.

#include <string>
#include <vector>

#include "isomer/verify/instances.h"

namespace isomer {

/// Everything that proofs keep fixed, as text: ranks, element types, lengths of sequences, the attributes that are. Two
/// instances of one structure have the same proof.
std::string structure_key(const Instance& instance);

struct Structures {
  std::vector<Instance> instances;  ///< one of each structure
  std::string bounds;               ///< what they range over: "ranks <= 4, lengths <= 3"
};

/// One instance of every structure of the rule, with ranks up to 4 and sequences up to 3; of fewer, where those are too
/// many to list.
Structures structures_of(const Rule& rule);

}  // namespace isomer
