#pragma once
// Which equalities follow from others: saturation of an e-graph that holds both sides.

#include "isomer/discover/term_pair.h"
#include "isomer/egraph/pattern_set.h"

namespace isomer {

struct SaturationLimits {
  size_t rounds = 4;
  size_t nodes = 400;  ///< of the e-graph
};

/// Equalities with one output, used in both directions.
class EqualityBase {
 public:
  explicit EqualityBase(const Universe& universe) : universe_(universe) {}

  void add(const TermPair& pair);
  size_t size() const { return size_; }
  /// Whether the two sides of `pair` are made equal by the equalities of the base. Every step is one that holds for the
  /// extents at hand: an instance of an equality that is ill typed, or differs in value, is not used.
  bool derives(const TermPair& pair, const PairContext& context, const SaturationLimits& limits = {}) const;

 private:
  class Saturation;  // an e-graph whose classes carry their values
  struct Target {
    uint32_t label;  ///< of the root of the pattern that it takes the place of
    EPattern pattern;
  };

  const Universe& universe_;
  size_t size_ = 0;
  PatternSet sources_;
  std::vector<Target> targets_;  // by the number of the source
};

}  // namespace isomer
