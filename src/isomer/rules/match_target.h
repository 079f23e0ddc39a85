#pragma once
// What replaces the roots of a match, instantiated once for all graphs in which the match occurs.

#include <memory>
#include <vector>

#include "isomer/ir/graph.h"
#include "isomer/rules/match.h"

namespace isomer {

/// The target of a match's rule as a graph. Its inputs stand for the values that the match binds, and its outputs
/// replace the roots. It depends only on the types of the bound values and on the elements of bound constants, so
/// rewrites elsewhere leave it as it is.
class MatchTarget {
 public:
  MatchTarget(const Graph& graph, const Match& match) : graph_(instantiate(graph, match)) {}

  /// An Error, the reason, if the target is not valid there: a node is ill typed, a type differs from the type that it
  /// replaces, or a shape expression is not known.
  const Result<Graph>& graph() const { return graph_; }
  /// Returns the values of a match that the inputs of graph() stand for, in their order; kNoValue for an input that
  /// nothing reads.
  std::vector<ValueId> bound(const Match& match) const;

 private:
  Result<Graph> instantiate(const Graph& graph, const Match& match);

  std::vector<size_t> places_;  // by input: its place among the bound values of a match; kNowhere: nothing reads it
  Result<Graph> graph_;
};

/// Returns the target of a match: the one that it carries, or else a new one.
std::shared_ptr<const MatchTarget> target_of(const Graph& graph, const Match& match);
/// Gives its target to every match that carries none.
void keep_targets(const Graph& graph, std::span<Match> matches);

}  // namespace isomer
