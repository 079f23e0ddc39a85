#pragma once
// What the parts of divided operators take.

#include "isomer/plan/divisions.h"
#include "isomer/search/teams.h"

namespace isomer {

/// A divided candidate and what its kernels take.
struct DividedTimes {
  DividedCandidate divided;
  TeamTimes times;
  std::vector<ValueId> origins;  ///< by value of the divided graph: the one that it is, or is a part of; or kNoValue
};

/// Returns the times of a candidate in parts, as the engine runs it on so many streams. `whole` are those of the
/// candidate without its divisions; what is not divided has the same ones. `one` are costs of one thread, by which
/// parts are measured. An Error if one cannot be.
Result<DividedTimes> divided_times(const Candidate& candidate, const TeamTimes& whole, CostModel& one, size_t streams);

/// Returns by kernel the time of the longest of its parts if all that is divisible along axis 0 is divided; 0 if the
/// kernel has no parts. An Error as above.
Result<std::vector<double>> part_times(const Candidate& candidate, const TeamTimes& whole, CostModel& one,
                                       size_t streams);

}  // namespace isomer
