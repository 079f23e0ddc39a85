#pragma once
// Decides whether the value of a class may be needed to compute another class.

#include <unordered_map>

#include "isomer/egraph/egraph.h"

namespace isomer {

/// Answers are about the e-graph as of its last rebuild(), and are cached.
class ClassNeeds {
 public:
  /// Keeps a reference.
  explicit ClassNeeds(const EGraph& graph) : graph_(graph) {}

  /// Returns whether a node of class `a`, or of a class below it, has the class `b` as a child.
  bool needs(EClassId a, EClassId b);

 private:
  const EGraph& graph_;
  std::unordered_map<EClassId, std::vector<bool>> below_;  // by class: the classes that it needs
};

}  // namespace isomer
