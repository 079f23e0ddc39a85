#pragma once
// Writes traces for chrome://tracing and Perfetto.

#include <nlohmann/json_fwd.hpp>

#include "isomer/base/trace.h"

namespace isomer {

/// Returns the trace in the JSON of the Trace Event Format: spans are complete events ("X") with one thread per track;
/// numbers are counters ("C"). Spans are sorted by start, longer ones first if they start together.
nlohmann::json chrome_trace(const Trace& trace);

}  // namespace isomer
