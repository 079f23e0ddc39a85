#pragma once
// Builds what a rule inserts for an instance of its source.

#include "isomer/certificate/instance.h"
#include "isomer/certificate/replace.h"

namespace isomer::replay {

/// Returns the replacement of an instance's roots by the rule's targets. The instance must outlive it.
Replacement target_of(const Graph& graph, const Instance& instance);

}  // namespace isomer::replay
