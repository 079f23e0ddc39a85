#pragma once
// Equality saturation for optimization (egg, Willsey et al., POPL 2021; TENSAT, Yang et al., MLSys 2021): applies rules
// from their source to their target until nothing new follows or a limit is reached.

#include <set>
#include <tuple>

#include "isomer/base/deadline.h"
#include "isomer/egraph/apply.h"
#include "isomer/egraph/back_off.h"

namespace isomer {

struct ExploreLimits {
  size_t nodes = 2000;       ///< of the e-graph
  size_t iterations = 30;    ///< in each, the rules that are not banned are applied wherever they match
  size_t max_matches = 200;  ///< of a rule in one iteration, before its first ban
  size_t ban = 3;            ///< iterations of a rule's first ban
  /// Iterations in which rules with several roots may add something. What they make is often a sibling of what they
  /// match, so they would never end (TENSAT's k_multi).
  size_t sibling_rounds = 2;
  int64_t bytes = int64_t{4} << 30;  ///< approximate; constants are not counted
  Deadline end = Deadline::never();
};

class Exploration {
 public:
  /// Keeps references. `directions` are rules forward.
  Exploration(TermGraph& graph, const std::vector<Direction>& directions, const ExploreLimits& limits)
      : graph_(graph),
        directions_(directions),
        limits_(limits),
        back_off_(directions.size(), limits.max_matches, limits.ban) {}

  /// Returns why it ended: "exhausted", "node limit", "iteration limit", "sibling limit", "memory", or what the
  /// deadline says. "exhausted": nothing new follows, and no rule with several roots was applied. With such rules, not
  /// all groups of siblings are tried (TermMatchLimits), so the reason is "sibling limit". The graph is rebuilt
  /// afterwards.
  std::string run();

  /// All applications, also those that joined nothing new, each once.
  std::span<const TermApplication> applications() const { return applications_; }
  /// The number of matches so far.
  int64_t matches() const { return matches_; }

 private:
  struct Found {
    const Direction* direction;
    TermMatch match;
  };
  /// Whether rules joined classes.
  struct Change {
    bool any = false;
    bool by_siblings = false;
  };
  /// Returns the limit that was reached; empty: none.
  std::string iterate(size_t iteration, bool siblings, Change& change);
  std::vector<Found> match_all(size_t iteration, bool siblings);
  /// Returns whether this joined classes.
  bool apply(const Found& found);
  bool is_new(const TermApplication& application);
  std::string limit_reached() const;

  TermGraph& graph_;
  const std::vector<Direction>& directions_;
  const ExploreLimits limits_;
  BackOff back_off_;
  std::vector<TermApplication> applications_;
  std::set<std::tuple<const Direction*, std::vector<EClassId>, std::vector<EClassId>>> known_;  // looked up only
  int64_t matches_ = 0;
};

}  // namespace isomer
