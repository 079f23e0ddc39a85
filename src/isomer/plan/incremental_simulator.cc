#include "isomer/plan/incremental_simulator.h"

#include <cassert>
#include <functional>

namespace isomer {

// An update visits places in the schedule in the order of their keys, so that all before the visited one is final. A
// task whose old place is visited, but which is not ready there any more, is open until it is placed. A task is ready
// when none of its predecessors is open. A predecessor that is neither open nor placed has its old times. They are
// final if they end by the time of the visited place: then its own places are before this one. So each task is released
// and placed at most once, and tasks that remain open are on cycles or behind them.

Result<IncrementalSimulator> IncrementalSimulator::make(TaskGraph graph) {
  ISOMER_TRY(Schedule schedule, simulate(graph));
  IncrementalSimulator simulator(std::move(graph));
  simulator.schedule_ = std::move(schedule);
  simulator.load();
  return simulator;
}

void IncrementalSimulator::load() {
  for (ResourceId id = 0; id < graph_.resource_count(); ++id) logs_.emplace_back(graph_.resource(id).units);
  const size_t tasks = graph_.task_limit();
  old_.resize(tasks);
  progress_.resize(tasks);
  std::vector<ScheduleKey> keys;
  for (TaskId id = 0; id < tasks; ++id) {
    if (!graph_.contains(id)) continue;
    const Task& task = graph_.task(id);
    keys.push_back({schedule_.ready[id], task.rank, id});
    old_[id] = {true, keys.back(), task.resources, schedule_.start[id], schedule_.end[id]};
  }
  std::sort(keys.begin(), keys.end());
  for (const ScheduleKey& key : keys)
    for (const ResourceUse& use : graph_.uses(graph_.task(key.task).resources))
      logs_[use.resource].append(key, use.units, schedule_.end[key.task]);
}

TaskId IncrementalSimulator::add_task(const Task& task) {
  const TaskId id = graph_.add_task(task);
  changed_.push_back(id);
  return id;
}

void IncrementalSimulator::remove_task(TaskId task) {
  changed_.push_back(task);
  const auto after = graph_.successors(task);
  changed_.insert(changed_.end(), after.begin(), after.end());
  graph_.remove_task(task);
}

void IncrementalSimulator::set_task(TaskId id, const Task& task) {
  if (graph_.task(id) == task) return;
  graph_.set_task(id, task);
  changed_.push_back(id);
}

bool IncrementalSimulator::add_edge(TaskId from, TaskId to) {
  const bool added = graph_.add_edge(from, to);
  if (added) changed_.push_back(to);
  return added;
}

bool IncrementalSimulator::remove_edge(TaskId from, TaskId to) {
  const bool removed = graph_.remove_edge(from, to);
  if (removed) changed_.push_back(to);
  return removed;
}

Status IncrementalSimulator::update() {
  simulated_ = 0;
  seed();
  visited_ = {-1, 0, 0};
  while (!agenda_.empty()) {
    std::pop_heap(agenda_.begin(), agenda_.end(), std::greater<>());
    const ScheduleKey key = agenda_.back();
    agenda_.pop_back();
    if (key == visited_) continue;
    visited_ = key;
    visit(key);
  }
  const bool complete = open_ == 0;
  finish(complete);
  if (!complete) {
    const auto order = topological_order(graph_);
    return tl::unexpected(order.error());
  }
  changed_.clear();
  return {};
}

void IncrementalSimulator::seed() {
  const size_t tasks = graph_.task_limit();
  old_.resize(tasks);
  progress_.resize(tasks);
  for (std::vector<Nanoseconds>* times : {&schedule_.ready, &schedule_.start, &schedule_.end}) times->resize(tasks, 0);
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  for (const TaskId task : changed_) {
    touch(task);
    progress_[task].passed = !old_[task].exists;
    if (graph_.contains(task) && open(task)) ++open_;
  }
  visited_ = {-1, 0, 0};
  for (const TaskId task : changed_) {
    push_old(task);
    push_new(task);
  }
}

void IncrementalSimulator::visit(const ScheduleKey& key) {
  const TaskId id = key.task;
  const bool exists = graph_.contains(id);
  const bool leaves = !progress_[id].passed && old_[id].key == key;
  const bool enters = exists && !progress_[id].placed && key.rank == graph_.task(id).rank && ready(id) == key.ready;
  if (!leaves && !enters) return;
  touch(id);
  const bool was_open = open(id);
  if (leaves) progress_[id].passed = true;
  if (enters) {
    place(key, leaves, was_open);
    return;
  }
  change_resources(key, true, 0);
  if (!exists || progress_[id].placed) return;
  ++open_;
  push_new(id);
  for (const TaskId next : graph_.successors(id)) push_old(next);
}

void IncrementalSimulator::place(const ScheduleKey& key, bool leaves, bool was_open) {
  const TaskId id = key.task;
  const Task& task = graph_.task(id);
  Nanoseconds start = key.ready;
  for (const ResourceUse& use : graph_.uses(task.resources))
    start = std::max(start, free_at(seek(use.resource, key), use.units));
  const Nanoseconds end = start + task.duration;
  change_resources(key, leaves, end);
  progress_[id].placed = true;
  schedule_.ready[id] = key.ready;
  schedule_.start[id] = start;
  schedule_.end[id] = end;
  ++simulated_;
  if (was_open) --open_;
  push_old(id);
  if (!was_open && end == old_[id].end) return;
  for (const TaskId next : graph_.successors(id)) {
    // A task that waits longer for others, before and after the update, is not concerned.
    const bool waits = std::max(end, old_[id].end) < old_[next].key.ready;
    if (waits && !was_open && !progress_[next].queued) continue;
    push_old(next);
    push_new(next);
  }
}

std::span<const Nanoseconds> IncrementalSimulator::seek(ResourceId resource, const ScheduleKey& key) {
  if (!logs_[resource].updating()) updating_.push_back(resource);
  return logs_[resource].seek(key);
}

void IncrementalSimulator::change_resources(const ScheduleKey& key, bool leaves, Nanoseconds end) {
  // Both sets are sorted by resource.
  auto left = leaves ? graph_.uses(old_[key.task].resources) : std::span<const ResourceUse>();
  auto entered = end > 0 ? graph_.uses(graph_.task(key.task).resources) : std::span<const ResourceUse>();
  while (!left.empty() || !entered.empty()) {
    const bool adds = left.empty() || (!entered.empty() && entered.front().resource <= left.front().resource);
    const ResourceId resource = adds ? entered.front().resource : left.front().resource;
    ResourceLog::Change change;
    if (adds) {
      change.units = entered.front().units;
      change.end = end;
      entered = entered.subspan(1);
    }
    if (!left.empty() && left.front().resource == resource) {
      change.removes = true;
      left = left.subspan(1);
    }
    seek(resource, key);
    ResourceLog& log = logs_[resource];
    if (log.change(key, change) && log.next() != nullptr) push_old(log.next()->task);
  }
}

void IncrementalSimulator::finish(bool keep) {
  for (const ResourceId resource : updating_) {
    if (keep) {
      logs_[resource].commit();
    } else {
      logs_[resource].abandon();
    }
  }
  for (const TaskId id : touched_) {
    Placed& old = old_[id];
    if (!keep || !graph_.contains(id)) {
      if (keep) old = {};
      schedule_.ready[id] = old.key.ready;
      schedule_.start[id] = old.start;
      schedule_.end[id] = old.end;
    } else {
      const Task& task = graph_.task(id);
      old = {true, {schedule_.ready[id], task.rank, id}, task.resources, schedule_.start[id], schedule_.end[id]};
    }
    progress_[id] = {};
  }
  schedule_.makespan = 0;
  for (const ResourceLog& log : logs_) schedule_.makespan = std::max(schedule_.makespan, log.last().back());
  touched_.clear();
  updating_.clear();
  open_ = 0;
}

std::optional<Nanoseconds> IncrementalSimulator::ready(TaskId task) const {
  Nanoseconds time = 0;
  for (const TaskId before : graph_.predecessors(task)) {
    if (open(before)) return std::nullopt;
    time = std::max(time, schedule_.end[before]);
  }
  return time;
}

void IncrementalSimulator::push(const ScheduleKey& key) {
  assert(visited_ < key);
  agenda_.push_back(key);
  std::push_heap(agenda_.begin(), agenda_.end(), std::greater<>());
}

void IncrementalSimulator::push_old(TaskId task) {
  if (!old_[task].exists || progress_[task].passed || progress_[task].queued) return;
  touch(task);
  progress_[task].queued = true;
  push(old_[task].key);
}

void IncrementalSimulator::push_new(TaskId task) {
  if (!graph_.contains(task) || progress_[task].placed) return;
  const std::optional<Nanoseconds> time = ready(task);
  if (!time) return;
  const ScheduleKey key{*time, graph_.task(task).rank, task};
  if (progress_[task].passed || !progress_[task].queued || key != old_[task].key) push(key);
}

void IncrementalSimulator::touch(TaskId task) {
  if (progress_[task].touched) return;
  progress_[task].touched = true;
  touched_.push_back(task);
}

}  // namespace isomer
