#include "isomer/verify/verify_rule.h"

#include "isomer/base/parallel.h"

namespace isomer {

namespace {

/// Of a rule that has a proof: what is still to be found are faults of the prover and of the axioms, which show early.
CheckBounds for_proved(const CheckBounds& bounds) {
  CheckBounds out = bounds;
  out.wide = false;
  out.max_instances /= 8;
  out.max_steps /= 8;
  out.sample /= 4;
  return out;
}

}  // namespace

RuleVerdict verify_rule(const Rule& rule, const CheckBounds& bounds) {
  const Proof proof = prove_rule(rule);
  RuleVerdict out = check_rule(rule, proof.proved ? for_proved(bounds) : bounds);
  if (proof.proved && out.verdict == Verdict::Unknown) out = check_rule(rule, bounds);
  if (proof.proved && out.verdict == Verdict::Refuted) out.how += ", although there is a proof: an axiom is wrong";
  if (out.verdict != Verdict::Tested) return out;
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
