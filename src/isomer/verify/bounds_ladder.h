#pragma once
// The bounds within which a rule is tried, from wide to narrow.

#include <vector>

#include "isomer/rules/rule.h"
#include "isomer/verify/instances.h"

namespace isomer {

/// Bounds that serve one end, from wide to narrow; the first ones that can be enumerated are taken. Element type and
/// rank are left at their presets.
struct Ladder {
  std::vector<InstanceBounds> rungs;
  /// Serves only where the first ladder had to bound the number of odd attributes.
  bool for_attributes = false;
  size_t part = 1;  ///< of the instances and steps that a check may spend, this fraction (1 / part)
};

/// The ladders of a rule. The first keeps shapes various and gives up combinations of odd attributes. The second keeps
/// those and gives up shapes; it serves where the first had to narrow the attributes. The third has extents that can be
/// divided in halves of more than 1, for rules about groups or blocks.
std::vector<Ladder> ladders(const Rule& rule);

/// "extents <= 2, other than 2 <= 1, lengths <= 3, odd attributes <= 1".
std::string bounds_text(const InstanceBounds& bounds);

}  // namespace isomer
