#include "isomer/search/teams.h"

#include <algorithm>
#include <map>
#include <utility>

#include "isomer/cost/kernel_tasks.h"
#include "isomer/plan/divisions.h"
#include "isomer/plan/stages.h"
#include "isomer/plan/stream_schedule.h"

namespace isomer {
namespace {

/// Decides the team that runs a kernel, unless that is decided.
void decide(const PlannedKernel& kernel, Team team, Candidate& candidate) {
  const Node& last = candidate.graph.node(kernel.nodes.back());
  if (!kernel.reorder && last.num_results > 0) candidate.decisions.teams.emplace(last.result(), team);
}

/// Divides the operators of a kernel, unless its team is decided.
void divide(const PlannedKernel& kernel, Candidate& candidate) {
  if (kernel.reorder || candidate.decisions.team(candidate.graph.node(kernel.nodes.back()).result())) return;
  for (const NodeId id : kernel.nodes) {
    const Node& node = candidate.graph.node(id);
    if (is_divisible(candidate.graph, node, Division::Axis0))
      candidate.decisions.divisions.emplace(node.result(), Division::Axis0);
  }
}

/// Divides views and concatenations that take no time of their own, if all that they read is divided.
void divide_between(std::span<const PlannedKernel> kernels, Candidate& candidate) {
  const Graph& graph = candidate.graph;
  std::vector<bool> in_kernel(graph.nodes().size(), false);
  for (const PlannedKernel& kernel : kernels)
    if (!kernel.reorder)
      for (const NodeId id : kernel.nodes) in_kernel[id] = true;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    const auto is_whole = [&](ValueId v) {
      // The decision may be about another result of the same node.
      return v != kNoValue && !graph.is_constant_derived(v) &&
             !candidate.decisions.division(graph.producer_node(v).result());
    };
    if (!in_kernel[id] && std::ranges::none_of(graph.operands(node), is_whole) &&
        is_divisible(graph, node, Division::Axis0))
      candidate.decisions.divisions.emplace(node.result(), Division::Axis0);
  }
}

/// Whether all threads run a kernel. A change of layout counts as a part of the kernel before it, although the engine
/// makes it where the value is read.
bool has_all(const Candidate& candidate, const TeamTimes& times, size_t kernel) {
  const Node& last = candidate.graph.node(times.kernels[kernel].nodes.back());
  return last.num_results > 0 && candidate.decisions.team(last.result()) == Team::All;
}

/// The kernels of a candidate as tasks.
struct TeamTasks {
  TaskGraph graph;  // with their durations in one thread
  Neighborhood neighborhood;
  std::vector<Nanoseconds> alone;  // their durations in all threads
  std::vector<Nanoseconds> parts;  // as in StageTimes
};

TeamTasks team_tasks(const Candidate& candidate, const TeamTimes& times, size_t streams) {
  KernelTasks tasks = kernel_tasks(candidate.graph, times.kernels, static_cast<uint32_t>(streams), times.value_bytes);
  TeamTasks out{std::move(tasks.graph), {.costs = times.neighbors, .inputs = std::move(tasks.inputs)}, {}, {}};
  for (const PlannedKernel& kernel : times.kernels)
    out.neighborhood.memory_share.push_back(times.neighbors.memory_share(kernel.us, kernel.weight_bytes));
  for (TaskId k = 0; k < times.all_us.size(); ++k)
    out.alone.push_back(task_duration(times.all_us[k]) + out.neighborhood.transfer_among(k, streams));
  for (const double us : times.part_us) out.parts.push_back(us > 0 ? task_duration(us) : 0);
  return out;
}

/// Adds the tasks [begin, end), which run side by side after those before them.
void add_side_by_side(TaskId begin, TaskId end, StreamSchedule& schedule, PredictedRun& to) {
  schedule.begin(begin);
  Nanoseconds last = 0;
  for (TaskId task = begin; task < end; ++task) last = schedule.add(task);
  for (TaskId task = begin; task < end; ++task)
    to.spans[task] = {.start_us = to.us + in_microseconds(schedule.start(task)),
                      .us = in_microseconds(schedule.end(task) - schedule.start(task)),
                      .stream = schedule.stream(task)};
  to.us += in_microseconds(last);
}

}  // namespace

Result<TeamTimes> team_times(const Candidate& candidate, CostModel& one, CostModel& all) {
  Candidate once = candidate;
  once.decisions.computations.clear();
  TeamTimes out;
  ISOMER_TRY(out.kernels, one.kernels(once));
  const auto in_all = all.kernels(once);
  if (!in_all) out.problem = in_all.error().message;
  if (!in_all) return out;
  const auto neighbors = all.neighbor_costs();
  if (neighbors)
    out.neighbors = *neighbors;
  else
    out.problem = neighbors.error().message;
  out.value_bytes = one.value_bytes(candidate.graph);
  std::map<std::pair<NodeId, bool>, double> by_last;
  for (const PlannedKernel& kernel : *in_all) by_last[{kernel.nodes.back(), kernel.reorder}] = kernel.us;
  for (const PlannedKernel& kernel : out.kernels) {
    const auto known = by_last.find({kernel.nodes.back(), kernel.reorder});
    out.all_us.push_back(known == by_last.end() ? kernel.us : known->second);
  }
  return out;
}

Candidate with_stages(const Candidate& candidate, const TeamTimes& times, size_t streams) {
  const TeamTasks tasks = team_tasks(candidate, times, streams);
  Candidate out = candidate;
  for (const Stage& stage :
       choose_stages(tasks.graph, {tasks.alone, tasks.parts}, streams, task_duration(kForkUs), tasks.neighborhood)) {
    for (TaskId k = stage.begin; k < stage.end; ++k) {
      if (stage.kind == StageKind::Divided)
        divide(times.kernels[k], out);
      else
        decide(times.kernels[k], stage.kind == StageKind::SideBySide ? Team::One : Team::All, out);
    }
  }
  if (!out.decisions.divisions.empty()) divide_between(times.kernels, out);
  return out;
}

Candidate with_team(const Candidate& candidate, const TeamTimes& times, Team team) {
  Candidate out = candidate;
  for (const PlannedKernel& kernel : times.kernels) decide(kernel, team, out);
  return out;
}

PredictedRun predicted_run(const Candidate& candidate, const TeamTimes& times, size_t streams) {
  const TeamTasks tasks = team_tasks(candidate, times, streams);
  StreamSchedule schedule(tasks.graph, tasks.neighborhood, streams);
  const auto count = static_cast<TaskId>(times.kernels.size());
  PredictedRun out{.spans = std::vector<PredictedSpan>(count)};
  for (TaskId begin = 0, end = 0; begin < count; begin = end) {
    for (end = begin + 1; end < count && !has_all(candidate, times, begin) && !has_all(candidate, times, end);) ++end;
    if (has_all(candidate, times, begin)) {
      out.spans[begin] = {.start_us = out.us, .us = in_microseconds(tasks.alone[begin])};
      out.us += out.spans[begin].us;
    } else {
      add_side_by_side(begin, end, schedule, out);
    }
  }
  return out;
}

}  // namespace isomer
