#pragma once
// The bounded checker with a memory: the same rule comes up again and again.

#include <map>
#include <mutex>

#include "isomer/verify/rule_check.h"

namespace isomer {

/// Any number of threads may use it at once; what it says depends on the rule alone.
class RuleChecker {
 public:
  /// Within full bounds.
  RuleVerdict check(const Rule& rule) { return check(rule, {}, full_); }
  /// Within narrower ones: to choose between forms of a rule.
  RuleVerdict quick(const Rule& rule) { return check(rule, kQuick, quick_); }
  /// Within as narrow ones, but of one rank more than check(): what is `where rank(?x) >= 4` has to hold of 5.
  RuleVerdict beyond(const Rule& rule) { return check(rule, kBeyond, beyond_); }

 private:
  static constexpr CheckBounds kQuick = {.max_instances = 200, .max_steps = 10'000, .sample = 5};
  static constexpr CheckBounds kBeyond = {.max_rank = 5, .max_instances = 200, .max_steps = 10'000, .sample = 5};
  using Known = std::map<uint64_t, RuleVerdict>;  // by the rule's hash under canonical names

  RuleVerdict check(const Rule& rule, const CheckBounds& bounds, Known& known);

  std::mutex lock_;
  Known full_;
  Known quick_;
  Known beyond_;
};

}  // namespace isomer
