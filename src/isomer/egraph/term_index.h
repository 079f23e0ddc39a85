#pragma once
// Finds the nodes of an e-graph of computations by operator.

#include "isomer/egraph/term_graph.h"

namespace isomer {

/// The nodes of an e-graph by operator, as of its last rebuild().
class TermIndex {
 public:
  explicit TermIndex(const TermGraph& graph);

  struct Place {
    EClassId id;
    const ENode* node;  ///< result 0 of its operator
  };
  std::span<const Place> of(const OpDef& op) const;
  /// Returns the first id of a class. Classes are as old as this id.
  EClassId age(EClassId id) const { return first_ids_[graph_.find(id)]; }
  /// Return the values that nodes of this operator have for an attribute, and their records of all attributes but some;
  /// each once.
  std::vector<ExprValue> values(const OpDef& op, const std::string& attr) const;
  std::vector<Attrs> records(const OpDef& op, const std::vector<std::string>& without) const;

 private:
  std::unordered_map<const OpDef*, std::vector<Place>> by_op_;  // for lookup only
  const TermGraph& graph_;
  std::vector<EClassId> first_ids_;  // by the id that represents a class
};

}  // namespace isomer
