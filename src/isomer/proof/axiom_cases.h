#pragma once
// The cases of an operator's axiom for one node, over unknown extents and attributes.

#include "isomer/proof/instantiation.h"

namespace isomer {

/// An axiom evaluated for one structure: the node of a pattern with a single operator.
class AxiomCases {
 public:
  /// If `facts` hold, result `result` has this shape and, at the index i<result>.0, i<result>.1, ..., this element.
  struct Case {
    Formula facts = true;
    Formula outer = true;  ///< those of them that do not contain the index
    size_t result = 0;
    std::vector<Dim> shape;
    std::optional<Element> element;  ///< nothing if the case gives the shape, for any index
  };

  /// Throws GaveUp. Structures should share a solver: each takes several megabytes.
  AxiomCases(const Rule& pattern, const Instance& instance, std::shared_ptr<Solver> solver);

  const std::vector<Case>& cases() const { return cases_; }
  const Scope& scope() const { return scope_; }
  static std::string index_symbol(size_t result, size_t axis) { return fmt::format("i{}.{}", result, axis); }

 private:
  Scope scope_;
  std::vector<Case> cases_;
};

}  // namespace isomer
