#pragma once
// An e-graph of computations: nodes are operators with their attributes, and classes know their type.

#include <limits>
#include <map>

#include "isomer/egraph/egraph.h"
#include "isomer/rules/expr.h"

namespace isomer {

/// The meaning of a label of a TermGraph: result number `result` of an operator. Inputs and constants are those of
/// graphs; an absent operand and the outputs of a graph, in order, are labels without an operator.
struct TermLabel {
  const OpDef* op = nullptr;
  Attrs attrs = {};
  uint32_t results = 1;
  uint32_t result = 0;
  std::string name = {};  ///< of an input or weight, for people
};

/// Facts hold for classes: a value is a weight, depends only on constants, or is a known constant, if an equal term
/// does.
class TermGraph : public ValueFacts {
 public:
  /// Constants whose content hash is a key of `weights` represent any constants and are printed with its names.
  /// `all_weights`: every value counts as a weight.
  explicit TermGraph(std::map<uint64_t, std::string> weights = {}, bool all_weights = false);

  /// Adds the term of all outputs of a graph. Inputs with the same index are the same in all graphs. Opaque nodes are
  /// operators that no rule matches; each equals only itself. Fails if an operator has another number of results than
  /// in a graph that was added before.
  Result<EClassId> add(const Graph& graph);
  EClassId constant_leaf(const Tensor& tensor);
  EClassId absent() const { return absent_; }

  /// Returns the label of result 0 of an operator with complete attributes; those of its other results follow. Nothing
  /// if no node has it.
  std::optional<uint32_t> find_label(const OpDef& op, const Attrs& attrs) const;
  /// Likewise, but adds the label if there is none. Fails if the operator had another number of results with these
  /// attributes.
  Result<uint32_t> label_of(const OpDef& op, const Attrs& attrs, size_t results);
  const TermLabel& at(uint32_t label) const { return labels_[label & ~EGraph::kCommutative]; }

  struct Facts {
    TensorType type;
    bool weight = false;            ///< depends only on constants and parameters
    bool constant_derived = false;  ///< depends only on constants
    std::optional<Tensor> constant = std::nullopt;
  };
  /// Returns the id of a term over terms, and stores its facts.
  EClassId add_term(const ENode& node, Facts facts);
  bool merge(EClassId a, EClassId b, EGraph::Reason reason) { return graph_.merge(a, b, reason); }
  /// Like EGraph::rebuild; also joins the facts about all terms of a class.
  void rebuild();

  const EGraph& egraph() const { return graph_; }
  EClassId find(EClassId id) const { return graph_.find(id); }
  /// Returns, of the terms of a class at the last rebuild(), one of the smallest that shows the facts: it is a constant
  /// if the class is, and made of constants if the class is.
  EClassId plainest(EClassId id) const { return plainest_[find(id)]; }

  const TensorType& type(ValueId id) const override { return facts_[find(id)].type; }
  bool all_weights() const { return all_weights_; }
  bool is_weight(ValueId id) const override { return all_weights_ || facts_[find(id)].weight; }
  bool is_constant_derived(ValueId id) const { return all_weights_ || facts_[find(id)].constant_derived; }
  const Tensor* constant(ValueId id) const override;
  /// Infinity for a value that follows from constants and is not known, unless `weights` represent any constants.
  double magnitude(ValueId id) const override {
    const bool unknown = weights_.empty() && facts_[find(id)].constant_derived && constant(id) == nullptr;
    return unknown ? std::numeric_limits<double>::infinity() : ValueFacts::magnitude(id);
  }

 private:
  struct Own {
    bool weight;
    bool constant_derived;
    bool constant;
    uint32_t size;  // number of operators and leaves, as a tree
  };
  uint32_t leaf_label(const OpDef* op, Attrs attrs, std::string name);
  uint32_t new_label(TermLabel label, bool commutative);
  bool plainer(EClassId a, EClassId b) const;

  EGraph graph_;
  std::map<uint64_t, std::string> weights_;
  const bool all_weights_;
  std::vector<TermLabel> labels_;
  std::unordered_multimap<uint64_t, uint32_t> labels_by_hash_;
  std::vector<Facts> facts_;  // by id; those of a class at the id that represents it
  std::vector<Own> own_;      // by id: facts of this term itself
  std::vector<EClassId> plainest_;
  EClassId absent_ = 0;
};

}  // namespace isomer
