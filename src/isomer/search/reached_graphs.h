#pragma once
// The graphs that sequences of substitutions lead to. Each is built and costed once, however many sequences lead to it.

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "isomer/search/expansion.h"

namespace isomer {

/// What limits a search over sequences of substitutions (OCGGS, Fang et al., PVLDB 2020).
struct SequenceOptions {
  /// The maximum length is the paper's K. All graphs are stored, so the bytes count.
  SearchLimits limits = {};
  /// Called with the hash of each graph that may be kept, once, in the order in which they are reached. The first is
  /// that of the graph that the search begins with.
  std::function<void(uint64_t)> reached = {};
};

/// Returns the approximate number of bytes that a node occupies.
int64_t bytes_of(const SearchNode& node);

/// The graphs that a search has reached, with their costs. Decisions are carried along, but only graphs count: if
/// sequences lead to one graph with different decisions, the candidate that is found first is kept.
class ReachedGraphs {
 public:
  /// As in Expansion. All arguments must outlive the object, which must outlive the nodes that it stores.
  ReachedGraphs(const char* algorithm, std::span<const Rule> rules, const CandidateCost& cost,
                const SequenceOptions& options);

  /// Returns the first candidate with all its matches. An Error if it has no cost.
  Result<SearchNode> begin(const Candidate& first);
  /// Whether a limit ends the search; the report then gets the reason.
  bool stopped();

  struct Visit {
    bool fresh = false;          ///< reached for the first time
    std::optional<double> cost;  ///< nothing if the graph is refused: it grows too large, or may not be kept
  };
  /// The graph with this hash (delta_of), to which a match of `parent` leads. It is built only if it is new.
  Visit visit(const std::shared_ptr<const SearchNode>& parent, size_t match, uint64_t hash);
  /// Whether a graph was refused so far.
  bool any_refused() const { return any_refused_; }

  /// Builds the candidate of a successor and finds all its matches anew.
  SearchNode rematched(const Successor& successor);
  /// Builds the same with matches that are inherited from the parent (Expansion::build). `marks` become the nodes that
  /// the step made, and those that correspond to marked nodes of the parent.
  SearchNode inherited(const Successor& successor, std::vector<bool>& marks);

  /// Stores a node. Its bytes count until it is destroyed.
  template <class Node>
  std::shared_ptr<const Node> store(Node node) {
    return std::make_shared<const Counted<Node>>(std::move(node), bytes_);
  }

  /// Returns the best candidate and the steps from `first` to it. Ends the search.
  FoundCandidate result(const Candidate& first);

 private:
  template <class Node>
  struct Counted : Node {
    Counted(Node node, int64_t& all) : Node(std::move(node)), bytes(bytes_of(*this)), total(all) { total += bytes; }
    ~Counted() { total -= bytes; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

    const int64_t bytes;
    int64_t& total;
  };

  const RuleIndex rules_;
  const SequenceOptions& options_;
  int64_t bytes_ = 0;  // before everything that holds nodes
  Expansion expansion_;
  std::unordered_map<uint64_t, std::optional<double>> costs_;  // by hash; nothing: refused
  bool any_refused_ = false;
  int64_t duplicates_ = 0;
  int64_t matches_ = 0;
};

}  // namespace isomer
