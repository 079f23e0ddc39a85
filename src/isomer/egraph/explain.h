#pragma once
// Explains why two terms of an e-graph are equal: the merges between them, as a chain of whole terms.
//
// Unions only join different classes, so they form a forest, and between two equal ids there is one path (the proof
// forest of Nieuwenhuis and Oliveras, "Fast congruence closure and extensions", 2007, section 5, unrooted). A union by
// congruence is explained by chains for its children, which only need earlier unions (egg's flat explanations).

#include <memory>
#include <optional>

#include "isomer/egraph/egraph.h"

namespace isomer {

/// A term. The hash does not depend on the order of commutative operands: equal hashes mean equal terms.
struct ETerm {
  uint32_t label = 0;
  std::vector<std::shared_ptr<const ETerm>> children = {};
  uint64_t hash = 0;
};
using ETermPtr = std::shared_ptr<const ETerm>;

ETermPtr make_term(uint32_t label, std::vector<ETermPtr> children);

/// A step to an equal term: within the term, one side of a union was replaced by the other.
struct EStep {
  uint32_t union_index;
  bool forward;  ///< from its `a` to its `b`
  ETermPtr after;
};

class Explainer {
 public:
  /// Gives up chains of more than `max_steps`.
  explicit Explainer(const EGraph& graph, size_t max_steps = 2000);

  /// Returns the term that an id was created for.
  ETermPtr term(EClassId id);
  /// Returns the steps from the term of `a` to that of `b`, without detours that return to a term; nothing if they are
  /// not equal or too far apart.
  std::optional<std::vector<EStep>> chain(EClassId a, EClassId b);

 private:
  struct Edge {
    EClassId to;
    uint32_t union_index;
  };
  /// Returns the unions between a and b, using only unions before number `before`.
  std::optional<std::vector<uint32_t>> path(EClassId a, EClassId b, uint32_t before);
  std::optional<std::vector<EStep>> steps(EClassId a, EClassId b, uint32_t before);
  /// Between nodes of one label whose children are equal.
  std::optional<std::vector<EStep>> congruence(EClassId a, EClassId b, uint32_t before);

  const EGraph& graph_;
  const size_t max_steps_;
  size_t made_ = 0;
  std::vector<std::vector<Edge>> edges_;
  std::vector<ETermPtr> terms_;
};

}  // namespace isomer
