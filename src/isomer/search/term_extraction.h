#pragma once
// The extraction problem of an e-graph of computations, with the cost of each operator.

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "isomer/base/deadline.h"
#include "isomer/egraph/extraction.h"
#include "isomer/egraph/locate.h"

namespace isomer {

/// Returns the cost of a graph of one operator that runs; nothing if the operator must not be used.
using OperatorCost = std::function<std::optional<double>(const Graph&)>;

/// What depends only on weights costs nothing, so it is not part of the problem.
class TermExtraction {
 public:
  /// Keeps a reference to `terms`, which must have been rebuilt. The classes of the outputs of `first`, a graph in the
  /// e-graph, are wanted. Its own operators may always be used; their cost is 0 if it is not known. After the deadline,
  /// the other operators that have no cost yet are left out.
  TermExtraction(const TermGraph& terms, const LocatedGraph& first, const OperatorCost& cost, const Deadline& end);

  /// The costs are those of the operators. Operators that `first` does not have cost a little more, so that of equally
  /// cheap graphs the one that is most like `first` is extracted: fewer steps lead to it.
  const ExtractionProblem& problem() const { return problem_; }
  /// Returns the cost of the graph with which the problem was made; infinite if an operator of it is not needed.
  double first_cost() const { return first_cost_; }
  /// Forbids a node of a class. Returns false if it is not part of the problem.
  bool forbid(EClassId id, const ENode& node);
  /// Returns the node that an extraction chooses for a class; for a weight, that of its plainest term. Nothing if the
  /// class is not extracted.
  std::optional<ENode> chosen(const Extraction& extraction, EClassId id) const;

 private:
  struct NodeHash {
    size_t operator()(const ENode& node) const;
  };
  using NodeSet = std::unordered_set<ENode, NodeHash>;  // looked up only

  /// Result 0 of the operator of a node.
  ENode operator_of(const ENode& node) const;
  bool is_free(EClassId id) const { return terms_.is_constant_derived(id) || id == terms_.find(terms_.absent()); }
  uint32_t number_of(EClassId id);
  void prefer(const NodeSet& own);
  void add_choices(EClassId id, const NodeSet& own, const OperatorCost& cost, const Deadline& end);
  /// Returns the number of an operator; kNotExtracted if it must not be used.
  uint32_t add_operator(const ENode& node, bool own, const OperatorCost& cost, const Deadline& end);

  const TermGraph& terms_;
  ExtractionProblem problem_;
  double first_cost_ = 0;
  std::vector<EClassId> classes_;                            // by their numbers in the problem
  std::vector<std::vector<ENode>> nodes_;                    // by class number and choice
  std::unordered_map<EClassId, uint32_t> numbers_;           // looked up only
  std::unordered_map<ENode, uint32_t, NodeHash> operators_;  // looked up only
};

/// Returns the graph of one operator (result 0 of it): its operands are inputs, or weights. Fails if it is ill typed.
Result<Graph> operator_graph(const TermGraph& terms, const ENode& node);

}  // namespace isomer
