#pragma once
// The data that the page of a report shows.

#include <nlohmann/json.hpp>

#include "isomer/report/report.h"

namespace isomer {

/// Returns {"report": as to_json, "sides": {"before": ..., "after": ...}, "regions": the number of changed regions,
/// "cost_after", "memory_after": those of the graph on the side after, "rules": {name: {"doc", "formula", "text"}}}. A
/// side is {"nodes": [{"op", "kind": input, output or op, "name", "type", "attrs", "weights", "region", "partner"}],
/// "edges": [[from, to]], "kernels": [{"nodes", "reorder", "us"}]}. Nodes are named by their index in the list. A
/// missing region or partner is null. The side after is null if the search found nothing. `report` must have its
/// details.
nlohmann::json page_data(const OptimizeReport& report);

}  // namespace isomer
