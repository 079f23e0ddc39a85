#pragma once
// Generates all nodes that match a term of the pattern, once its operands are known.

#include <unordered_map>

#include "isomer/check/attr_domains.h"
#include "isomer/check/choices.h"
#include "isomer/check/partial_instance.h"

namespace isomer {

/// Chooses attributes, then uses inference to decide whether they fit.
class NodeChoices {
 public:
  using NextValues = FunctionRef<void(const std::vector<ValueId>&)>;

  NodeChoices(const InstanceBounds& bounds, ChoiceBudget& budget, PartialInstance& partial)
      : bounds_(bounds), budget_(budget), partial_(partial) {}

  /// Calls `next` with the results of every node of `term` over `operands`; within `term...`, for this repetition.
  void each(const Term& term, const std::vector<ValueId>& operands, std::optional<size_t> repetition, NextValues next);

 private:
  using Next = PartialInstance::Next;
  using WithValue = FunctionRef<void(const std::optional<AttrValue>&)>;

  /// A node whose attributes are being chosen.
  struct Site {
    const Term& term;
    const std::vector<ValueId>& operands;
    std::optional<size_t> repetition;
    NextValues next;
    const std::vector<const AttrDef*>& order;
    std::vector<Attrs::Entry> chosen;  ///< the first of them, without absent ones
  };

  /// Returns the attributes of an operator; those that others depend on come first.
  const std::vector<const AttrDef*>& order(const OpDef& op);
  void attribute(Site& site, size_t i);
  /// `name` is the variable or the record that it binds, if any.
  void any(const Site& site, const AttrDef& def, const std::string& name, WithValue with);
  void expressed(const Site& site, const Expr& expr, const AttrDef& def, WithValue with);
  void determined(const Site& site, const std::string& name, const AttrDef& def, const AttrValue& value,
                  WithValue with);
  void finish(const Site& site);
  /// Returns the cost of giving the attribute a value that is not plain.
  ChoiceBudget::Cost cost_of_non_default(const AttrDef& def) const;
  /// attr_domain(), computed once for all sites with the same result.
  const std::vector<AttrChoice>& domain(const Site& site, const AttrDef& def);

  const InstanceBounds& bounds_;
  ChoiceBudget& budget_;
  PartialInstance& partial_;
  std::unordered_map<const OpDef*, std::vector<const AttrDef*>> orders_;
  std::unordered_map<uint64_t, std::vector<AttrChoice>> domains_;  ///< by the hash of everything that they depend on
};

}  // namespace isomer
