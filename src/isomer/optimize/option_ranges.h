#pragma once
// The numbers that the options of a run take, in every interface.

#include "isomer/base/number_range.h"

namespace isomer {

inline constexpr IntegerRange kThreads{.least = 1, .most = 1024};
inline constexpr IntegerRange kSeed{.least = 0};
inline constexpr NumberRange kAlpha{.least = 1};
inline constexpr IntegerRange kSplit{.least = 0};
inline constexpr IntegerRange kMaxCandidates{.least = 1};
/// Seconds: thirty years, which a clock can still count.
inline constexpr NumberRange kTimeBudget{.least = 0, .most = 1e9};
inline constexpr NumberRange kTolerance{.least = 0};
inline constexpr NumberRange kLeastSpeedup{.least = 0};

}  // namespace isomer
