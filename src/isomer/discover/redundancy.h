#pragma once
// Which equalities follow from others: saturation of an e-graph that holds both sides.

#include <array>

#include "isomer/discover/term_pair.h"
#include "isomer/egraph/egraph.h"

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
  struct Direction {
    EPattern from;
    EPattern to;
    uint32_t variables;
    std::array<uint64_t, 2> below{};  ///< for each operand of `from`, a bit of the label that it must have; 0 for any
  };
  friend class Saturation;

  const Universe& universe_;
  size_t size_ = 0;
  std::unordered_map<uint32_t, std::vector<Direction>> by_root_;  // by the label of `from`
};

}  // namespace isomer
