#pragma once
// Determines which equalities follow from others, by saturation of an e-graph that holds both sides.

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
  /// Returns whether the equalities of the base make the two sides of `pair` equal. Every step holds for the extents of
  /// the pair: instances of an equality that are ill typed, or whose sides have different values, are not used.
  bool derives(const TermPair& pair, const PairContext& context, const SaturationLimits& limits = {}) const;

 private:
  class Saturation;  // an e-graph whose classes carry their values
  struct Target {
    uint32_t label;  ///< of the root of the pattern that it replaces
    EPattern pattern;
  };

  const Universe& universe_;
  size_t size_ = 0;
  PatternSet sources_;
  std::vector<Target> targets_;  // by the number of the source
};

}  // namespace isomer
