#pragma once
// Decides which kernels of a candidate run side by side on several streams, and which have the threads of all streams.

#include <optional>
#include <vector>

#include "isomer/cost/cost_model.h"

namespace isomer {

/// What the kernels of a candidate take, by the team that runs them.
struct TeamTimes {
  std::vector<PlannedKernel> kernels = {};  ///< with their times in one thread
  std::vector<double> all_us = {};          ///< by kernel, in the threads of all streams
};

/// Returns the times of a candidate's kernels; `one` and `all` are costs of one thread and of as many as there are
/// streams. A kernel that the engine plans only for one thread has the same time in all. An Error as for
/// CostModel::kernels.
Result<TeamTimes> team_times(const Candidate& candidate, CostModel& one, CostModel& all);

/// Returns the candidate with a team for each kernel: those of the stages that are predicted to take the least time
/// together (choose_stages). Teams that the candidate has decided stay, but do not change what is predicted.
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

/// Returns how a candidate is predicted to run, by simulation of its stages. Kernels without a decided team have one
/// thread. Kernels side by side do not slow each other down, and synchronizations take no time.
PredictedRun predicted_run(const Candidate& candidate, const TeamTimes& times, size_t streams);

}  // namespace isomer
