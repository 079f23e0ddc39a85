#include "isomer/search/backtrack.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_set>

#include "isomer/rules/rewrite.h"
#include "isomer/search/everywhere.h"
#include "isomer/search/matches.h"
#include "isomer/search/step.h"

namespace isomer {
namespace {

/// Below this, costs differ by rounding alone.
constexpr double kLeastGain = 1e-9;

/// A graph that was taken from the queue, and how it came about.
struct State {
  Graph graph;
  std::vector<Match> matches;
  double cost = 0;
  double settled = 0;           // cost of the nearest graph on the way that every step before had paid for
  int unpaid = 0;               // steps since then
  std::vector<bool> made = {};  // nodes that these steps made
  std::shared_ptr<const State> parent = nullptr;
  size_t match = 0;  // of the parent
};

/// A graph that has a cost but has not been kept.
struct Candidate {
  double cost = 0;
  int unpaid = 0;
  int64_t number = 0;  // in the order in which they were made; decides between equal costs
  std::shared_ptr<const State> parent;
  size_t match = 0;

  /// For a queue whose top is what to look at next.
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return std::tie(a.unpaid, a.cost, a.number) > std::tie(b.unpaid, b.cost, b.number);
  }
};

/// Marked nodes, and those that read them or that they read.
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
      : rules_(rules), cost_(cost), options_(options) {}

  Result<BacktrackResult> run(const Graph& graph) {
    ISOMER_TRY(const double cost, cost_(graph));
    report_.algorithm = "backtrack";
    most_ops_ = static_cast<size_t>(options_.most_growth * static_cast<double>(run_time_ops(graph))) + 4;
    seen_.insert(graph.hash());
    auto root =
        std::make_shared<State>(State{graph, all_matches(graph, rules_, SIZE_MAX, options_.deadline), cost, cost});
    report_.matches = static_cast<int64_t>(root->matches.size());
    best_ = {cost, 0, 0, nullptr, 0};
    expand(root);
    while (!queue_.empty() && !stopped()) {
      const Candidate next = queue_.top();
      queue_.pop();
      if (worth_keeping(next)) expand(materialize(next));
    }
    if (report_.stop_reason.empty()) report_.stop_reason = "exhausted";
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return result(graph, cost);
  }

 private:
  /// With alpha = 1 the best itself must stay, or the search would end with its first step.
  bool worth_keeping(const Candidate& candidate) const {
    return candidate.number == best_.number || candidate.cost < options_.alpha * best_.cost;
  }

  bool stopped() {
    if (report_.candidates >= options_.max_candidates) report_.stop_reason = "candidate budget";
    if (options_.deadline.passed()) report_.stop_reason = options_.deadline.reason();
    return !report_.stop_reason.empty();
  }

  void expand(const std::shared_ptr<const State>& state) {
    const bool bound = options_.most_unpaid > 0 && state->unpaid > 0;
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
    const auto graph = apply_match(state->graph, state->matches[match], options_.refused);
    if (!graph || run_time_ops(*graph) > most_ops_) return;
    const auto cost = cost_(*graph);
    if (!cost) return;
    const int unpaid = *cost < state->settled - kLeastGain ? 0 : state->unpaid + 1;
    const Candidate candidate{*cost, unpaid, ++report_.candidates, state, match};
    if (options_.most_unpaid > 0 && unpaid > options_.most_unpaid) return;
    if (!(candidate.cost < best_.cost) && !worth_keeping(candidate)) return;
    if (!options_.admits(*graph)) return;
    if (candidate.cost < best_.cost) {
      if (!options_.foldable(*graph)) return;
      best_ = candidate;
    }
    queue_.push(candidate);
  }

  std::shared_ptr<const State> materialize(const Candidate& candidate) {
    const State& parent = *candidate.parent;
    const Match& match = parent.matches[candidate.match];
    auto graph = apply_match(parent.graph, match);
    const auto delta = delta_of(parent.graph, match);
    Inherited inherited = inherit({parent.graph, parent.matches, *delta, parent.made}, *graph, rules_);
    report_.matches += static_cast<int64_t>(inherited.matches.size());
    auto state = std::make_shared<State>(State{std::move(*graph), std::move(inherited.matches), candidate.cost});
    state->settled = candidate.unpaid > 0 ? parent.settled : candidate.cost;
    state->unpaid = candidate.unpaid;
    if (candidate.unpaid > 0) state->made = std::move(inherited.marks);
    state->parent = candidate.parent;
    state->match = candidate.match;
    return state;
  }

  BacktrackResult result(const Graph& graph, double cost) {
    BacktrackResult out{graph, cost, best_.cost, std::move(report_)};
    if (best_.parent == nullptr) return out;
    std::vector<const State*> path;  // from the best graph's parent up
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
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::priority_queue<Candidate> queue_;
  std::unordered_set<uint64_t> seen_;
  Candidate best_;
  SearchReport report_;
  size_t most_ops_ = 0;
};

}  // namespace

Result<BacktrackResult> backtrack(const Graph& graph, std::span<const Rule> rules, const GraphCost& cost,
                                  const BacktrackOptions& options) {
  return Backtrack(rules, cost, options).run(graph);
}

}  // namespace isomer
