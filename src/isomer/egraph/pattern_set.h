#pragma once
// Matches many patterns at once by a discrimination tree over the parts that patterns share, starting at their roots
// (the code trees of de Moura and Bjorner, Efficient E-Matching for SMT Solvers, section 4, without their
// instructions).

#include "isomer/base/function_ref.h"
#include "isomer/egraph/egraph.h"

namespace isomer {

/// A pattern: a variable, or a label over patterns.
struct EPattern {
  static constexpr uint32_t kVariable = UINT32_MAX;
  uint32_t label = kVariable;
  uint32_t variable = 0;
  std::vector<EPattern> children = {};
};

/// The classes that the variables match, by number.
using ESubst = std::vector<EClassId>;

class PatternSet {
 public:
  /// Adds a pattern. Variables are numbered from 0 by first occurrence, from left to right. Returns the pattern's
  /// number: 0, 1, 2 ...
  size_t add(const EPattern& pattern);

  /// Calls `visit` for every match of a pattern in class `id`, with the classes of its variables. Matches of one
  /// pattern are in the order of the classes' nodes. Call it after EGraph::rebuild().
  using Visit = FunctionRef<void(size_t pattern, const ESubst& subst)>;
  void match(const EGraph& graph, EClassId id, Visit visit) const;

 private:
  friend class PatternMatcher;
  /// A node of the tree: what patterns require of the next class; classes are visited from left to right.
  struct Place {
    struct Branch {
      uint32_t label;   ///< kVariable: any class, or the variable's if it is bound here
      uint32_t number;  ///< of the variable; else the number of children
      uint32_t to;
    };
    std::vector<Branch> branches;
    std::vector<size_t> patterns;  ///< that end here
  };

  uint32_t follow(uint32_t place, const EPattern& pattern);

  std::vector<Place> places_ = std::vector<Place>(1);
  size_t size_ = 0;
};

}  // namespace isomer
