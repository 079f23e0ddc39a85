#pragma once
// The phases of a run in its trace.

#include <type_traits>

#include "isomer/base/trace.h"

namespace isomer {

/// Does the work as a span of the trace, and returns its result. With a null trace, nothing is recorded.
template <class Work>
std::invoke_result_t<Work> phase(Trace* trace, const char* name, const Work& work) {
  const TraceScope scope(trace, name, "phase");
  return work();
}

}  // namespace isomer
