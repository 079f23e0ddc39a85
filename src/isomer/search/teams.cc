#include "isomer/search/teams.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "isomer/cost/kernel_tasks.h"
#include "isomer/plan/simulate.h"
#include "isomer/plan/stages.h"

namespace isomer {
namespace {

/// Decides the team that runs a kernel, unless that is decided.
void decide(const PlannedKernel& kernel, Team team, Candidate& candidate) {
  const Node& last = candidate.graph.node(kernel.nodes.back());
  if (!kernel.reorder && last.num_results > 0) candidate.decisions.teams.emplace(last.result(), team);
}

/// Whether all threads run a kernel. A change of layout counts as a part of the kernel before it, although the engine
/// makes it where the value is read.
bool has_all(const Candidate& candidate, const TeamTimes& times, size_t kernel) {
  const Node& last = candidate.graph.node(times.kernels[kernel].nodes.back());
  return last.num_results > 0 && candidate.decisions.team(last.result()) == Team::All;
}

/// Adds the tasks [begin, end), which run side by side after those before them.
void add_side_by_side(const TaskGraph& graph, TaskId begin, TaskId end, size_t streams, PredictedRun& to) {
  const Schedule schedule = simulate(tasks_side_by_side(graph, begin, end, streams)).value();  // it has no cycle
  constexpr double kMicroseconds = 1e-3;
  std::vector<TaskId> order(end - begin);
  std::iota(order.begin(), order.end(), TaskId{0});
  std::ranges::stable_sort(order, {}, [&](TaskId task) { return schedule.start[task]; });
  std::vector<Nanoseconds> free(streams, 0);
  for (const TaskId task : order) {
    const auto stream = std::ranges::find_if(free, [&](Nanoseconds at) { return at <= schedule.start[task]; });
    *stream = schedule.end[task];
    to.spans[begin + task] = {.start_us = to.us + kMicroseconds * static_cast<double>(schedule.start[task]),
                              .us = kMicroseconds * static_cast<double>(schedule.end[task] - schedule.start[task]),
                              .stream = static_cast<size_t>(stream - free.begin())};
  }
  to.us += kMicroseconds * static_cast<double>(schedule.makespan);
}

}  // namespace

Result<TeamTimes> team_times(const Candidate& candidate, CostModel& one, CostModel& all) {
  Candidate once = candidate;
  once.decisions.computations.clear();
  TeamTimes out;
  ISOMER_TRY(out.kernels, one.kernels(once));
  const auto in_all = all.kernels(once);
  if (!in_all) return out;
  std::map<std::pair<NodeId, bool>, double> by_last;
  for (const PlannedKernel& kernel : *in_all) by_last[{kernel.nodes.back(), kernel.reorder}] = kernel.us;
  for (const PlannedKernel& kernel : out.kernels) {
    const auto known = by_last.find({kernel.nodes.back(), kernel.reorder});
    out.all_us.push_back(known == by_last.end() ? kernel.us : known->second);
  }
  return out;
}

Candidate with_stages(const Candidate& candidate, const TeamTimes& times, size_t streams) {
  const TaskGraph graph = kernel_tasks(candidate.graph, times.kernels, static_cast<uint32_t>(streams));
  std::vector<Nanoseconds> alone;
  for (const double us : times.all_us) alone.push_back(task_duration(us));
  Candidate out = candidate;
  for (const Stage& stage : choose_stages(graph, alone, streams, task_duration(kForkUs)))
    for (TaskId k = stage.begin; k < stage.end; ++k)
      decide(times.kernels[k], stage.side_by_side ? Team::One : Team::All, out);
  return out;
}

Candidate with_team(const Candidate& candidate, const TeamTimes& times, Team team) {
  Candidate out = candidate;
  for (const PlannedKernel& kernel : times.kernels) decide(kernel, team, out);
  return out;
}

PredictedRun predicted_run(const Candidate& candidate, const TeamTimes& times, size_t streams) {
  const TaskGraph graph = kernel_tasks(candidate.graph, times.kernels, static_cast<uint32_t>(streams));
  const auto count = static_cast<TaskId>(times.kernels.size());
  PredictedRun out{.spans = std::vector<PredictedSpan>(count)};
  for (TaskId begin = 0, end = 0; begin < count; begin = end) {
    for (end = begin + 1; end < count && !has_all(candidate, times, begin) && !has_all(candidate, times, end);) ++end;
    if (has_all(candidate, times, begin)) {
      out.spans[begin] = {.start_us = out.us, .us = times.all_us[begin]};
      out.us += times.all_us[begin];
    } else {
      add_side_by_side(graph, begin, end, streams, out);
    }
  }
  return out;
}

}  // namespace isomer
