#pragma once
// Traces for chrome://tracing and Perfetto.

#include <nlohmann/json_fwd.hpp>

#include "isomer/base/trace.h"

namespace isomer {

/// In the Trace Event Format's JSON: spans are complete events ("X"), one thread for each track, numbers counters
/// ("C"). Spans come by their start, of equal ones the longer first.
nlohmann::json chrome_trace(const Trace& trace);

}  // namespace isomer
