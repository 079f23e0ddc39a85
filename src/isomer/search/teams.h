#pragma once
// Decides which kernels of a candidate run side by side on several streams, and which have the threads of all streams.

#include <optional>
#include <string>
#include <vector>

#include "isomer/cost/cost_model.h"

namespace isomer {

/// What the kernels of a candidate take, by the team that runs them.
struct TeamTimes {
  std::vector<PlannedKernel> kernels = {};  ///< with their times in one thread
  /// By kernel, in the threads of all streams, with the layouts and algorithms of a plan for so many threads; empty if
  /// not all are known.
  std::vector<double> all_us = {};
  /// By kernel, of the longest of its parts along axis 0, one for each stream; 0: it has none. Empty: not known.
  std::vector<double> part_us = {};
  NeighborCosts neighbors = {};  ///< as if kernels did not slow each other down, if that is not known
  /// The types of the inputs, if they are not those of the candidate, whose extents may be symbols.
  std::vector<TensorType> inputs = {};
  std::vector<double> value_bytes = {};  ///< of the candidate's graph
  std::string problem = {};              ///< why times in all threads or the costs of neighbors are not known
};

/// Returns the times of a candidate's kernels; `one` and `all` are costs of one thread and of as many as there are
/// streams. Second computations are left out. A kernel that the engine plans only for one thread has the same time in
/// all. An Error as for CostModel::kernels, if times in one thread are not known.
Result<TeamTimes> team_times(const Candidate& candidate, CostModel& one, CostModel& all);

/// Returns the candidate with a team for each kernel, or a division of its operators: those of the stages that are
/// predicted to take the least time together (choose_stages). All times must be known. Teams that the candidate has
/// decided stay, and do not change the stages.
Candidate with_stages(const Candidate& candidate, const TeamTimes& times, size_t streams);
/// Likewise, with the same team for each kernel.
Candidate with_team(const Candidate& candidate, const TeamTimes& times, Team team);

/// A kernel in a predicted run.
struct PredictedSpan {
  double start_us = 0;
  double us = 0;
  std::optional<size_t> stream = {};  ///< nothing: all of them
};

/// How a candidate runs on several streams.
struct PredictedRun {
  std::vector<PredictedSpan> spans = {};  ///< by kernel of TeamTimes
  double us = 0;                          ///< until all have ended
};

/// Returns how a candidate is predicted to run, by simulation of its stages (StreamSchedule). All times must be known.
/// Kernels without a decided team have one thread. `candidate` has no divisions (see Prediction).
PredictedRun predicted_run(const Candidate& candidate, const TeamTimes& times, size_t streams);

}  // namespace isomer
