#include "isomer/search/part_searcher.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "isomer/base/hash.h"
#include "isomer/search/side_evaluator.h"

namespace isomer {

LayoutTime layout_time(std::string_view option) {
  if (option == "substitution") return LayoutTime::Never;
  return option == "joint" ? LayoutTime::EachCandidate : LayoutTime::AfterSearch;
}

PartSearcher::PartSearcher(std::span<const Rule> rules, Evaluator& evaluator, const PartsOptions& options,
                           SearchReport& report)
    : rules_(rules),
      evaluator_(evaluator),
      costs_(*evaluator.costs()),
      options_(options),
      report_(report),
      repeated_(rules, evaluator) {
  learn_refused();
  if (options.layouts != LayoutTime::Never && costs_.obeys_layouts()) layouts_.emplace(costs_);
  costs_of_threads_.push_back(&costs_);
  if (!layouts_) copies_ = copies_of(costs_, static_cast<size_t>(std::max(options.threads, 1)) - 1);
  for (const auto& copy : copies_) costs_of_threads_.push_back(copy.get());
  targets_of_threads_.resize(costs_of_threads_.size());
  if (costs_of_threads_.size() > 1)
    ahead_.emplace(costs_of_threads_.size(),
                   [this](const SharedTask& task, size_t thread, const std::atomic<bool>& abandoned) {
                     return search_alone(*task, thread, options_.limits.budget.end.unless(abandoned));
                   });
}

void PartSearcher::learn_refused() {
  const RefusedWeights* refused = evaluator_.refused();
  refused_ = std::make_shared<const RefusedWeights>(refused == nullptr ? RefusedWeights() : *refused);
}

Result<WholeValues> PartSearcher::values_of(const Candidate& whole) {
  ISOMER_TRY(std::vector<Layout> layouts, costs_.layouts(whole));
  return WholeValues{std::move(layouts), costs_.value_bytes(whole.graph)};
}

PartSearcher::SharedTask PartSearcher::task_of(const Candidate& whole, const WholeValues& values,
                                               std::vector<NodeId> nodes, size_t number, size_t of) {
  const auto shared = std::make_shared<PartTask>(PartTask{number, of, std::move(nodes)});
  PartTask& task = *shared;
  if (task.nodes.empty()) return shared;
  task.part = extract_part(whole, task.nodes);
  task.bytes_beside = live_beside(whole.graph, task.nodes, values.bytes);
  for (const ValueId input : task.part.inputs) task.boundary.inputs.push_back(values.layouts[input]);
  for (const ValueId output : task.part.outputs) task.boundary.outputs.push_back(values.layouts[output]);
  task.search_key = hash_mix(task.part.hash(), ordered_hash(task.part.graph, task.boundary));
  if (evaluator_.weighs_memory())
    task.search_key = hash_mix(task.search_key, std::bit_cast<uint64_t>(task.bytes_beside));
  task.repeat_key = repeated_.key(task.part, task.boundary);
  task.refused = refused_;
  return shared;
}

void PartSearcher::note(TraceScope& scope, const PartTask& task, const FoundCandidate& found) const {
  scope.note("operators", static_cast<double>(task.nodes.size()));
  std::string rules;
  for (const SearchStep& step : found.report.steps) rules += (rules.empty() ? "" : ", ") + step.rule;
  scope.note("steps", rules);
  options_.observer.number("candidates", static_cast<double>(report_.candidates));
}

Result<FoundCandidate> PartSearcher::search(const PartTask& task, const std::string& name) {
  options_.observer.progress("searching " + name);
  const bool late = options_.limits.budget.end.passed();
  auto found = late ? std::nullopt : repetition_of(task);
  std::optional<Outcome> outcome = found ? std::nullopt : found_ahead(task);
  const bool is_ahead = outcome.has_value();
  if (late && !is_ahead) return FoundCandidate{task.part};
  TraceScope scope(options_.observer.trace, name, "part");
  if (!found) {
    if (is_ahead)
      scope.took(options_.observer.track(outcome->thread), outcome->start_us, outcome->duration_us);
    else
      outcome = search_alone(task, 0, options_.limits.budget.end);
    refuse(outcome->refused);
    ISOMER_TRY(found, std::move(outcome->found));
    repeated_.store(task.part, task.boundary, *found);
  }
  if (layouts_) {
    ISOMER_TRY(found->cost_after, decide_layouts(*found, task, costs_));
    for (FoundCandidate& other : found->others) {
      ISOMER_TRY(other.cost_after, decide_layouts(other, task, costs_));
    }
    found->report.candidates += 1 + std::ssize(found->others);
  }
  report_.add_counts(found->report);
  report_.also_ended(found->report.stop_reason);
  note(scope, task, *found);
  return std::move(*found);
}

std::optional<FoundCandidate> PartSearcher::repetition_of(const PartTask& task) {
  const auto one = locked(lock_, options_.limits.budget.end);
  return repeated_.find(task.part, task.boundary, cost_of(task, costs_));
}

void PartSearcher::refuse(const RefusedWeights& weights) {
  const auto one = locked(lock_, options_.limits.budget.end);
  const auto ignored = evaluator_.refuse(weights);
}

void PartSearcher::search_ahead(const std::deque<SharedTask>& tasks) {
  if (!ahead_) return;
  std::set<uint64_t> added;
  for (const SharedTask& task : tasks) {
    if (task->nodes.empty()) continue;
    if (task->repeat_key && (repeated_.contains(*task->repeat_key) || !added.insert(*task->repeat_key).second))
      continue;
    if (task != tasks.front()) ahead_->add(task->search_key, task);
  }
}

std::optional<PartSearcher::Outcome> PartSearcher::found_ahead(const PartTask& task) {
  if (!ahead_) return std::nullopt;
  // Other threads cannot ask for a stop (Deadline::after).
  return ahead_->take(task.search_key, [this] { options_.limits.budget.end.stopped(); });
}

PartSearcher::Outcome PartSearcher::search_alone(const PartTask& task, size_t thread, const Deadline& end) {
  const double start = options_.observer.now();
  SideEvaluator evaluator(evaluator_, lock_, options_.limits.budget.end, *costs_of_threads_[thread], *task.refused);
  SearchLimits limits = options_.limits;
  limits.budget.end = end;
  limits.budget = limits.budget.share(3.0 / static_cast<double>(task.of - task.number + 3));
  limits.evaluator = &evaluator;
  limits.targets = &targets_of_threads_[thread];
  const bool as_it_is = !layouts_ || options_.layouts != LayoutTime::EachCandidate;
  const bool adds_up = !evaluator.weighs_memory() && !evaluator.weighs_paths();
  limits.costs = as_it_is && adds_up ? evaluator.costs() : nullptr;
  auto found = options_.search(task.part, rules_, cost_of(task, *evaluator.costs()), limits);
  return {std::move(found), *evaluator.refused(), thread, start, options_.observer.now() - start};
}

CandidateCost PartSearcher::cost_of(const PartTask& task, CostModel& costs) {
  return [this, &task, &costs](const Candidate& candidate) -> Result<double> {
    if (!layouts_ || options_.layouts != LayoutTime::EachCandidate) return cost_as_it_is(candidate, task, costs);
    Candidate decided = candidate;
    return decide_layouts(decided, task, costs);
  };
}

Result<double> PartSearcher::cost_as_it_is(const Candidate& candidate, const PartTask& task, CostModel& costs) const {
  ISOMER_TRY(Metrics metrics, costs.metrics(candidate, task.boundary));
  metrics.peak_bytes += task.bytes_beside;
  return evaluator_.objective(metrics);
}

Result<double> PartSearcher::decide_layouts(Candidate& part, const PartTask& task, CostModel& costs) {
  ISOMER_TRY(const double before, cost_as_it_is(part, task, costs));
  Candidate decided(part.graph, layouts_->choose(part, task.boundary));
  auto after = cost_as_it_is(decided, task, costs);
  if (!after || *after >= before) return before;
  part = std::move(decided);
  return after;
}

void PartSearcher::keep_ahead(std::span<const uint64_t> keys) {
  if (ahead_) ahead_->keep_only(keys);
}

}  // namespace isomer
