#include "isomer/discover/rule_checker.h"

#include "isomer/discover/rule_names.h"

namespace isomer {

RuleVerdict RuleChecker::check(const Rule& rule, const CheckBounds& bounds, Known& known) {
  const Rule canonical = with_canonical_names(rule);
  const uint64_t hash = canonical.hash();
  {
    const std::lock_guard guard(lock_);
    const auto found = known.find(hash);
    if (found != known.end()) return found->second;
  }
  const RuleVerdict verdict = check_rule(canonical, bounds);
  const std::lock_guard guard(lock_);
  return known.emplace(hash, verdict).first->second;
}

}  // namespace isomer
