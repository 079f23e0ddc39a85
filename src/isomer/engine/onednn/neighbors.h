#pragma once
// Measures how two cores slow each other down.

#include "isomer/base/result.h"
#include "isomer/engine/neighbor_times.h"

namespace isomer::onednn {

/// Returns the seconds in which two threads pass a cache line from one to the other, to and fro again and again.
double line_seconds();

/// As Engine::neighbor_times.
Result<NeighborTimes> neighbor_times();

}  // namespace isomer::onednn
