#pragma once
// Parts of a graph that repeat an earlier one, except for their weights: such a part is rewritten like the earlier one
// and not searched again.

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "isomer/search/expansion.h"

namespace isomer {

/// Returns a hash of all that a search for a part depends on, the order of its nodes included, but not of the elements
/// of weights that no rule can see.
uint64_t ordered_hash(const Graph& graph, const Boundary& boundary);

/// The results for the parts that were searched. Two parts are equal if they differ only in elements of weights that no
/// rule can see. Rules see the elements of uniform constants and of lists of integers.
class RepeatedParts {
 public:
  /// Keeps references to all arguments.
  RepeatedParts(std::span<const Rule> rules, Evaluator& evaluator);

  /// Stores what a search found for a part. Nothing is stored if the time ended the search, if the part has decisions,
  /// if a step is more than one application of a rule, or if memory counts: what is live outside differs between parts.
  void store(const Candidate& part, const Boundary& boundary, const FoundCandidate& found);
  /// Returns what equal parts have in common; nothing if what is found for this part is not stored.
  std::optional<uint64_t> key(const Candidate& part, const Boundary& boundary) const;
  /// Whether a result is stored for parts with this key.
  bool contains(uint64_t key) const { return results_.contains(key); }
  /// Returns the result of an equal part, derived for this part step by step. Its cost is `cost` of this part, and its
  /// report counts no candidates. Nothing if no equal part is stored, or if the result has another cost here, does not
  /// apply here, or makes a weight that cannot be folded.
  std::optional<FoundCandidate> find(const Candidate& part, const Boundary& boundary, const CandidateCost& cost) const;

 private:
  /// A match, by numbers that are the same in equal graphs.
  struct Place {
    const Rule* rule = nullptr;
    std::vector<NodeId> roots = {};
    size_t match = 0;  ///< among the matches of these roots
    CostChange change = {};
  };
  /// How a result is reached.
  struct Way {
    double cost_after = 0;
    std::vector<Place> places = {};
  };
  struct Stored {
    double cost_before = 0;
    std::string stop_reason = {};
    std::vector<Way> ways = {};  ///< to the best graph, and to the next best ones
  };

  /// Whether a result for the part can hold for an equal part.
  bool repeats(const Candidate& part) const;
  std::optional<std::pair<Place, Match>> place_of(const Graph& graph, const SearchStep& step) const;
  /// Returns the way from `graph`, in canonical order, to a result; nothing if a step is not one application of a rule.
  std::optional<Way> way_to(Graph graph, const FoundCandidate& found) const;
  /// Goes a way from `graph`, in canonical order: the graph of an equal part. Nothing if that is impossible.
  std::optional<FoundCandidate> go(const Candidate& part, double cost_before, Graph graph, const Way& way,
                                   const CandidateCost& cost) const;
  std::vector<Match> matches_at(const Graph& graph, const Place& place) const;

  std::unordered_map<uint64_t, const Rule*> rules_;  // by hash; only for lookups
  Evaluator& evaluator_;
  std::unordered_map<uint64_t, Stored> results_;  // by a hash of the part; only for lookups
};

}  // namespace isomer
