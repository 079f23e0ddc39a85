#include "isomer/engine/onednn/streams.h"

#include <algorithm>

#include "isomer/engine/onednn/memory.h"
#include "isomer/plan/assign_streams.h"
#include "isomer/plan/memory_plan.h"

namespace isomer::onednn {
namespace {

bool conflict(const Touch& a, const Touch& b) { return (a.write || b.write) && a.begin < b.end && b.begin < a.end; }

using Extents = std::vector<std::vector<int64_t>>;

/// Returns the extents of values; empty ones for those that are absent or not known.
Extents extents_of(const Graph& graph, std::span<const ValueId> values) {
  Extents out;
  for (const ValueId value : values) {
    const bool known = value != kNoValue && graph.type(value).known();
    auto dims = known ? concrete(*graph.type(value).shape) : std::nullopt;
    out.push_back(dims ? std::move(*dims) : std::vector<int64_t>());
  }
  return out;
}

double flops_of(const Graph& graph, const Node& node) {
  if (node.is_opaque()) return 0;
  std::vector<ValueId> results;
  for (uint32_t r = 0; r < node.num_results; ++r) results.push_back(node.result(r));
  const Extents from = extents_of(graph, graph.operands(node)), to = extents_of(graph, results);
  return node.op->flops(WorkView{node.attrs, from, to});
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

Status order_on_streams(Program& program, size_t streams) {
  ISOMER_TRY(StreamPlan order, assign_streams(tasks_of(program, estimated_durations(program)), streams));
  if (order.streams.size() < 2) return {};
  ISOMER_TRY(const HappensBefore before, HappensBefore::make(order, program.kernels.size()));
  std::vector<BufferId> ids;
  ISOMER_TRY(const ArenaLayout layout, plan_memory(arena_accesses(program, ids), before));
  for (size_t i = 0; i < ids.size(); ++i) program.buffers[ids[i]].index = layout.offsets[i];
  program.arena_bytes = layout.bytes;
  program.order = std::move(order);
  return {};
}

std::vector<double> estimated_durations(const Program& program) {
  // Of one core of a common processor: only the ratios of durations matter.
  constexpr double kLaunch = 1;
  constexpr double kFlopsPerMicrosecond = 5e4;
  constexpr double kBytesPerMicrosecond = 1e4;
  const std::vector<double> flops = flops_by_kernel(program);
  std::vector<double> out;
  for (size_t k = 0; k < flops.size(); ++k) {
    const auto bytes = static_cast<double>(bytes_touched(program, program.kernels[k]));
    out.push_back(kLaunch + std::max(flops[k] / kFlopsPerMicrosecond, bytes / kBytesPerMicrosecond));
  }
  return out;
}

}  // namespace isomer::onednn
