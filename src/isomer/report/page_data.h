#pragma once
// What the page of a report shows, as data.

#include <nlohmann/json.hpp>

#include "isomer/report/report.h"

namespace isomer {

/// {"report": as to_json, "sides": {"before": ..., "after": ...}, "regions": how many changed,
/// "cost_after", "memory_after": those of the graph on the side after, "rules": {name: {"doc", "formula", "text"}}}. A
/// side is
/// {"nodes": [{"op", "kind": input, output or op, "name", "type", "attrs", "weights", "region", "partner"}],
/// "edges": [[from, to]], "kernels": [{"nodes", "reorder", "us"}]}: nodes go by their index there, a region or partner
/// that there is not is null, and the side after is null where the search found nothing. `report` must have its
/// details.
nlohmann::json page_data(const OptimizeReport& report);

}  // namespace isomer
