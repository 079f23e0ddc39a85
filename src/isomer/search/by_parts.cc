#include "isomer/search/by_parts.h"

#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "isomer/base/deadline.h"
#include "isomer/base/stopwatch.h"
#include "isomer/search/join_parts.h"
#include "isomer/search/matches.h"
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

class SearchByParts {
 public:
  SearchByParts(std::span<const Rule> rules, Evaluator& evaluator, const PartsOptions& options)
      : rules_(rules), evaluator_(evaluator), options_(options), parts_(rules, evaluator, options, report_) {}

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
  using SharedTask = PartSearcher::SharedTask;

  /// Searches the parts and joins the results.
  Status search_parts(const Candidate& whole, const Split& split) {
    ISOMER_TRY(const WholeValues values, parts_.values_of(whole));
    const size_t of = split.parts.size() + split.cuts.size();
    std::deque<SharedTask> tasks;
    for (const auto& nodes : split.parts) tasks.push_back(parts_.task_of(whole, values, nodes, tasks.size() + 1, of));
    parts_.search_ahead(tasks);
    std::vector<FoundCandidate> found;
    for (const SharedTask& task : tasks) {
      ISOMER_TRY(FoundCandidate better, parts_.search(*task, fmt::format("part {} of {}", task->number, tasks.size())));
      found.push_back(std::move(better));
    }
    for (const NodeId cut : split.cuts) cut_hashes_.push_back(whole.graph.value_hash(whole.graph.node(cut).result()));
    std::vector<FoundPart> all;
    for (size_t i = 0; i < found.size(); ++i) all.push_back({&tasks[i]->part, &found[i]});
    stitch(whole, all);
    parts_.keep_ahead({});
    parts_.learn_refused();
    return {};
  }

  /// Inserts the results of all parts. If the whole graph then costs more than before (it exceeds a limit that no part
  /// exceeds by itself, or kernels that crossed a boundary were cut), inserts one result after the other as long as the
  /// whole costs no more.
  void stitch(const Candidate& whole, std::span<const FoundPart> all) {
    if (!spoils(whole, splice(whole, all))) return replace(whole, all);
    std::vector<FoundPart> kept;
    Candidate last = whole;
    for (const FoundPart& one : all) {
      kept.push_back(one);
      Candidate next = splice(whole, kept);
      if (spoils(last, next))
        kept.pop_back();
      else
        last = std::move(next);
    }
    replace(whole, kept);
  }

  /// Whether `after` costs more than `before`, as far as the costs are known.
  bool spoils(const Candidate& before, const Candidate& after) {
    const auto is = evaluator_.cost(after), was = evaluator_.cost(before);
    return is && was && *was < *is;
  }

  /// Inserts results for parts into a candidate, which becomes the current one, and updates the cuts. A cut after a
  /// value that no longer exists moves down to the nearest one that does.
  void replace(const Candidate& whole, std::span<const FoundPart> parts) {
    const Graph& graph = whole.graph;
    Spliced spliced = splice(whole, parts);
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
    append_steps(graph, parts, current_.graph.hash(), report_.steps);
  }

  /// Searches around the cuts one after the other. Other threads search around the next ones: what they find still
  /// holds after an earlier cut has changed the graph, unless it has changed there.
  Status search_cuts() {
    const size_t window = parts_.threads() == 1 ? 1 : kCutsPerThread * parts_.threads();
    std::optional<WholeValues> values;
    std::deque<SharedTask> tasks;  // of the next cuts in the current graph
    for (size_t cut = 0; cut < cut_hashes_.size() && !options_.limits.budget.end.passed(); ++cut) {
      const bool anew = tasks.empty();
      if (anew) {
        auto now = parts_.values_of(current_);
        if (!now) return {};  // no time is left to measure around the cuts
        values = std::move(*now);
      }
      for (size_t next = cut + tasks.size(); tasks.size() < window && next < cut_hashes_.size(); ++next)
        tasks.push_back(
            parts_.task_of(current_, *values, around_value(cut_hashes_[next]), next + 1, cut_hashes_.size()));
      const SharedTask task = tasks.front();
      if (anew) {
        std::vector<uint64_t> keys;
        for (const SharedTask& each : tasks) keys.push_back(each->search_key);
        parts_.keep_ahead(keys);
      }
      parts_.search_ahead(tasks);
      tasks.pop_front();
      if (task->nodes.empty()) continue;
      ISOMER_TRY(const bool changed, search_cut(*task));
      if (changed) tasks.clear();
    }
    return {};
  }

  /// Searches around a cut. Returns whether the current graph changed.
  Result<bool> search_cut(const PartTask& task) {
    ISOMER_TRY(const FoundCandidate better,
               parts_.search(task, fmt::format("around cut {} of {}", task.number, task.of)));
    const FoundPart found{&task.part, &better};
    if (better.hash() == task.part.hash() || spoils(current_, splice(current_, {&found, 1}))) return false;
    replace(Candidate(current_), {&found, 1});
    return true;
  }

  /// Returns nodes around the one that makes a value; empty if it no longer exists, or if a part became one of its own
  /// inputs there.
  std::vector<NodeId> around_value(uint64_t hash) const {
    const Graph& graph = current_.graph;
    for (ValueId value = 0; value < graph.num_values(); ++value)
      if (graph.value_hash(value) == hash && graph.runs(graph.producer_node(value)))
        return around(graph, graph.producer(value), options_.split);
    return {};
  }

  const std::span<const Rule> rules_;
  Evaluator& evaluator_;
  const PartsOptions& options_;
  const Stopwatch watch_;
  Candidate current_;
  std::vector<uint64_t> cut_hashes_;  // current hashes of the values after which the graph was cut
  SearchReport report_;
  PartSearcher parts_;
};

}  // namespace

Result<SearchResult> search_by_parts(const Candidate& whole, std::span<const Rule> rules, Evaluator& evaluator,
                                     const PartsOptions& options) {
  return SearchByParts(rules, evaluator, options).run(whole);
}

}  // namespace isomer
