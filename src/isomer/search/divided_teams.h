#pragma once
// Times and predicted runs of divided operators.

#include "isomer/plan/divisions.h"
#include "isomer/search/teams.h"

namespace isomer {

/// A divided candidate and how long its kernels take.
struct DividedTimes {
  DividedCandidate divided;
  TeamTimes times;
};

/// Returns the times of a candidate in parts, as the engine runs it on these streams. `whole` are those of the
/// candidate without its divisions; kernels that are not divided have the same ones. `one` are costs of one thread, by
/// which parts are measured. An Error if one cannot be, or if the extents of a divided operator are not known.
Result<DividedTimes> divided_times(const Candidate& candidate, const TeamTimes& whole, CostModel& one, size_t streams);

/// Returns by kernel the time of the longest of its parts if all operators that are divisible along axis 0 are divided;
/// 0 if the kernel has no parts. An Error as above.
Result<std::vector<double>> part_times(const Candidate& candidate, const TeamTimes& whole, CostModel& one,
                                       size_t streams);

/// A predicted run of a candidate, which may have divisions, and its kernels.
struct Prediction {
  PredictedRun run;
  std::vector<PlannedKernel> kernels = {};
  Graph graph;                          ///< of the kernels: the candidate's, or that in parts
  std::vector<ValueId> originals = {};  ///< by value of `graph`, as in DividedCandidate
};

/// Returns how a candidate is predicted to run on streams. `times` are those without its divisions, and `one` are costs
/// of one thread. An Error if the times in all threads are not known, or as above.
Result<Prediction> predict(const Candidate& candidate, const TeamTimes& times, CostModel& one, size_t streams);

}  // namespace isomer
