#pragma once
// How a rule is matched, computed once for many graphs: which conditions can be evaluated before the whole source has
// matched, and what rules out a first root.

#include <cstddef>
#include <span>
#include <vector>

#include "isomer/rules/rule.h"
#include "isomer/rules/shared_value.h"

namespace isomer {

class MatchPlan {
 public:
  /// Keeps a reference to the rule. Implicit, since a rule that is matched only once needs no other plan.
  MatchPlan(const Rule& rule);  // NOLINT(google-explicit-constructor, hicpp-explicit-conversions)

  const Rule& rule() const { return *rule_; }
  /// Whether the source is one term that is not repeated. Then matches depend only on nodes above their root.
  bool single_root() const;
  /// What is known about several roots.
  const SharedValue& shared() const { return shared_; }
  /// The conditions all of whose variables are bound when this number of terms of the source has matched, and not
  /// before. The sequences of `term...` and free parameters are bound last.
  std::span<const Expr* const> conditions_at(size_t terms) const;
  /// The conditions that can be evaluated then, and those that are left.
  std::span<const Expr* const> conditions_until(size_t terms) const;
  std::span<const Expr* const> conditions_after(size_t terms) const;

 private:
  const Rule* rule_;
  SharedValue shared_;
  std::vector<const Expr*> conditions_;  // in the order in which they can be evaluated
  std::vector<size_t> ends_;             // by number of terms: how many of them can be evaluated
};

}  // namespace isomer
