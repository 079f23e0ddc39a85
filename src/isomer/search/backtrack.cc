#include "isomer/search/backtrack.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_set>

#include "isomer/base/stopwatch.h"
#include "isomer/rules/rewrite.h"
#include "isomer/search/everywhere.h"
#include "isomer/search/matches.h"
#include "isomer/search/step.h"

namespace isomer {
namespace {

/// Smaller differences of costs are rounding errors.
constexpr double kLeastGain = 1e-9;

/// A graph that was taken from the queue, and its history.
struct State {
  Graph graph;
  std::vector<Match> matches;
  double cost = 0;
  double settled = 0;           // cost of the nearest settled graph on the way here
  int uphill = 0;               // steps since then
  std::vector<bool> made = {};  // nodes that these steps created
  std::shared_ptr<const State> parent = nullptr;
  size_t match = 0;  // of the parent
};

/// A candidate that has a cost but has not been expanded.
struct QueuedGraph {
  double cost = 0;
  int uphill = 0;
  int64_t number = 0;  // in order of creation; breaks ties between equal costs
  std::shared_ptr<const State> parent;
  size_t match = 0;

  /// Orders a priority queue whose top is expanded next.
  friend bool operator<(const QueuedGraph& a, const QueuedGraph& b) {
    return std::tie(a.uphill, a.cost, a.number) > std::tie(b.uphill, b.cost, b.number);
  }
};

/// Returns the marked nodes, their readers and their operands.
std::vector<bool> with_neighbours(const Graph& graph, const std::vector<bool>& marked) {
  std::vector<bool> out = marked;
  for (NodeId id = 0; id < marked.size(); ++id) {
    for (const ValueId operand : graph.operands(graph.node(id))) {
      if (operand == kNoValue) continue;
      const NodeId above = graph.producer(operand);
      if (marked[id]) out[above] = true;
      if (marked[above]) out[id] = true;
    }
  }
  return out;
}

class Backtrack {
 public:
  Backtrack(std::span<const Rule> rules, const GraphCost& cost, const BacktrackOptions& options)
      : rules_(rules),
        cost_(cost),
        options_(options),
        refused_(options.evaluator == nullptr ? nullptr : options.evaluator->refused()) {}

  Result<BacktrackResult> run(const Graph& graph) {
    ISOMER_TRY(const double cost, cost_(graph));
    report_.algorithm = "backtrack";
    max_ops_ = static_cast<size_t>(options_.max_growth * static_cast<double>(run_time_ops(graph))) + 4;
    seen_.insert(graph.hash());
    auto root =
        std::make_shared<State>(State{graph, all_matches(graph, rules_, SIZE_MAX, options_.deadline), cost, cost});
    report_.matches = static_cast<int64_t>(root->matches.size());
    best_ = {cost, 0, 0, nullptr, 0};
    expand(root);
    while (!queue_.empty() && !stopped()) {
      const QueuedGraph next = queue_.top();
      queue_.pop();
      if (worth_keeping(next)) expand(materialize(next));
    }
    if (report_.stop_reason.empty()) report_.stop_reason = "exhausted";
    report_.seconds = watch_.seconds();
    return result(graph, cost);
  }

 private:
  /// With alpha = 1 the best graph itself must stay, or the search would end with its first step.
  bool worth_keeping(const QueuedGraph& candidate) const {
    return candidate.number == best_.number || candidate.cost < options_.alpha * best_.cost;
  }

  bool stopped() {
    if (report_.candidates >= options_.max_candidates) report_.stop_reason = "candidate budget";
    if (options_.deadline.passed()) report_.stop_reason = options_.deadline.reason();
    return !report_.stop_reason.empty();
  }

  void expand(const std::shared_ptr<const State>& state) {
    const bool bound = options_.max_uphill > 0 && state->uphill > 0;
    const std::vector<bool> near = bound ? with_neighbours(state->graph, state->made) : std::vector<bool>();
    for (size_t i = 0; i < state->matches.size() && !stopped(); ++i) {
      if (bound && std::ranges::none_of(state->matches[i].nodes, [&](NodeId id) { return near[id]; })) continue;
      const auto delta = delta_of(state->graph, state->matches[i]);
      if (!delta) continue;
      if (!seen_.insert(delta->hash).second) {
        ++report_.duplicates;
        continue;
      }
      consider(state, i);
    }
  }

  void consider(const std::shared_ptr<const State>& state, size_t match) {
    const auto graph = apply_match(state->graph, state->matches[match], refused_);
    if (!graph || run_time_ops(*graph) > max_ops_) return;
    const auto cost = cost_(*graph);
    if (!cost) return;
    const int uphill = *cost < state->settled - kLeastGain ? 0 : state->uphill + 1;
    const QueuedGraph candidate{*cost, uphill, ++report_.candidates, state, match};
    if (options_.max_uphill > 0 && uphill > options_.max_uphill) return;
    if (!(candidate.cost < best_.cost) && !worth_keeping(candidate)) return;
    if (options_.evaluator != nullptr && !options_.evaluator->admits(*graph)) return;
    if (candidate.cost < best_.cost) {
      if (options_.evaluator != nullptr && !options_.evaluator->foldable(*graph)) return;
      best_ = candidate;
    }
    queue_.push(candidate);
  }

  std::shared_ptr<const State> materialize(const QueuedGraph& candidate) {
    const State& parent = *candidate.parent;
    const Match& match = parent.matches[candidate.match];
    auto graph = apply_match(parent.graph, match);
    const auto delta = delta_of(parent.graph, match);
    Inherited inherited = inherit({parent.graph, parent.matches, *delta, parent.made}, *graph, rules_);
    report_.matches += static_cast<int64_t>(inherited.matches.size());
    auto state = std::make_shared<State>(State{std::move(*graph), std::move(inherited.matches), candidate.cost});
    state->settled = candidate.uphill > 0 ? parent.settled : candidate.cost;
    state->uphill = candidate.uphill;
    if (candidate.uphill > 0) state->made = std::move(inherited.marks);
    state->parent = candidate.parent;
    state->match = candidate.match;
    return state;
  }

  BacktrackResult result(const Graph& graph, double cost) {
    BacktrackResult out{graph, cost, best_.cost, std::move(report_)};
    if (best_.parent == nullptr) return out;
    std::vector<const State*> path;  // from the best graph's parent up to the root
    for (const State* state = best_.parent.get(); state != nullptr; state = state->parent.get()) path.push_back(state);
    for (size_t i = path.size(); i-- > 0;) {
      const State& from = *path[i];
      const bool last = i == 0;
      const size_t match = last ? best_.match : path[i - 1]->match;
      Graph after = last ? *apply_match(from.graph, from.matches[match]) : path[i - 1]->graph;
      const double change = (last ? best_.cost : path[i - 1]->cost) - from.cost;
      out.report.steps.push_back(step_of(from.graph, from.matches[match], after, change));
      if (last) out.graph = std::move(after);
    }
    return out;
  }

  const std::span<const Rule> rules_;
  const GraphCost& cost_;
  const BacktrackOptions& options_;
  const RefusedWeights* const refused_;
  const Stopwatch watch_;
  std::priority_queue<QueuedGraph> queue_;
  std::unordered_set<uint64_t> seen_;
  QueuedGraph best_;
  SearchReport report_;
  size_t max_ops_ = 0;
};

}  // namespace

Result<BacktrackResult> backtrack(const Graph& graph, std::span<const Rule> rules, const GraphCost& cost,
                                  const BacktrackOptions& options) {
  return Backtrack(rules, cost, options).run(graph);
}

}  // namespace isomer
