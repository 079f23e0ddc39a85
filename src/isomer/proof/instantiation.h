#pragma once
// Converts both sides of a rule to formulas.

#include "isomer/base/function_ref.h"
#include "isomer/proof/structure.h"
#include "isomer/proof/symbols.h"

namespace isomer {

/// Thrown if the rewriter rejects the match: there is no target, and nothing to prove.
struct Refused {};

/// Computes the results of the source pattern and of the target, in order, over unknown extents and attributes. The
/// scope assumes the rule's conditions and that nodes are well typed. Throws GaveUp.
class Instantiation {
 public:
  /// `choices` are the values of the rule's free parameters.
  Instantiation(Scope& scope, const Rule& rule, const Instance& instance, std::vector<int64_t> choices);
  /// For a match, with its actual extents and attributes; only elements (and extents that the model leaves open) are
  /// unknown.
  Instantiation(Scope& scope, const Rule& rule, const Binding& match, const ValueFacts& facts);

  std::vector<SymbolicTensor> source();
  /// Call it after source(). Also throws Refused.
  std::vector<SymbolicTensor> target();

 private:
  using Ids = std::vector<ValueId>;

  ValueId add(SymbolicTensor tensor, DType dtype, bool weight, std::optional<Element> uniform);
  ValueId variable(const std::string& label);
  Element number_of(const std::string& label, double sample, bool real) const;
  ValueId known(ValueId value, const ValueFacts& facts);
  void bind(const std::string& name, const ExprValue& value);
  size_t count(const std::string& sequence) const;
  size_t repetitions(const Term& term) const;

  static Ids joined(const std::vector<Term>& terms, FunctionRef<Ids(const Term&)> values_of);
  /// The values of all repetitions of a term.
  Ids repeated(size_t n, FunctionRef<Ids()> once);
  Ids all_sources();
  Ids matched(const Term& term);
  Ids matched_once(const Term& term);
  ValueId element_of(const std::string& sequence);
  Ids matched_node(const Term& term);
  ValueId matched_list(const Term& term, const Term& parent, const Ids& operands);
  ValueId list_tensor(const SymbolicList& list);
  std::map<std::string, SymbolicAttr> source_attrs(const Term& term, const Instance::Node& node, size_t number);
  SymbolicAttr unknown(const AttrDef& def, const AttrValue& value, const Instance::Node& node, const std::string& name);

  Ids built(const Term& term);
  Ids built_once(const Term& term);
  Ids built_node(const Term& term);

  Ids run(const OpDef& op, std::map<std::string, SymbolicAttr> attrs, const Ids& operands, size_t num_results,
          DType dtype);
  std::vector<SymbolicTensor> tensors(const Ids& ids) const;

  Scope& scope_;
  const Rule& rule_;
  const Instance* const instance_ = nullptr;  ///< nullptr for a match
  const std::vector<int64_t> choices_;
  SymbolicBinding binding_;
  std::optional<size_t> repetition_;
  size_t next_node_ = 0;
  std::map<std::string, size_t> list_binders_;  ///< nodes at which lists of positions are bound
  bool real_ = false;
  bool in_source_ = false;     ///< the source of a match is being computed
  bool binding_only_ = false;  ///< variables are being bound, and no axiom is evaluated
};

}  // namespace isomer
