#pragma once
// Searches parts of graphs, each by itself: equal parts only once and, if costs are not measured, several at the same
// time.

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isomer/base/ahead.h"
#include "isomer/base/observer.h"
#include "isomer/search/expansion.h"
#include "isomer/search/layouts.h"
#include "isomer/search/part.h"
#include "isomer/search/repeated_parts.h"

namespace isomer {

/// Returns the cheapest candidate that a search finds for a part. Fails only if the part itself has no cost.
using PartSearch = std::function<Result<FoundCandidate>(const Candidate& part, std::span<const Rule> rules,
                                                        const CandidateCost& cost, const SearchLimits& limits)>;

/// When layouts are chosen together, instead of kernel by kernel in the plan (search/layouts.h).
enum class LayoutTime : uint8_t {
  Never,
  AfterSearch,    ///< for the result of each part
  EachCandidate,  ///< candidates cost what they cost with the layouts chosen for them (TASO, section 2.7)
};

/// Returns the meaning of the option --layout.
LayoutTime layout_time(std::string_view option);

/// How parts are searched.
struct PartsOptions {
  std::string algorithm = {};  ///< for the report
  PartSearch search = nullptr;
  /// Maximum number of operators per part.
  size_t split = static_cast<size_t>(SearchOptions().split);
  LayoutTime layouts = LayoutTime::Never;  ///< no effect unless the costs obey decisions about layouts
  /// Of each part, but the time is that of all parts together. The evaluator of the searcher is used.
  SearchLimits limits = {};
  /// How many parts are searched at the same time, if costs are not measured. The result does not depend on it, unless
  /// a time limit ends the search of a part.
  int threads = 1;
  Observer observer = {};
};

/// Layouts and sizes of the values of a graph, which searches of its parts need.
struct WholeValues {
  std::vector<Layout> layouts;
  std::vector<double> bytes;
};

/// A part of a graph that is to be searched.
struct PartTask {
  size_t number = 0;  ///< of the `of` parts that are searched; determines its share of the time
  size_t of = 0;
  std::vector<NodeId> nodes = {};  ///< empty: there is nothing to search
  Part part = {};
  Boundary boundary = {};
  double bytes_beside = 0;                                  ///< live outside of the part while it runs
  uint64_t search_key = 0;                                  ///< equal for tasks for which a search finds the same
  std::optional<uint64_t> repeat_key = {};                  ///< RepeatedParts::key
  std::shared_ptr<const RefusedWeights> refused = nullptr;  ///< when it was made
};

class PartSearcher {
 public:
  using SharedTask = std::shared_ptr<const PartTask>;

  /// Keeps references. `report` gets the counts of all searches.
  PartSearcher(std::span<const Rule> rules, Evaluator& evaluator, const PartsOptions& options, SearchReport& report);

  /// An Error if something would have to be measured after the deadline.
  Result<WholeValues> values_of(const Candidate& whole);
  /// Returns the task to search a convex set of nodes that run, in ascending order.
  SharedTask task_of(const Candidate& whole, const WholeValues& values, std::vector<NodeId> nodes, size_t number,
                     size_t of);
  /// Returns the best graph found for a part: that of an earlier search if it repeats one. If no time is left for a
  /// search, returns the part as it is.
  Result<FoundCandidate> search(const PartTask& task, const std::string& name);

  /// Lets other threads search the tasks after the first that nothing is known about. Of equal parts, only the first is
  /// searched.
  void search_ahead(const std::deque<SharedTask>& tasks);
  /// Abandons what is searched ahead, except for tasks with these search keys.
  void keep_ahead(std::span<const uint64_t> keys);
  /// Lets tasks that are made from now on know all weights that were refused.
  void learn_refused();
  /// Returns how many parts are searched at the same time.
  size_t threads() const { return costs_of_threads_.size(); }

 private:
  /// What a search found, the weights that it refused, and when and on which thread it took place.
  struct Outcome {
    Result<FoundCandidate> found;
    RefusedWeights refused;
    size_t thread;
    double start_us;
    double duration_us;
  };

  /// Returns the result of an earlier search for an equal part.
  std::optional<FoundCandidate> repetition_of(const PartTask& task);
  /// Returns what another thread has found for a part; nothing if it has not begun.
  std::optional<Outcome> found_ahead(const PartTask& task);
  /// Searches a part on a thread, for its share of the remaining time. What it finds depends on nothing that other
  /// threads do.
  Outcome search_alone(const PartTask& task, size_t thread, const Deadline& end);
  void refuse(const RefusedWeights& weights);
  /// Returns the costs of candidates for a part.
  CandidateCost cost_of(const PartTask& task, CostModel& costs);
  Result<double> cost_as_it_is(const Candidate& candidate, const PartTask& task, CostModel& costs) const;
  /// Decides the layouts of a part's values, if that lowers its cost. Returns the cost.
  Result<double> decide_layouts(Candidate& part, const PartTask& task, CostModel& costs);
  void note(TraceScope& scope, const PartTask& task, const FoundCandidate& found) const;

  const std::span<const Rule> rules_;
  Evaluator& evaluator_;
  CostModel& costs_;
  const PartsOptions& options_;
  SearchReport& report_;
  RepeatedParts repeated_;
  std::optional<LayoutChoice> layouts_;
  std::vector<CostModel*> costs_of_threads_;  // only one if costs are measured
  std::vector<TargetCache> targets_of_threads_;
  std::vector<std::unique_ptr<CostModel>> copies_;
  std::shared_ptr<const RefusedWeights> refused_;    // known to tasks that are made now
  std::mutex lock_;                                  // of the evaluator
  std::optional<Ahead<SharedTask, Outcome>> ahead_;  // by search_key of the task; its threads end before all else
};

}  // namespace isomer
