#pragma once
// Many patterns that are matched at once: a discrimination tree over what patterns share from their roots on (the code
// trees of de Moura and Bjorner, Efficient E-Matching for SMT Solvers, section 4, without their instructions).

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

/// What the variables stand for, by number.
using ESubst = std::vector<EClassId>;

class PatternSet {
 public:
  /// Variables are numbered from 0 as they first occur, from left to right. Returns the pattern's number: 0, 1, 2 ...
  size_t add(const EPattern& pattern);

  /// Calls `visit` with every pattern that stands in class `id`, and with what its variables stand for, once for every
  /// way in which it does; those of one pattern in the order of the classes' nodes. After EGraph::rebuild().
  using Visit = FunctionRef<void(size_t pattern, const ESubst& subst)>;
  void match(const EGraph& graph, EClassId id, Visit visit) const;

 private:
  friend class PatternMatcher;
  /// A place in the tree: what patterns ask of the next class, classes taken from left to right.
  struct Place {
    struct Branch {
      uint32_t label;   ///< kVariable: any class, or the variable's where that is known here
      uint32_t number;  ///< which variable; how many children
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
