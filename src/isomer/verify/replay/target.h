#pragma once
// What a rule puts in the place of an instance of its source.

#include "isomer/verify/replay/instance.h"
#include "isomer/verify/replay/replace.h"

namespace isomer::replay {

/// The replacement of an instance's roots by the rule's targets. The instance must outlive it.
Replacement target_of(const Graph& graph, const Instance& instance);

}  // namespace isomer::replay
