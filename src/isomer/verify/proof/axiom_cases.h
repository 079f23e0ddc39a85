#pragma once
// What an axiom says of one node, over unknown extents and attributes.

#include "isomer/verify/proof/instantiation.h"

namespace isomer {

/// An axiom written out for one structure: the node that a pattern of a single operator describes.
class AxiomCases {
 public:
  /// Where `facts` hold, result `result` has this shape and, at the index i<result>.0, i<result>.1, ..., this element.
  struct Case {
    Formula facts = true;
    Formula outer = true;  ///< those of them that do not speak of the index
    size_t result = 0;
    std::vector<Dim> shape;
    std::optional<Element> element;  ///< nothing where the case is about the shape, whatever the index
  };

  /// Throws GaveUp.
  AxiomCases(const Rule& pattern, const Instance& instance);

  const std::vector<Case>& cases() const { return cases_; }
  const Scope& scope() const { return scope_; }
  static std::string index_symbol(size_t result, size_t axis) { return fmt::format("i{}.{}", result, axis); }

 private:
  Scope scope_;
  std::vector<Case> cases_;
};

}  // namespace isomer
