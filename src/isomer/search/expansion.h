#pragma once
// What the searches over candidates share: building those that are one rewrite away, and the way back from the best
// one.

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "isomer/base/stopwatch.h"
#include "isomer/rules/match.h"
#include "isomer/rules/preview.h"
#include "isomer/rules/target_cache.h"
#include "isomer/search/evaluator.h"
#include "isomer/search/options.h"
#include "isomer/search/report.h"
#include "isomer/search/rule_index.h"

namespace isomer {

/// Returns the cost of a candidate. An Error means that the cost is unavailable; the search then skips the candidate.
using CandidateCost = std::function<Result<double>(const Candidate&)>;

/// Whether two costs are equal: those of equal graphs are sums of the same numbers, in an order that may differ.
inline bool equal_costs(double a, double b) {
  constexpr double kRounding = 1e-9;
  return std::abs(a - b) <= kRounding * std::abs(a);
}

/// What limits a search over candidates.
struct SearchLimits {
  Budget budget = {.candidates = SearchOptions().max_candidates};
  /// Maximum number of operators of a graph, as a multiple of the first graph's (plus a small constant); 0: any number.
  /// Without this limit, rules that turn one operator into several would fill a search with graphs of equal cost.
  double max_growth = SearchOptions().max_growth;
  /// Maximum number of substitutions from the first graph to another one.
  int64_t max_length = std::numeric_limits<int64_t>::max();
  /// Decides which graphs may be kept (`admits`), and whether the weights of a graph that would become the best can be
  /// folded. Its costs are not used. nullptr: all graphs may be kept.
  Evaluator* evaluator = nullptr;
  /// Not nullptr only if the cost of each candidate is the evaluator's objective of these costs, and depends on no
  /// memory and no critical path. Candidates can then be costed without being built.
  CostModel* costs = nullptr;
  /// Targets that searches with the same Rule objects have in common, if they take turns. nullptr: a search has its
  /// own.
  TargetCache* targets = nullptr;
  /// How many of the next best graphs the result has, in addition to the best one (FoundCandidate::others).
  size_t others = 0;
};

/// The result of considering a match: whether its candidate is valid, its hash and its cost. For the same limits and
/// costs it depends on nothing but the graph, the match and the refused weights, so a later search that comes to the
/// same graph on the same way need not compute it again.
struct KnownSuccessor {
  enum State : uint8_t { Unknown, Invalid, Hashed, Refused, Outgrown, Uncosted, Costed };
  State state = Unknown;
  std::optional<bool> admitted = std::nullopt;
  uint64_t hash = 0;
  double cost = 0;
  size_t refused = 0;  ///< number of weights that were refused when the rest was computed
};

/// A candidate with its matches, and the step that led to it.
struct SearchNode : Candidate {
  mutable std::vector<Match> matches = {};  ///< Expansion::cost gives them their targets
  double cost = 0;
  std::shared_ptr<const SearchNode> parent = nullptr;
  size_t match = 0;    ///< index into the parent's matches
  int64_t length = 0;  ///< number of substitutions from the first graph
  /// By match; empty: nothing is remembered.
  mutable std::vector<KnownSuccessor> known = {};
};

/// A candidate that has a cost but is not stored: the parent and the match that lead to it.
struct Successor {
  std::shared_ptr<const SearchNode> parent = nullptr;
  size_t match = 0;
  double cost = 0;
};

/// The result of a search over candidates.
struct FoundCandidate : Candidate {
  double cost_before = 0;
  double cost_after = 0;
  /// The substitutions from the first graph to `graph`, each with its change of the cost. `stop_reason` is that of the
  /// budget; "growth limit" if only graphs that grew too large are left; or "exhausted".
  SearchReport report = {};
  /// The next best graphs, cheapest first, as many as the limits ask for. Only backtracking and beam search have them.
  /// Their reports have steps only.
  std::vector<FoundCandidate> others = {};
};

/// The candidates that a search has seen, and the best of them.
class Expansion {
 public:
  /// `algorithm` is the name for the report. `dropped`: rules whose matches are skipped, by number; empty: none. All
  /// other arguments must outlive the expansion.
  Expansion(const char* algorithm, const RuleIndex& rules, const CandidateCost& cost, const SearchLimits& limits,
            std::vector<bool> dropped = {});
  Expansion(const Expansion&) = delete;  // it may refer to its own targets
  Expansion& operator=(const Expansion&) = delete;
  ~Expansion();

  /// Returns the first candidate with all its matches; it is also the best so far. An Error if it has no cost.
  Result<SearchNode> begin(const Candidate& first);
  /// Begins with a node that `begin` of another expansion returned, for the same rules and limits.
  void begin_again(const SearchNode& first);
  /// Whether a limit ends a search that stores so many bytes; the report then gets the reason.
  bool stopped(int64_t stored = 0);
  /// Returns the cost of the candidate that a match leads to. Without decisions, duplicates are recognized by their
  /// hash before they are built. Nothing if it is a duplicate, grows too large, is too many steps away or has no cost.
  std::optional<double> cost(const SearchNode& parent, size_t match);
  /// Announces that successors of this node are costed next, in the order of its matches; only those of matches that
  /// `wanted` accepts (nullptr: all). Without this, all of them are built, and none are measured together.
  void expand(const SearchNode& node, std::function<bool(const Match&)> wanted = nullptr);
  /// Whether the graph that `successor` leads to may be kept. If it is the cheapest so far, it becomes the best.
  bool keep(const Successor& successor);
  /// Builds the candidate of a successor and its matches. They are inherited from the parent, as are `marks`, marked
  /// nodes of the parent, which become those of the new graph.
  SearchNode build(const Successor& successor, std::vector<bool>& marks);
  /// Counts the matches of a node that another expansion has built.
  void count_matches(const SearchNode& node);

  const Successor& best() const { return best_; }
  int64_t candidates() const { return report_.candidates; }
  /// Returns the best candidate and the steps from `first` to it. Ends the search.
  FoundCandidate result(const Candidate& first);

 private:
  /// Costs rewrites of one graph without building what they lead to.
  struct Previews {
    explicit Previews(const Graph& graph, std::unique_ptr<RewriteCosts> of) : preview(graph), costs(std::move(of)) {}
    RewritePreview preview;
    std::unique_ptr<RewriteCosts> costs;
    std::vector<bool> admitted = {};  // by node of the graph: its form is among the admitted ones
  };
  /// A candidate that was built, and how it was reached.
  struct Built : Candidate {
    const SearchNode* parent = nullptr;
    size_t match = 0;
  };

  /// Whether a candidate with this hash is seen for the first time. Counts duplicates.
  bool is_new(uint64_t hash);
  bool dropped(const Match& match) const;
  size_t refused_weights() const { return refused_ == nullptr ? 0 : refused_->size(); }
  /// As `cost`, of a candidate with decisions.
  std::optional<double> decided_cost(const SearchNode& parent, size_t match);
  /// Builds and costs a candidate without decisions; `known` becomes what it is. `delta`: of the match, if it is known.
  void evaluate(const SearchNode& parent, size_t match, std::optional<Delta> delta, KnownSuccessor& known);
  /// Whether successors of this node can be costed without being built.
  bool can_preview(const SearchNode& parent);
  /// As `evaluate`, without building the candidate. False if it must be built.
  bool preview(const SearchNode& parent, size_t match, std::optional<Delta> delta, KnownSuccessor& known);
  /// Whether an admitted graph had each of these forms, so that a graph of these nodes is admitted too.
  bool forms_admitted(const RunNodes& nodes) const;
  void note_admitted(const Graph& graph);
  bool outgrows(const Graph& graph) const;
  /// Returns the next successor of the expanded node that will have to be costed, if its kernels are not known.
  const Candidate* next_expected();
  bool admitted(const Successor& successor);
  /// Returns the graph of a successor, which is built unless it was the last one.
  const Graph& graph_of(const Successor& successor);
  /// Remembers a graph that is not the best, if it is one of the next best.
  void keep_as_other(const Successor& successor);
  /// Returns a candidate and the steps from `first` to it.
  FoundCandidate found(const Candidate& first, const Successor& successor) const;

  const RuleIndex& rules_;
  const CandidateCost& cost_;
  const SearchLimits& limits_;
  const RefusedWeights* const refused_;
  TargetCache own_targets_;
  TargetCache& targets_;
  const std::vector<bool> dropped_;  // by number of the rule
  const Stopwatch watch_;
  KnownSuccessor last_;  // that was costed, if nothing is remembered
  Built built_;
  const SearchNode* expanded_ = nullptr;  // whose successors are costed
  std::function<bool(const Match&)> wanted_ = nullptr;
  size_t next_ = 0;  // match of `expanded_` after those that are costed or expected
  Candidate expected_;
  std::unique_ptr<Previews> previews_;     // of its graph
  std::unordered_set<uint64_t> admitted_;  // forms of nodes in graphs that the evaluator admits
  std::unordered_set<uint64_t> seen_;
  Successor best_;
  std::vector<Successor> others_;  // the next best, cheapest first
  double first_cost_ = 0;
  SearchReport report_;
  double max_ops_ = std::numeric_limits<double>::infinity();
  bool outgrown_ = false;  // a graph was dropped because it grew too large
};

}  // namespace isomer
