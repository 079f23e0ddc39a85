#include "isomer/engine/onednn/streams.h"

#include <algorithm>

#include "isomer/engine/onednn/memory.h"
#include "isomer/engine/onednn/views.h"
#include "isomer/plan/assign_streams.h"
#include "isomer/plan/memory_plan.h"
#include "isomer/plan/stages.h"

namespace isomer::onednn {
namespace {

bool conflict(const Touch& a, const Touch& b) { return (a.write || b.write) && a.begin < b.end && b.begin < a.end; }

using Extents = std::vector<std::vector<int64_t>>;

/// Returns the extents of values, empty ones for those that are absent; nullopt if some are not known.
std::optional<Extents> extents_of(const Graph& graph, std::span<const ValueId> values) {
  Extents out;
  for (const ValueId value : values) {
    if (value == kNoValue) {
      out.emplace_back();
      continue;
    }
    auto dims = graph.type(value).known() ? concrete(*graph.type(value).shape) : std::nullopt;
    if (!dims) return std::nullopt;
    out.push_back(std::move(*dims));
  }
  return out;
}

/// Returns 0 for a node with extents that are not known.
double flops_of(const Graph& graph, const Node& node) {
  if (node.is_opaque()) return 0;
  std::vector<ValueId> results;
  for (uint32_t r = 0; r < node.num_results; ++r) results.push_back(node.result(r));
  const auto from = extents_of(graph, graph.operands(node)), to = extents_of(graph, results);
  return from && to ? node.op->flops(WorkView{node.attrs, *from, *to}) : 0;
}

/// Returns the FLOPs of each kernel: of the node that makes its result, and of those before it whose results no kernel
/// makes, since it includes them.
std::vector<double> flops_by_kernel(const Program& program) {
  constexpr size_t kNone = SIZE_MAX;
  const Graph& graph = program.graph;
  std::vector<size_t> maker(graph.num_values(), kNone);  // later kernels of a value only change its layout
  for (size_t k = program.kernels.size(); k-- > 0;)
    for (const ValueId value : program.kernels[k].values)
      if (value != kNoValue) maker[value] = k;
  std::vector<double> out(program.kernels.size(), 0);
  for (auto id = static_cast<NodeId>(graph.nodes().size()); id-- > 0;) {
    const Node& node = graph.node(id);
    size_t kernel = kNone;
    for (uint32_t r = 0; r < node.num_results && kernel == kNone; ++r) kernel = maker[node.result(r)];
    if (kernel == kNone) continue;
    out[kernel] += flops_of(graph, node);
    for (const ValueId operand : graph.operands(node))
      if (operand != kNoValue && maker[operand] == kNone) maker[operand] = kernel;
  }
  return out;
}

/// Returns the decided team of each group that has one: that of a result of its last node.
std::map<size_t, Team> teams_by_group(const Program& program, const std::map<ValueId, Team>& teams) {
  std::map<ValueId, Team> remaining;
  for (const auto& [value, team] : teams) remaining.emplace(remaining_value(program.graph, value), team);
  std::map<size_t, Team> out;
  for (size_t group = 0; group < program.groups.size(); ++group) {
    const Node& last = program.graph.node(program.groups[group]);
    for (uint32_t r = 0; r < last.num_results; ++r)
      if (const auto team = remaining.find(last.result(r)); team != remaining.end()) out[group] = team->second;
  }
  return out;
}

/// Puts the tasks [begin, end), which run side by side, on streams.
Status add_side_by_side(const TaskGraph& graph, TaskId begin, TaskId end, size_t streams,
                        std::vector<std::vector<TaskId>>& to) {
  // Streams limit how many tasks run at the same time.
  const TaskGraph some = tasks_side_by_side(graph, begin, end, graph.resource(0).units);
  ISOMER_TRY(const StreamPlan plan, assign_streams(some, streams));
  if (to.size() < plan.streams.size()) to.resize(plan.streams.size());
  for (size_t s = 0; s < plan.streams.size(); ++s)
    for (const TaskId k : plan.streams[s]) to[s].push_back(begin + k);
  return {};
}

/// Puts kernels with one thread on streams, stage by stage. A kernel with several threads is a stage of its own, on the
/// first stream.
Result<StreamPlan> in_stages(const Program& program, size_t streams) {
  TaskGraph graph = tasks_of(program, estimated_durations(program, 1));
  const auto count = static_cast<TaskId>(program.kernels.size());
  const auto alone = [&](TaskId k) { return program.kernels[k].threads > 1; };
  StreamPlan plan;
  for (TaskId begin = 0, end = 0, before = 0; begin < count; before = begin, begin = end) {
    for (end = begin + 1; end < count && !alone(begin) && !alone(end);) ++end;
    if (alone(begin) || (begin > 0 && alone(before)))
      for (TaskId earlier = before; earlier < begin; ++earlier)
        for (TaskId later = begin; later < end; ++later) graph.add_edge(earlier, later);
    if (alone(begin)) {
      plan.streams.resize(std::max<size_t>(plan.streams.size(), 1));
      plan.streams[0].push_back(begin);
    } else {
      ISOMER_CHECK(add_side_by_side(graph, begin, end, streams, plan.streams));
    }
  }
  ISOMER_TRY(plan.synchronizations, fewest_synchronizations(graph, plan.streams));
  return plan;
}

}  // namespace

TaskGraph tasks_of(const Program& program, std::span<const double> durations) {
  struct Earlier {
    TaskId kernel;
    Touch touch;
  };
  TaskGraph graph;
  std::vector<std::vector<Earlier>> by_buffer(program.buffers.size());
  // Tasks need a resource. Streams limit how many run at the same time, so this one has enough for all.
  const ResourceId cores =
      graph.add_resource("cores", static_cast<uint32_t>(std::max<size_t>(program.kernels.size(), 1)));
  const ResourceSetId one = graph.add_resources({{cores, 1}});
  for (TaskId k = 0; k < program.kernels.size(); ++k) {
    graph.add_task({.duration = task_duration(durations[k]), .resources = one});
    for (const Touch& touch : program.kernels[k].touches) {
      const Place place = program.buffers[touch.buffer].place;
      if (place == Place::Constant || place == Place::Input) continue;
      auto& earlier = by_buffer[touch.buffer];
      for (const Earlier& other : earlier)
        if (other.kernel != k && conflict(other.touch, touch)) graph.add_edge(other.kernel, k);
      earlier.push_back({k, touch});
    }
  }
  return graph;
}

MemoryAccesses arena_accesses(const Program& program, std::vector<BufferId>& ids) {
  constexpr uint32_t kUnused = UINT32_MAX;
  std::vector<uint32_t> number(program.buffers.size(), kUnused);
  MemoryAccesses out;
  for (TaskId k = 0; k < program.kernels.size(); ++k) {
    for (const Touch& touch : program.kernels[k].touches) {
      const Buffer& buffer = program.buffers[touch.buffer];
      if (buffer.place != Place::Arena) continue;
      if (number[touch.buffer] == kUnused) {
        number[touch.buffer] = static_cast<uint32_t>(ids.size());
        ids.push_back(touch.buffer);
        out.bytes.push_back(buffer.bytes);
      }
      out.accesses.push_back({k, number[touch.buffer], touch.write, touch.begin, touch.end});
    }
  }
  return out;
}

std::vector<int> threads_by_group(const Program& program, const std::map<ValueId, Team>& teams, size_t streams) {
  constexpr double kNever = 1e9;  // microseconds: longer than any kernel takes that is not decided
  std::vector<double> one = estimated_durations(program, 1), all = estimated_durations(program, streams);
  const std::map<size_t, Team> decided = teams_by_group(program, teams);
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const auto team = decided.find(program.kernels[k].group);
    if (team != decided.end()) (team->second == Team::One ? all : one)[k] = kNever;
  }
  const TaskGraph graph = tasks_of(program, one);
  std::vector<Nanoseconds> alone;
  for (const double duration : all) alone.push_back(task_duration(duration));
  std::vector<int> out(program.kernels.empty() ? 0 : program.kernels.back().group + 1, 1);
  for (const isomer::Stage& stage : choose_stages(graph, {alone}, streams, task_duration(kForkUs)))
    for (TaskId k = stage.begin; k < stage.end && stage.kind == StageKind::AllCores; ++k)
      out[program.kernels[k].group] = static_cast<int>(streams);
  return out;
}

Status order_on_streams(Program& program, size_t streams) {
  ISOMER_TRY(StreamPlan order, in_stages(program, streams));
  const bool alone = std::ranges::any_of(program.kernels, [](const Kernel& kernel) { return kernel.threads > 1; });
  if (order.streams.size() < 2 && !alone) return {};
  ISOMER_TRY(const HappensBefore before, HappensBefore::make(order, program.kernels.size()));
  std::vector<BufferId> ids;
  ISOMER_TRY(const ArenaLayout layout, plan_memory(arena_accesses(program, ids), before));
  for (size_t i = 0; i < ids.size(); ++i) program.buffers[ids[i]].index = layout.offsets[i];
  program.arena_bytes = layout.bytes;
  program.order = std::move(order);
  return {};
}

std::vector<double> estimated_durations(const Program& program, size_t threads) {
  // Of the cores of a common processor: only the ratios of durations matter.
  constexpr double kLaunch = 1;
  constexpr double kFlopsPerMicrosecond = 5e4;
  constexpr double kBytesPerMicrosecond = 1e4;
  const std::vector<double> flops = flops_by_kernel(program);
  std::vector<double> out;
  for (size_t k = 0; k < flops.size(); ++k) {
    const auto bytes = static_cast<double>(bytes_touched(program, program.kernels[k]));
    const double work = std::max(flops[k] / kFlopsPerMicrosecond, bytes / kBytesPerMicrosecond);
    const std::string& implementation = program.kernels[k].implementation;
    const bool divides = threads > 1 && implementation != "reference" && implementation != "memcpy";
    out.push_back(kLaunch + (divides ? kForkUs + work / static_cast<double>(threads) : work));
  }
  return out;
}

}  // namespace isomer::onednn
