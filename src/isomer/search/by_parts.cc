#include "isomer/search/by_parts.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "isomer/base/ahead.h"
#include "isomer/base/deadline.h"
#include "isomer/base/hash.h"
#include "isomer/base/stopwatch.h"
#include "isomer/search/layouts.h"
#include "isomer/search/matches.h"
#include "isomer/search/part.h"
#include "isomer/search/repeated_parts.h"
#include "isomer/search/side_evaluator.h"
#include "isomer/search/split.h"

namespace isomer {
namespace {

/// Returns the `size` nodes nearest to one, extended to a convex set; fewer if the convex hull grows too large.
std::vector<NodeId> around(const Graph& graph, NodeId center, size_t size) {
  for (; size >= 2; size /= 2) {
    std::vector<NodeId> near{center};
    std::vector<bool> seen(graph.nodes().size(), false);
    seen[center] = true;
    const auto visit = [&](NodeId id) {
      if (seen[id] || !graph.runs(graph.node(id)) || near.size() >= size) return;
      seen[id] = true;
      near.push_back(id);
    };
    for (size_t i = 0; i < near.size(); ++i) {
      const Node& node = graph.node(near[i]);
      for (const ValueId operand : graph.operands(node))
        if (operand != kNoValue) visit(graph.producer(operand));
      for (uint32_t r = 0; r < node.num_results; ++r)
        for (const NodeId reader : graph.consumers(node.result(r))) visit(reader);
    }
    std::vector<NodeId> hull = convex_hull(graph, near);
    if (hull.size() <= 2 * size) return hull;
  }
  return {};
}

/// Maximum number of cuts per thread whose surroundings are searched at the same time, or about to be.
constexpr size_t kCutsPerThread = 2;

/// The result for a part.
struct Found : Candidate {
  std::vector<SearchStep> steps = {};
};

/// What tasks need to know of the values of a graph.
struct WholeValues {
  std::vector<Layout> layouts;
  std::vector<double> bytes;
};

/// A part of a graph that is to be searched.
struct PartTask {
  size_t number = 0;  ///< of the `of` parts or cuts that are searched
  size_t of = 0;
  std::vector<NodeId> nodes = {};  ///< empty: there is nothing to search
  Part part = {};
  Boundary boundary = {};
  double bytes_beside = 0;                                  ///< live outside of the part while it runs
  uint64_t search_key = 0;                                  ///< equal for tasks for which a search finds the same
  std::optional<uint64_t> repeat_key = {};                  ///< RepeatedParts::key
  std::shared_ptr<const RefusedWeights> refused = nullptr;  ///< when it was made
};

using SharedTask = std::shared_ptr<const PartTask>;

/// What a search found, the weights that it refused, and when and on which thread it took place.
struct Outcome {
  Result<FoundCandidate> found;
  RefusedWeights refused;
  size_t thread;
  double start_us;
  double duration_us;
};

class SearchByParts {
 public:
  SearchByParts(std::span<const Rule> rules, Evaluator& evaluator, const PartsOptions& options)
      : rules_(rules),
        evaluator_(evaluator),
        costs_(*evaluator.costs()),
        options_(options),
        repeated_(rules, evaluator) {
    learn_refused();
    if (options.layouts != LayoutTime::Never && costs_.obeys_layouts()) layouts_.emplace(costs_);
    costs_of_threads_.push_back(&costs_);
    if (!layouts_) copies_ = copies_of(costs_, static_cast<size_t>(std::max(options.threads, 1)) - 1);
    for (const auto& copy : copies_) costs_of_threads_.push_back(copy.get());
    if (costs_of_threads_.size() > 1)
      ahead_.emplace(costs_of_threads_.size(),
                     [this](const SharedTask& task, size_t thread, const std::atomic<bool>& abandoned) {
                       return search_alone(*task, thread, options_.limits.budget.end.unless(abandoned));
                     });
  }

  Result<SearchResult> run(const Candidate& whole) {
    report_.algorithm = options_.algorithm;
    const Deadline& end = options_.limits.budget.end;
    const std::vector<Match> matches = all_matches(whole.graph, rules_, SIZE_MAX, end);
    ISOMER_CHECK(search_parts(whole, split_graph(whole.graph, matches, options_.split, end)));
    ISOMER_CHECK(search_cuts());
    if (end.passed()) report_.stop_reason = end.reason();
    if (report_.stop_reason.empty()) report_.stop_reason = "exhausted";
    report_.seconds = watch_.seconds();
    return SearchResult{std::move(current_), std::move(report_)};
  }

 private:
  /// Lets searches that begin from now on know all weights that were refused.
  void learn_refused() {
    const RefusedWeights* refused = evaluator_.refused();
    refused_ = std::make_shared<const RefusedWeights>(refused == nullptr ? RefusedWeights() : *refused);
  }

  /// Searches the parts and joins the results.
  Status search_parts(const Candidate& whole, const Split& split) {
    ISOMER_TRY(const WholeValues values, values_of(whole));
    const size_t of = split.parts.size() + split.cuts.size();
    std::deque<SharedTask> tasks;
    for (const auto& nodes : split.parts) tasks.push_back(task_of(whole, values, nodes, tasks.size() + 1, of));
    search_ahead(tasks);
    std::vector<Found> found;
    for (const SharedTask& task : tasks) {
      ISOMER_TRY(Found better, search(*task, fmt::format("part {} of {}", task->number, tasks.size())));
      found.push_back(std::move(better));
    }
    for (const NodeId cut : split.cuts) cut_hashes_.push_back(whole.graph.value_hash(whole.graph.node(cut).result()));
    stitch(whole, tasks, found);
    if (ahead_) ahead_->keep_only({});
    learn_refused();
    return {};
  }

  void note(TraceScope& scope, const PartTask& task, const Found& found) const {
    scope.note("operators", static_cast<double>(task.nodes.size()));
    std::string rules;
    for (const SearchStep& step : found.steps) rules += (rules.empty() ? "" : ", ") + step.rule;
    scope.note("steps", rules);
    options_.observer.number("candidates", static_cast<double>(report_.candidates));
  }

  /// Inserts the results of all parts. If the whole graph then costs more than before (it exceeds a limit that no part
  /// exceeds by itself, or kernels that crossed a boundary were cut), inserts one result after the other as long as the
  /// whole costs no more.
  void stitch(const Candidate& whole, const std::deque<SharedTask>& tasks, std::vector<Found>& found) {
    std::vector<Replacement> all;
    for (size_t i = 0; i < found.size(); ++i) all.push_back({&tasks[i]->part, &found[i]});
    std::vector<Found*> taken;
    if (!spoils(whole, splice(whole, all))) {
      for (Found& one : found) taken.push_back(&one);
      return replace(whole, all, taken);
    }
    std::vector<Replacement> kept;
    Candidate last = whole;
    for (size_t i = 0; i < found.size(); ++i) {
      kept.push_back(all[i]);
      Candidate next = splice(whole, kept);
      if (spoils(last, next)) {
        kept.pop_back();
      } else {
        taken.push_back(&found[i]);
        last = std::move(next);
      }
    }
    replace(whole, kept, taken);
  }

  /// Whether `after` costs more than `before`, as far as the costs are known.
  bool spoils(const Candidate& before, const Candidate& after) {
    const auto is = evaluator_.cost(after), was = evaluator_.cost(before);
    return is && was && *was < *is;
  }

  /// Reports the results for parts of `graph`. All steps in them become one move of the whole graph.
  void record(const Graph& graph, std::span<const Replacement> replacements, std::span<Found* const> found) {
    Move move;
    move.before = graph.hash();
    move.after = current_.graph.hash();
    const size_t first = report_.steps.size();
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i]->steps.empty()) continue;
      PartRewrite& part = move.parts.emplace_back();
      for (const ValueId input : replacements[i].part->inputs) part.inputs.push_back(graph.value_hash(input));
      for (const ValueId output : replacements[i].part->outputs) part.outputs.push_back(graph.value_hash(output));
      for (SearchStep& step : found[i]->steps) {
        std::ranges::move(step.moves, std::back_inserter(part.moves));
        step.moves.clear();
        report_.steps.push_back(std::move(step));
      }
    }
    if (!move.parts.empty()) report_.steps[first].moves.push_back(std::move(move));
  }

  /// Inserts replacements with their results (`found`) into a candidate, which becomes the current one, and updates the
  /// cuts. A cut after a value that no longer exists moves down to the nearest one that does.
  void replace(const Candidate& whole, std::span<const Replacement> replacements, std::span<Found* const> found) {
    const Graph& graph = whole.graph;
    Spliced spliced = splice(whole, replacements);
    std::vector<uint64_t>& hashes = spliced.value_hashes;
    std::unordered_map<uint64_t, uint64_t> now;
    for (auto value = static_cast<ValueId>(graph.num_values()); value-- > 0;) {
      for (const NodeId reader : graph.consumers(value))
        if (hashes[value] == 0 && graph.node(reader).num_results > 0)
          hashes[value] = hashes[graph.node(reader).result()];
      now.emplace(graph.value_hash(value), hashes[value]);
    }
    for (uint64_t& hash : cut_hashes_)
      if (const auto next = now.find(hash); next != now.end()) hash = next->second;
    current_ = std::move(spliced);
    record(graph, replacements, found);
  }

  /// Searches around the cuts one after the other. Other threads search around the next ones: what they find still
  /// holds after an earlier cut has changed the graph, unless it has changed there.
  Status search_cuts() {
    const size_t threads = costs_of_threads_.size();
    const size_t window = threads == 1 ? 1 : kCutsPerThread * threads;
    std::optional<WholeValues> values;
    std::deque<SharedTask> tasks;  // of the next cuts in the current graph
    for (size_t cut = 0; cut < cut_hashes_.size() && !options_.limits.budget.end.passed(); ++cut) {
      const bool anew = tasks.empty();
      if (anew) {
        auto now = values_of(current_);
        if (!now) return {};  // no time is left to measure around the cuts
        values = std::move(*now);
      }
      for (size_t next = cut + tasks.size(); tasks.size() < window && next < cut_hashes_.size(); ++next)
        tasks.push_back(task_of(current_, *values, around_value(cut_hashes_[next]), next + 1, cut_hashes_.size()));
      const SharedTask task = tasks.front();
      if (ahead_ && anew) {
        std::vector<uint64_t> keys;
        for (const SharedTask& each : tasks) keys.push_back(each->search_key);
        ahead_->keep_only(keys);
      }
      search_ahead(tasks);
      tasks.pop_front();
      if (task->nodes.empty()) continue;
      ISOMER_TRY(const bool changed, search_cut(*task));
      if (changed) tasks.clear();
    }
    return {};
  }

  /// Searches around a cut. Returns whether the current graph changed.
  Result<bool> search_cut(const PartTask& task) {
    ISOMER_TRY(Found better, search(task, fmt::format("around cut {} of {}", task.number, task.of)));
    const Replacement replacement{&task.part, &better};
    if (better.hash() == task.part.hash() || spoils(current_, splice(current_, {&replacement, 1}))) return false;
    Found* const found[] = {&better};
    replace(Candidate(current_), {&replacement, 1}, found);
    return true;
  }

  /// Returns nodes around the one that makes a value; empty if it no longer exists.
  std::vector<NodeId> around_value(uint64_t hash) const {
    const Graph& graph = current_.graph;
    for (ValueId value = 0; value < graph.num_values(); ++value)
      if (graph.value_hash(value) == hash && !graph.is_constant_derived(value))
        return around(graph, graph.producer(value), options_.split);
    return {};
  }

  Result<WholeValues> values_of(const Candidate& whole) {
    ISOMER_TRY(std::vector<Layout> layouts, costs_.layouts(whole));
    return WholeValues{std::move(layouts), costs_.value_bytes(whole.graph)};
  }

  SharedTask task_of(const Candidate& whole, const WholeValues& values, std::vector<NodeId> nodes, size_t number,
                     size_t of) {
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

  /// Returns the best graph found for a part: that of an earlier search if it repeats one. If no time is left for a
  /// search, returns the part as it is.
  Result<Found> search(const PartTask& task, const std::string& name) {
    options_.observer.progress("searching " + name);
    const bool late = options_.limits.budget.end.passed();
    auto found = late ? std::nullopt : repetition_of(task);
    std::optional<Outcome> outcome = found ? std::nullopt : found_ahead(task);
    const bool is_ahead = outcome.has_value();
    if (late && !is_ahead) return Found{task.part};
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
      ISOMER_CHECK(decide_layouts(*found, task, costs_).map([](double) {}));
      ++found->report.candidates;
    }
    report_.add_counts(found->report);
    report_.also_ended(found->report.stop_reason);
    std::vector<SearchStep> steps = std::move(found->report.steps);
    Found out{std::move(*found), std::move(steps)};
    note(scope, task, out);
    return out;
  }

  /// Returns the result of an earlier search for an equal part.
  std::optional<FoundCandidate> repetition_of(const PartTask& task) {
    const auto one = locked(lock_, options_.limits.budget.end);
    return repeated_.find(task.part, task.boundary, cost_of(task, costs_));
  }

  void refuse(const RefusedWeights& weights) {
    const auto one = locked(lock_, options_.limits.budget.end);
    const auto ignored = evaluator_.refuse(weights);
  }

  /// Lets other threads search the tasks after the first that nothing is known about. Of equal parts, only the first is
  /// searched.
  void search_ahead(const std::deque<SharedTask>& tasks) {
    if (!ahead_) return;
    std::set<uint64_t> added;
    for (const SharedTask& task : tasks) {
      if (task->nodes.empty()) continue;
      if (task->repeat_key && (repeated_.contains(*task->repeat_key) || !added.insert(*task->repeat_key).second))
        continue;
      if (task != tasks.front()) ahead_->add(task->search_key, task);
    }
  }

  /// Returns what another thread has found for a part; nothing if it has not begun.
  std::optional<Outcome> found_ahead(const PartTask& task) {
    if (!ahead_) return std::nullopt;
    // Other threads cannot ask for a stop (Deadline::after).
    return ahead_->take(task.search_key, [this] { options_.limits.budget.end.stopped(); });
  }

  /// Searches a part on a thread, for its share of the remaining time. What it finds depends on nothing that other
  /// threads do.
  Outcome search_alone(const PartTask& task, size_t thread, const Deadline& end) {
    const double start = options_.observer.now();
    SideEvaluator evaluator(evaluator_, lock_, options_.limits.budget.end, *costs_of_threads_[thread], *task.refused);
    SearchLimits limits = options_.limits;
    limits.budget.end = end;
    limits.budget = limits.budget.share(3.0 / static_cast<double>(task.of - task.number + 3));
    limits.evaluator = &evaluator;
    const bool as_it_is = !layouts_ || options_.layouts != LayoutTime::EachCandidate;
    limits.costs = as_it_is && !evaluator.weighs_memory() ? evaluator.costs() : nullptr;
    auto found = options_.search(task.part, rules_, cost_of(task, *evaluator.costs()), limits);
    return {std::move(found), *evaluator.refused(), thread, start, options_.observer.now() - start};
  }

  /// Returns the costs of candidates for a part.
  CandidateCost cost_of(const PartTask& task, CostModel& costs) {
    return [this, &task, &costs](const Candidate& candidate) -> Result<double> {
      if (!layouts_ || options_.layouts != LayoutTime::EachCandidate) return cost_as_it_is(candidate, task, costs);
      Candidate decided = candidate;
      return decide_layouts(decided, task, costs);
    };
  }

  Result<double> cost_as_it_is(const Candidate& candidate, const PartTask& task, CostModel& costs) const {
    ISOMER_TRY(Metrics metrics, costs.metrics(candidate, task.boundary));
    metrics.peak_bytes += task.bytes_beside;
    return evaluator_.objective(metrics);
  }

  /// Decides the layouts of a part's values, if that lowers its cost. Returns the cost.
  Result<double> decide_layouts(Candidate& part, const PartTask& task, CostModel& costs) {
    ISOMER_TRY(const double before, cost_as_it_is(part, task, costs));
    Candidate decided(part.graph, layouts_->choose(part, task.boundary));
    auto after = cost_as_it_is(decided, task, costs);
    if (!after || *after >= before) return before;
    part = std::move(decided);
    return after;
  }

  const std::span<const Rule> rules_;
  Evaluator& evaluator_;
  CostModel& costs_;
  const PartsOptions& options_;
  RepeatedParts repeated_;
  std::optional<LayoutChoice> layouts_;
  const Stopwatch watch_;
  Candidate current_;
  std::vector<uint64_t> cut_hashes_;          // current hashes of the values after which the graph was cut
  std::vector<CostModel*> costs_of_threads_;  // only one if costs are measured
  std::vector<std::unique_ptr<CostModel>> copies_;
  std::shared_ptr<const RefusedWeights> refused_;  // before the parts were searched, and then before the cuts were
  std::mutex lock_;                                // of the evaluator
  SearchReport report_;
  std::optional<Ahead<SharedTask, Outcome>> ahead_;  // by search_key of the task; its threads end before all else
};

}  // namespace

Result<SearchResult> search_by_parts(const Candidate& whole, std::span<const Rule> rules, Evaluator& evaluator,
                                     const PartsOptions& options) {
  return SearchByParts(rules, evaluator, options).run(whole);
}

}  // namespace isomer
