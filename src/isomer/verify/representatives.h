#pragma once
// A few instances of a rule that show what its instances can show.

#include "isomer/rules/rule.h"
#include "isomer/verify/instances.h"

namespace isomer {

/// An instance with both sides of the rule as graphs over the same inputs.
struct Representative {
  Instance instance;
  Graph before;
  Graph after;
  std::map<uint64_t, std::string> weights;  ///< content hashes of constants that stand for any, and their names
};

/// Up to `count` instances to which the rule applies, each of which shows as much as it can that those before do not:
/// ranks, lengths of sequences, attributes other than plain, and extents that are distinct where they may be. Axes that
/// are counted from the back, which are the same axes, are left out where there are others. The second one may show
/// nothing new. Deterministic.
std::vector<Representative> representatives(const Rule& rule, size_t count);

/// "?x f64[2,3], ?w f64[3,5]": the variables of an instance, and attributes that are not preset.
std::string instance_text(const Instance& instance);

}  // namespace isomer
