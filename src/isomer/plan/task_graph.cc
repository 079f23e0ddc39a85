#include "isomer/plan/task_graph.h"

#include <fmt/ranges.h>

#include <cassert>
#include <cmath>

namespace isomer {
namespace {

bool same_use(const ResourceUse& a, const ResourceUse& b) { return a.resource == b.resource && a.units == b.units; }

/// Returns a cycle, given how many predecessors each task has that are on a cycle or after one. `first` has some.
std::vector<TaskId> cycle_before(const TaskGraph& graph, const std::vector<size_t>& waiting, TaskId first) {
  std::vector<TaskId> path = {first};
  for (;;) {
    const auto before = graph.predecessors(path.back());
    const TaskId next = *std::find_if(before.begin(), before.end(), [&](TaskId task) { return waiting[task] > 0; });
    const auto seen = std::find(path.begin(), path.end(), next);
    if (seen != path.end()) return {path.rbegin(), std::make_reverse_iterator(seen)};
    path.push_back(next);
  }
}

}  // namespace

Nanoseconds task_duration(double microseconds) {
  assert(std::isfinite(microseconds) && microseconds >= 0);
  return std::max<Nanoseconds>(1, std::llround(microseconds * 1000));
}

ResourceId TaskGraph::add_resource(std::string name, uint32_t units) {
  assert(units > 0);
  resources_.push_back({std::move(name), units});
  return static_cast<ResourceId>(resources_.size() - 1);
}

ResourceSetId TaskGraph::add_resources(std::vector<ResourceUse> uses) {
  std::sort(uses.begin(), uses.end(),
            [](const ResourceUse& a, const ResourceUse& b) { return a.resource < b.resource; });
  assert(!uses.empty());
  for (size_t i = 0; i < uses.size(); ++i) {
    assert(i == 0 || uses[i - 1].resource < uses[i].resource);
    assert(uses[i].units > 0 && uses[i].units <= resources_[uses[i].resource].units);
  }
  for (ResourceSetId set = 0; set < set_ends_.size(); ++set)
    if (std::equal(uses.begin(), uses.end(), this->uses(set).begin(), this->uses(set).end(), same_use)) return set;
  uses_.insert(uses_.end(), uses.begin(), uses.end());
  set_ends_.push_back(uses_.size());
  return static_cast<ResourceSetId>(set_ends_.size() - 1);
}

std::span<const ResourceUse> TaskGraph::uses(ResourceSetId set) const {
  const size_t begin = set == 0 ? 0 : set_ends_[set - 1];
  return std::span(uses_).subspan(begin, set_ends_[set] - begin);
}

TaskId TaskGraph::add_task(const Task& task) {
  assert(task.duration > 0 && task.resources < set_ends_.size());
  if (!vacant_.empty()) {
    const TaskId id = vacant_.back();
    vacant_.pop_back();
    tasks_[id] = task;
    return id;
  }
  tasks_.push_back(task);
  successors_.add_node();
  predecessors_.add_node();
  return static_cast<TaskId>(tasks_.size() - 1);
}

void TaskGraph::remove_task(TaskId task) {
  assert(contains(task));
  for (const TaskId next : successors(task)) predecessors_.remove(next, task);
  for (const TaskId before : predecessors(task)) successors_.remove(before, task);
  successors_.clear(task);
  predecessors_.clear(task);
  tasks_[task].duration = 0;
  vacant_.push_back(task);
}

void TaskGraph::set_task(TaskId id, const Task& task) {
  assert(contains(id) && task.duration > 0 && task.resources < set_ends_.size());
  tasks_[id] = task;
}

bool TaskGraph::add_edge(TaskId from, TaskId to) {
  assert(contains(from) && contains(to) && from != to);
  const auto after = successors(from);
  const auto before = predecessors(to);
  const bool exists = after.size() < before.size() ? std::find(after.begin(), after.end(), to) != after.end()
                                                   : std::find(before.begin(), before.end(), from) != before.end();
  if (exists) return false;
  successors_.add(from, to);
  predecessors_.add(to, from);
  return true;
}

bool TaskGraph::remove_edge(TaskId from, TaskId to) {
  assert(contains(from) && contains(to));
  return successors_.remove(from, to) && predecessors_.remove(to, from);
}

Result<std::vector<TaskId>> topological_order(const TaskGraph& graph) {
  std::vector<size_t> waiting(graph.task_limit(), 0);
  std::vector<TaskId> order;
  order.reserve(graph.task_count());
  for (TaskId task = 0; task < graph.task_limit(); ++task) {
    waiting[task] = graph.predecessors(task).size();
    if (graph.contains(task) && waiting[task] == 0) order.push_back(task);
  }
  for (size_t i = 0; i < order.size(); ++i)
    for (const TaskId next : graph.successors(order[i]))
      if (--waiting[next] == 0) order.push_back(next);
  if (order.size() == graph.task_count()) return order;
  const auto first = std::find_if(waiting.begin(), waiting.end(), [](size_t count) { return count > 0; });
  return fail("tasks {} wait for one another in a cycle",
              fmt::join(cycle_before(graph, waiting, static_cast<TaskId>(first - waiting.begin())), ", "));
}

}  // namespace isomer
