#pragma once
// Equality saturation of computations: applies rules in both directions until two terms are known to be equal.

#include "isomer/egraph/apply.h"

namespace isomer {

struct DeriveLimits {
  size_t nodes = 1500;        ///< of the e-graph
  size_t rounds = 6;          ///< in each round, every rule is applied wherever it matches
  size_t sibling_rounds = 2;  ///< number of these in which rules with several roots merge siblings: such rules match
                              ///< sets of nodes
  double seconds = 0;         ///< 0: no limit. With a limit, the result may depend on the machine
  /// If true, weight(...) is true for everything. The condition only says where a rule pays; no rule needs it to be
  /// valid.
  bool all_weights = false;
  TermMatchLimits match = {};
};

class Saturation {
 public:
  Saturation(TermGraph& graph, const std::vector<Direction>& directions, const DeriveLimits& limits)
      : graph_(graph), directions_(directions), limits_(limits) {}

  /// Runs until both are equal, nothing new follows, or a limit is reached. Returns the reason for stopping; "" if they
  /// are equal.
  std::string run(EClassId a, EClassId b);

  /// The reason for a union: root `root` of both sides of an application are equal.
  struct Reason {
    uint32_t application;
    uint32_t root;
  };
  const Reason& reason(EGraph::Reason number) const { return reasons_[number]; }
  const TermApplication& application(uint32_t number) const { return applications_[number]; }

 private:
  struct Found {
    const Direction* direction;
    TermMatch match;
  };
  std::vector<Found> match_all() const;
  /// Returns whether this added anything new.
  bool apply(const Found& found);

  TermGraph& graph_;
  const std::vector<Direction>& directions_;
  const DeriveLimits& limits_;
  std::vector<TermApplication> applications_;
  std::vector<Reason> reasons_;
  size_t rounds_ = 0;
};

}  // namespace isomer
