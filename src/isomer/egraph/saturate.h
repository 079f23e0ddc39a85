#pragma once
// Equality saturation of computations: rules in both directions until two terms are known to be equal.

#include "isomer/egraph/term_match.h"

namespace isomer {

struct DeriveLimits {
  size_t nodes = 1500;        ///< of the e-graph
  size_t rounds = 6;          ///< in each, every rule is applied wherever it matches
  size_t sibling_rounds = 2;  ///< of these, how many merge siblings: rules with several roots match sets of nodes
  double seconds = 0;         ///< 0: no limit. With a limit, the result may depend on the machine
  /// weight(...) holds of everything: it says where a rule pays, and no rule needs it to be true.
  bool all_weights = false;
  TermMatchLimits match = {};
};

/// A rule applied to terms: those of its two sides, over the same `leaves`.
struct TermApplication {
  const Direction* direction;
  std::vector<EClassId> from;
  std::vector<EClassId> to;
  std::vector<EClassId> leaves;
};

class Saturation {
 public:
  Saturation(TermGraph& graph, const std::vector<Direction>& directions, const DeriveLimits& limits)
      : graph_(graph), directions_(directions), limits_(limits) {}

  /// Until both are equal, nothing new follows, or a limit is met. Says which: "" when they are equal.
  std::string run(EClassId a, EClassId b);

  /// What a union says: that root `root` of the sides of an application are equal.
  struct Reason {
    uint32_t application;
    uint32_t root;
  };
  const Reason& reason(EGraph::Reason number) const { return reasons_[number]; }
  const TermApplication& application(uint32_t number) const { return applications_[number]; }
  size_t rounds() const { return rounds_; }

 private:
  struct Found {
    const Direction* direction;
    TermMatch match;
  };
  std::vector<Found> match_all() const;
  /// Whether anything new came of it.
  bool apply(const Found& found);

  TermGraph& graph_;
  const std::vector<Direction>& directions_;
  const DeriveLimits& limits_;
  std::vector<TermApplication> applications_;
  std::vector<Reason> reasons_;
  size_t rounds_ = 0;
};

}  // namespace isomer
