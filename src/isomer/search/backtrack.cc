#include "isomer/search/backtrack.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace isomer {
namespace {

/// Smaller differences of costs are rounding errors.
constexpr double kMinGain = 1e-9;

/// A candidate that was taken from the queue, and its history. Every node of this search is one.
struct State : SearchNode {
  double settled = 0;           // cost of the nearest settled graph on the way here
  int64_t uphill = 0;           // steps since then
  std::vector<bool> made = {};  // nodes that these steps created
};

const State& parent_of(const Successor& successor) { return static_cast<const State&>(*successor.parent); }

/// A candidate that has a cost but has not been expanded.
struct QueuedCandidate : Successor {
  int64_t uphill = 0;
  int64_t number = 0;  // in order of creation; breaks ties between equal costs

  /// Orders a priority queue whose top is expanded next.
  friend bool operator<(const QueuedCandidate& a, const QueuedCandidate& b) {
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
  Backtrack(std::span<const Rule> rules, const CandidateCost& cost, const BacktrackOptions& options)
      : options_(options), expansion_("backtrack", rules, cost, options.limits) {}

  Result<FoundCandidate> run(const Candidate& first) {
    ISOMER_TRY(SearchNode node, expansion_.begin(first));
    const double cost = node.cost;
    expand(std::make_shared<State>(State{std::move(node), cost}));
    while (!queue_.empty() && !expansion_.stopped()) {
      const QueuedCandidate next = queue_.top();
      queue_.pop();
      if (is_best(next) || within_cutoff(next.cost)) expand(build(next));
    }
    return expansion_.result(first);
  }

 private:
  bool within_cutoff(double cost) const { return cost < options_.alpha * expansion_.best().cost; }

  /// With alpha = 1 the best graph itself must be expanded, or the search would end with its first step.
  bool is_best(const Successor& successor) const {
    const Successor& best = expansion_.best();
    return successor.parent == best.parent && successor.match == best.match;
  }

  void expand(const std::shared_ptr<const State>& state) {
    const bool bound = options_.max_uphill > 0 && state->uphill > 0;
    const std::vector<bool> near = bound ? with_neighbours(state->graph, state->made) : std::vector<bool>();
    for (size_t i = 0; i < state->matches.size() && !expansion_.stopped(); ++i) {
      if (bound && std::ranges::none_of(state->matches[i].nodes, [&](NodeId id) { return near[id]; })) continue;
      consider(state, i);
    }
  }

  void consider(const std::shared_ptr<const State>& state, size_t match) {
    const auto costed = expansion_.cost(*state, match);
    if (!costed) return;
    const double cost = costed->cost;
    const int64_t uphill = cost < state->settled - kMinGain ? 0 : state->uphill + 1;
    if (options_.max_uphill > 0 && uphill > options_.max_uphill) return;
    if (!(cost < expansion_.best().cost) && !within_cutoff(cost)) return;
    const QueuedCandidate candidate{{state, match, cost}, uphill, expansion_.candidates()};
    if (expansion_.keep(candidate, costed->graph)) queue_.push(candidate);
  }

  std::shared_ptr<const State> build(const QueuedCandidate& candidate) {
    const State& parent = parent_of(candidate);
    std::vector<bool> made = parent.made;
    SearchNode node = expansion_.build(candidate, made);
    if (candidate.uphill == 0) return std::make_shared<State>(State{std::move(node), candidate.cost});
    return std::make_shared<State>(State{std::move(node), parent.settled, candidate.uphill, std::move(made)});
  }

  const BacktrackOptions& options_;
  Expansion expansion_;
  std::priority_queue<QueuedCandidate> queue_;
};

}  // namespace

Result<FoundCandidate> backtrack(const Candidate& first, std::span<const Rule> rules, const CandidateCost& cost,
                                 const BacktrackOptions& options) {
  return Backtrack(rules, cost, options).run(first);
}

}  // namespace isomer
