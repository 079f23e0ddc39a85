#include "isomer/search/backtrack.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace isomer {

/// A candidate that was taken from the queue, and its history. Every node of this search is one.
struct BacktrackState : SearchNode {
  double settled = 0;           // cost of the nearest settled graph on the way here
  int64_t uphill = 0;           // steps since then
  std::vector<bool> made = {};  // nodes that these steps created
  mutable std::vector<std::weak_ptr<const BacktrackState>> next = {};  // by match, if states are kept
};

namespace {

/// Smaller differences of costs are rounding errors.
constexpr double kMinGain = 1e-9;
/// States are kept for later searches up to this number; they take some tens of kilobytes each.
constexpr size_t kMaxKept = 1000;

using State = BacktrackState;

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
  Backtrack(Backtracking::Kept& kept, const RuleIndex& rules, const CandidateCost& cost,
            const BacktrackOptions& options, std::vector<bool> dropped)
      : kept_(kept), options_(options), expansion_("backtrack", rules, cost, options.limits, std::move(dropped)) {}

  Result<FoundCandidate> run(const Candidate& first) {
    ISOMER_TRY(const auto begin, begin_with(first));
    expand(begin);
    while (!queue_.empty() && !expansion_.stopped()) {
      const QueuedCandidate next = queue_.top();
      queue_.pop();
      if (is_best(next) || within_cutoff(next.cost)) expand(build(next));
    }
    return expansion_.result(first);
  }

 private:
  Result<std::shared_ptr<const State>> begin_with(const Candidate& first) {
    if (!kept_.states.empty()) {
      expansion_.begin_again(*kept_.states[0]);
      return kept_.states[0];
    }
    ISOMER_TRY(SearchNode node, expansion_.begin(first));
    const double cost = node.cost;
    auto state = std::make_shared<const State>(State{std::move(node), cost});
    keep(state);
    return state;
  }

  /// Keeps a state for later searches, with room for what is learned about its successors.
  void keep(const std::shared_ptr<const State>& state) {
    if (!kept_.keep_states || kept_.states.size() >= kMaxKept) return;
    state->known.resize(state->matches.size());
    state->next.resize(state->matches.size());
    kept_.states.push_back(state);
  }

  bool within_cutoff(double cost) const { return cost < options_.alpha * expansion_.best().cost; }

  /// With alpha = 1 the best graph itself must be expanded, or the search would end with its first step.
  bool is_best(const Successor& successor) const {
    const Successor& best = expansion_.best();
    return successor.parent == best.parent && successor.match == best.match;
  }

  void expand(const std::shared_ptr<const State>& state) {
    const bool bound = options_.max_uphill > 0 && state->uphill > 0;
    std::function<bool(const Match&)> wanted = [](const Match&) { return true; };
    if (bound)
      wanted = [near = with_neighbours(state->graph, state->made)](const Match& match) {
        return std::ranges::any_of(match.nodes, [&](NodeId id) { return near[id]; });
      };
    expansion_.expand(*state, wanted);
    for (size_t i = 0; i < state->matches.size() && !expansion_.stopped(); ++i)
      if (wanted(state->matches[i])) consider(state, i);
  }

  void consider(const std::shared_ptr<const State>& state, size_t match) {
    const auto cost_after = expansion_.cost(*state, match);
    if (!cost_after) return;
    const double cost = *cost_after;
    const int64_t uphill = cost < state->settled - kMinGain ? 0 : state->uphill + 1;
    if (options_.max_uphill > 0 && uphill > options_.max_uphill) return;
    if (!(cost < expansion_.best().cost) && !within_cutoff(cost)) return;
    const QueuedCandidate candidate{{state, match, cost}, uphill, expansion_.candidates()};
    if (expansion_.keep(candidate)) queue_.push(candidate);
  }

  std::shared_ptr<const State> build(const QueuedCandidate& candidate) {
    const State& parent = parent_of(candidate);
    const bool remembers = candidate.match < parent.next.size();
    if (auto known = remembers ? parent.next[candidate.match].lock() : nullptr) {
      expansion_.count_matches(*known);
      return known;
    }
    std::vector<bool> made = parent.made;
    SearchNode node = expansion_.build(candidate, made);
    const bool settled = candidate.uphill == 0;
    auto state = std::make_shared<const State>(
        settled ? State{std::move(node), candidate.cost}
                : State{std::move(node), parent.settled, candidate.uphill, std::move(made)});
    keep(state);
    if (remembers) parent.next[candidate.match] = state;
    return state;
  }

  Backtracking::Kept& kept_;
  const BacktrackOptions& options_;
  Expansion expansion_;
  std::priority_queue<QueuedCandidate> queue_;
};

std::vector<bool> numbers_of(std::span<const Rule> rules, const std::set<std::string>& names) {
  std::vector<bool> out;
  if (names.empty()) return out;
  for (const Rule& rule : rules) out.push_back(names.contains(rule.name));
  return out;
}

}  // namespace

Result<FoundCandidate> Backtracking::run(const std::set<std::string>& without, int64_t candidates) {
  BacktrackOptions options = options_;
  options.limits.budget.candidates = candidates;
  return Backtrack(kept_, rules_, cost_, options, numbers_of(rules_.rules(), without)).run(first_);
}

Result<FoundCandidate> backtrack(const Candidate& first, std::span<const Rule> rules, const CandidateCost& cost,
                                 const BacktrackOptions& options) {
  return Backtracking(first, rules, cost, options, false).run({}, options.limits.budget.candidates);
}

}  // namespace isomer
