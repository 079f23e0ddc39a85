#pragma once
// The bounds within which a rule is tried, from wide to narrow.

#include <vector>

#include "isomer/check/instances.h"
#include "isomer/rules/rule.h"

namespace isomer {

/// A list of bounds, from wide to narrow; the first that can be enumerated are used. Element type and rank keep their
/// defaults.
struct Ladder {
  std::vector<InstanceBounds> rungs;
  /// Used only if the first ladder had to bound the number of non-plain attributes.
  bool for_attributes = false;
  size_t part = 1;      ///< the divisor of the instances and steps that a check may use: 1 / part of them
  size_t patience = 1;  ///< the factor of these steps, where few of them lead to an instance
};

/// Returns the ladders of a rule. The first keeps shapes varied and gives up combinations of non-plain attributes. The
/// second does the reverse; it is used if the first had to bound the attributes. The others are for rules about certain
/// operators: extents that can be divided into halves of more than 1 (groups or blocks), and many channels, if the rule
/// binds a number of groups; for windows, channels of single pixels, and single channels of pixels. The last have
/// extents of 0.
std::vector<Ladder> ladders(const Rule& rule);

/// All instances within some bounds.
struct ListedInstances {
  InstanceBounds bounds;
  std::vector<Instance> instances;
};

/// Lists the instances of one element type whose largest rank is `rank`, within the widest bounds from `rung` on within
/// which there are at most `max_instances`, listed by at most `max_steps` choices. Sets `rung` to these bounds. Returns
/// nothing if there are no such bounds.
std::optional<ListedInstances> list_instances(const Rule& rule, const Ladder& ladder, size_t& rung, DType element,
                                              size_t rank, size_t max_instances, size_t max_steps);

/// "extents <= 2, other than 2 <= 1, lengths <= 3, odd attributes <= 1"; "extents 1 or 3, spatial <= 1, plain windows".
std::string bounds_text(const InstanceBounds& bounds);

}  // namespace isomer
