#pragma once
// Selects a few instances of a rule that together show as many of its features as possible.

#include "isomer/check/instances.h"
#include "isomer/rules/rule.h"

namespace isomer {

/// An instance with both sides of the rule as graphs over the same inputs.
struct Representative {
  Instance instance;
  Graph before;
  Graph after;
  std::map<uint64_t, std::string> weights;  ///< content hashes of constants that represent any weights, and their names
};

/// Returns up to `count` instances to which the rule applies. Each shows as many new features as possible: ranks,
/// lengths of sequences, attributes that are not plain, and extents that are distinct where they may be. Axes that are
/// counted from the back are left out if there are others, since they are the same axes. The second instance may show
/// nothing new. Deterministic.
std::vector<Representative> representatives(const Rule& rule, size_t count);

/// Returns "?x f64[2,3], ?w f64[3,5]": the variables of an instance, and attributes that differ from their presets.
std::string instance_text(const Instance& instance);

}  // namespace isomer
