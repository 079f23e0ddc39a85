#include "isomer/plan/checker/check_plan.h"

#include <map>

#include "isomer/plan/checker/reachability.h"

namespace isomer {
namespace {

using Kind = PlanFault::Kind;

constexpr uint64_t kWhole = std::numeric_limits<uint64_t>::max();

std::string part_of(const Access& access) {
  const bool whole = access.begin == 0 && access.end == kWhole;
  const std::string part = whole ? "" : fmt::format("{} to {} of ", access.begin, access.end);
  return fmt::format("{} {}buffer {}", access.write ? "writes" : "reads", part, access.buffer);
}

bool meet(const Access& a, const Access& b) { return a.buffer == b.buffer && a.begin < b.end && b.begin < a.end; }

/// The accesses of each buffer, in the order of the program.
using ByBuffer = std::vector<std::vector<Access>>;

/// Returns the first part of [begin, end) that a sorted list of parts does not cover; empty if there is none.
std::pair<uint64_t, uint64_t> first_gap(const std::vector<std::pair<uint64_t, uint64_t>>& parts, uint64_t begin,
                                        uint64_t end) {
  for (const auto& [first, last] : parts) {
    if (begin >= end) break;
    if (first > begin) return {begin, std::min(first, end)};
    begin = std::max(begin, last);
  }
  return {begin, std::max(begin, end)};
}

void check_races(const ByBuffer& buffers, const Reachability& order, std::vector<PlanFault>& faults) {
  for (const std::vector<Access>& accesses : buffers) {
    // All of a buffer ends where its last part does.
    uint64_t extent = 0;
    for (const Access& access : accesses)
      if (access.end != kWhole) extent = std::max(extent, access.end);
    for (size_t j = 0; j < accesses.size(); ++j) {
      const Access& later = accesses[j];
      std::vector<std::pair<uint64_t, uint64_t>> written;
      for (size_t i = 0; i < j; ++i) {
        const Access& first = accesses[i];
        if (!meet(first, later)) continue;
        if (first.write) written.emplace_back(first.begin, first.end);
        if ((!first.write && !later.write) || first.task == later.task || order.leads(first.task, later.task)) continue;
        const char* how = order.leads(later.task, first.task) ? "runs before" : "does not wait for";
        faults.push_back({Kind::Race, fmt::format("{} {}, but {} {}, which {} first", order.where(later.task),
                                                  part_of(later), how, order.where(first.task), part_of(first))});
      }
      if (later.write) continue;
      std::sort(written.begin(), written.end());
      const uint64_t end = later.end == kWhole && !written.empty() ? extent : later.end;
      const auto [gap_begin, gap_end] = first_gap(written, later.begin, end);
      if (gap_begin == gap_end) continue;
      const std::string gap = written.empty() ? "which nothing wrote before"
                                              : fmt::format("and nothing wrote {} to {} before", gap_begin, gap_end);
      faults.push_back({Kind::Race, fmt::format("{} {}, {}", order.where(later.task), part_of(later), gap)});
    }
  }
}

/// Returns accesses of one buffer and of another that may be in the wrong order, if all of `first` should come before
/// all of `second`.
std::pair<const Access*, const Access*> out_of_order(const std::vector<Access>& first,
                                                     const std::vector<Access>& second, const Reachability& order) {
  for (const Access& a : first)
    for (const Access& b : second)
      if (!order.leads(a.task, b.task)) return {&a, &b};
  return {nullptr, nullptr};
}

void check_places(const MemoryAccesses& memory, const ArenaLayout& layout, const ByBuffer& buffers,
                  const Reachability& order, std::vector<PlanFault>& faults) {
  const auto end = [&](size_t buffer) { return layout.offsets[buffer] + memory.bytes[buffer]; };
  std::multimap<size_t, size_t> by_offset;
  for (size_t buffer = 0; buffer < buffers.size(); ++buffer) {
    const size_t offset = layout.offsets[buffer];
    if (end(buffer) > layout.bytes || end(buffer) < offset)
      faults.push_back(
          {Kind::Memory, fmt::format("buffer {} ends at byte {} of {}", buffer, end(buffer), layout.bytes)});
    if (offset % kArenaAlignment != 0)
      faults.push_back({Kind::Memory, fmt::format("buffer {} is at byte {}, which is not aligned", buffer, offset)});
    if (memory.bytes[buffer] > 0) by_offset.emplace(offset, buffer);
  }
  for (auto one = by_offset.begin(); one != by_offset.end(); ++one) {
    const size_t a = one->second;
    for (auto other = std::next(one); other != by_offset.end() && other->first < end(a); ++other) {
      const size_t b = other->second;
      const auto [last, first] = out_of_order(buffers[a], buffers[b], order);
      if (last == nullptr) continue;
      const auto [last_b, first_a] = out_of_order(buffers[b], buffers[a], order);
      if (last_b == nullptr) continue;
      faults.push_back(
          {Kind::Memory,
           fmt::format(
               "buffers {} and {} share bytes {} to {}: {} {}, perhaps not before {} {}; and {} {}, perhaps not "
               "before {} {}",
               a, b, other->first, std::min(end(a), end(b)), order.where(last->task), part_of(*last),
               order.where(first->task), part_of(*first), order.where(last_b->task), part_of(*last_b),
               order.where(first_a->task), part_of(*first_a))});
    }
  }
}

}  // namespace

std::vector<PlanFault> check_order(const TaskGraph& graph, const StreamPlan& plan) {
  std::vector<PlanFault> faults;
  const Reachability order(plan, graph.task_limit(), faults);
  for (TaskId task = 0; task < graph.task_limit(); ++task)
    if (graph.contains(task) != order.on_a_stream(task))
      faults.push_back({Kind::Tasks, graph.contains(task) ? fmt::format("task {} is on no stream", task)
                                                          : fmt::format("{} does not exist", order.where(task))});
  if (!faults.empty()) return faults;
  for (TaskId task = 0; task < graph.task_limit(); ++task)
    for (const TaskId before : graph.predecessors(task))
      if (!order.leads(before, task))
        faults.push_back({Kind::Order, fmt::format("{} depends on {} and does not wait for it", order.where(task),
                                                   order.where(before))});
  return faults;
}

std::vector<PlanFault> check_memory(const MemoryAccesses& memory, const ArenaLayout& layout, const StreamPlan& plan,
                                    size_t task_limit) {
  std::vector<PlanFault> faults;
  const Reachability order(plan, task_limit, faults);
  if (layout.offsets.size() != memory.bytes.size())
    faults.push_back({Kind::Memory, fmt::format("{} buffers have places, and there are {}", layout.offsets.size(),
                                                memory.bytes.size())});
  ByBuffer buffers(memory.bytes.size());
  for (const Access& access : memory.accesses) {
    if (!order.on_a_stream(access.task)) {
      faults.push_back({Kind::Tasks, fmt::format("task {}, which {}, is on no stream", access.task, part_of(access))});
    } else if (access.buffer >= buffers.size()) {
      faults.push_back(
          {Kind::Memory, fmt::format("{} {}, which does not exist", order.where(access.task), part_of(access))});
    } else {
      buffers[access.buffer].push_back(access);
    }
  }
  if (!faults.empty()) return faults;
  check_races(buffers, order, faults);
  check_places(memory, layout, buffers, order, faults);
  return faults;
}

std::vector<PlanFault> check_schedule(const TaskGraph& graph, const Schedule& schedule) {
  std::vector<PlanFault> faults;
  const size_t tasks = graph.task_limit();
  if (schedule.start.size() != tasks || schedule.end.size() != tasks)
    return {{Kind::Time, fmt::format("{} tasks have times, and there are {}", schedule.start.size(), tasks)}};
  Nanoseconds last = 0;
  // For each resource and time, how many units are taken or, if negative, given back; and which task does so.
  std::vector<std::vector<std::tuple<Nanoseconds, int64_t, TaskId>>> events(graph.resource_count());
  for (TaskId task = 0; task < tasks; ++task) {
    if (!graph.contains(task)) continue;
    const Nanoseconds start = schedule.start[task];
    const Nanoseconds end = schedule.end[task];
    last = std::max(last, end);
    if (start < 0) faults.push_back({Kind::Time, fmt::format("task {} starts at {}, before time 0", task, start)});
    if (end - start != graph.task(task).duration)
      faults.push_back({Kind::Time, fmt::format("task {} runs from {} to {}, and takes {}", task, start, end,
                                                graph.task(task).duration)});
    for (const TaskId before : graph.predecessors(task))
      if (schedule.end[before] > start)
        faults.push_back({Kind::Time, fmt::format("task {} starts at {}, and task {}, on which it depends, ends at {}",
                                                  task, start, before, schedule.end[before])});
    for (const ResourceUse& use : graph.uses(graph.task(task).resources)) {
      events[use.resource].emplace_back(start, int64_t{use.units}, task);
      events[use.resource].emplace_back(end, -int64_t{use.units}, task);
    }
  }
  if (schedule.makespan != last)
    faults.push_back(
        {Kind::Time, fmt::format("the last task ends at {}, and the makespan is {}", last, schedule.makespan)});
  for (ResourceId id = 0; id < events.size(); ++id) {
    std::sort(events[id].begin(), events[id].end());  // at one time, units are given back first
    int64_t taken = 0;
    for (const auto& [time, units, task] : events[id]) {
      taken += units;
      if (units > 0 && taken > graph.resource(id).units)
        faults.push_back(
            {Kind::Resource, fmt::format("at {}, task {} brings the units of resource {} ({}) that are "
                                         "occupied to {} of {}",
                                         time, task, id, graph.resource(id).name, taken, graph.resource(id).units)});
    }
  }
  return faults;
}

}  // namespace isomer
