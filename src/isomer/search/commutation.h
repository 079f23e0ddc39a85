#pragma once
// Which substitutions may change places: the order between substitutions that OCGGS's Pruning needs, repaired.

#include <span>
#include <vector>

#include "isomer/rules/delta.h"

namespace isomer {

/// What a substitution does to the values of its graph that it does not replace.
struct Footprint {
  /// False if its place matters in every sequence: its rule matches as many siblings as there are, a value that runs
  /// would become a weight, or the target does not read a value that the match binds. Then nodes above that value may
  /// be gone, and with them a root of another substitution.
  bool movable = false;
  /// The values that are no longer told apart afterwards: two of them become equal, or one becomes equal to a value
  /// that the target makes. Ascending; without weights and without the values that are replaced.
  std::vector<ValueId> ambiguous = {};
};

/// `delta` must be delta_of(graph, match).
Footprint footprint_of(const Graph& graph, const Match& match, const Delta& delta);

/// Tells whether a substitution can be applied before another one that was applied first, with the same result.
///
/// The paper orders two substitutions by the ones that created the nodes that they match. This is not enough (its
/// Theorem 4 does not hold): a substitution may redirect a value and create no node (x for T(T(x))), make operands
/// equal, make a node that exists already, or close a cycle between the roots of another one. Here two substitutions of
/// one graph commute only if neither replaces a value that the other one matches or binds, neither makes one of these
/// values ambiguous, and together they close no cycle. Then each still matches after the other, and both orders result
/// in the same graph.
class Commutation {
 public:
  /// `delta` must be delta_of(graph, first) and `footprint` that of `first`. Keeps references to the graph and the
  /// match.
  Commutation(const Graph& graph, const Match& first, const Footprint& footprint, const Delta& delta);

  /// Whether nothing that `first` does affects another match of the same graph, nor do they together close a cycle.
  bool spares(const Match& other) const;
  /// Whether nothing that a match with this footprint does affects `first`, if `spares` holds for it.
  bool spared_by(const Footprint& other) const;

 private:
  bool replaces(ValueId value) const;
  bool closes_cycle_with(const Match& other) const;

  const Graph& graph_;
  const Match& first_;
  const bool movable_;
  std::vector<bool> read_;       // by value: matched or bound by `first`
  std::vector<bool> ambiguous_;  // by value: in the footprint of `first`
  std::vector<bool> above_;      // by value: depends on a root; empty if `first` has one source
  std::vector<bool> below_;      // by value: something that `first` binds depends on it; empty as above
};

/// Returns a hash of a match that is the same in the graph after a rewrite. `value_hashes` has the content hash of each
/// value: in the match's graph, or in the graph after a rewrite (Delta::value_hashes).
uint64_t identity_of(const Match& match, std::span<const uint64_t> value_hashes);

/// Returns the content hashes of all values.
std::vector<uint64_t> value_hashes_of(const Graph& graph);

}  // namespace isomer
