#pragma once
// All nodes that a term of the pattern may stand for, once its operands are known.

#include <unordered_map>

#include "isomer/verify/attr_domains.h"
#include "isomer/verify/choices.h"
#include "isomer/verify/partial_instance.h"

namespace isomer {

/// Chooses attributes, then lets inference decide.
class NodeChoices {
 public:
  using NextValues = std::function<void(const std::vector<ValueId>&)>;

  NodeChoices(const InstanceBounds& bounds, ChoiceBudget& budget, PartialInstance& partial)
      : bounds_(bounds), budget_(budget), partial_(partial) {}

  /// Calls `next` with the results of every node of `term` over `operands`; within `term...`, of this repetition.
  void each(const Term& term, const std::vector<ValueId>& operands, std::optional<size_t> repetition,
            const NextValues& next);

 private:
  using Next = PartialInstance::Next;
  using WithValue = std::function<void(const std::optional<AttrValue>&)>;

  /// A node whose attributes are being chosen.
  struct Site {
    const Term& term;
    const std::vector<ValueId>& operands;
    std::optional<size_t> repetition;
    std::vector<const AttrDef*> order;
    const NextValues& next;
  };

  void attribute(const Site& site, size_t i, const Attrs& chosen);
  void any(const Site& site, const AttrDef& def, const Attrs& chosen, const WithValue& with);
  void expressed(const Site& site, const Expr& expr, const AttrDef& def, const Attrs& chosen, const WithValue& with);
  void determined(const Site& site, const std::string& name, const AttrDef& def, const Attrs& chosen,
                  const AttrValue& value, const WithValue& with);
  void finish(const Site& site, const Attrs& chosen);
  /// attr_domain(), made once for all sites that it cannot tell apart.
  const std::vector<AttrChoice>& domain(const Site& site, const AttrDef& def, const Attrs& chosen);

  const InstanceBounds& bounds_;
  ChoiceBudget& budget_;
  PartialInstance& partial_;
  std::unordered_map<std::string, std::vector<AttrChoice>> domains_;  ///< by what they depend on
};

}  // namespace isomer
