#pragma once
// The bounded checker with a cache, because the same rules occur repeatedly.

#include <map>
#include <mutex>

#include "isomer/check/rule_check.h"

namespace isomer {

/// Thread-safe; the verdict depends only on the rule.
class RuleChecker {
 public:
  /// Checks within full bounds.
  RuleVerdict check(const Rule& rule) { return check(rule, {}, full_); }
  /// Checks within narrower bounds, to choose between forms of a rule.
  RuleVerdict quick(const Rule& rule) { return check(rule, kQuick, quick_); }
  /// Checks within similarly narrow bounds, but with one rank more than check(): a rule with `where rank(?x) >= 4` must
  /// hold for rank 5.
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
