#include "isomer/verify/verify_rule.h"

#include "isomer/base/parallel.h"

namespace isomer {

RuleVerdict verify_rule(const Rule& rule, const CheckBounds& bounds) {
  RuleVerdict out = check_rule(rule, bounds);
  if (out.verdict != Verdict::Tested) return out;
  const Proof proof = prove_rule(rule);
  if (!proof.proved) {
    out.how = fmt::format("no proof ({}); {}", proof.how.substr(0, 120), out.how);
    return out;
  }
  out.verdict = Verdict::Proved;
  out.how = fmt::format("{}; tested on {}", proof.how, out.how);
  return out;
}

std::vector<RuleVerdict> verify_rules(const std::vector<Rule>& rules, const CheckBounds& bounds, int threads) {
  std::vector<RuleVerdict> out(rules.size());
  parallel_for(rules.size(), threads, 1, [&](size_t i, size_t) { out[i] = verify_rule(rules[i], bounds); });
  return out;
}

}  // namespace isomer
