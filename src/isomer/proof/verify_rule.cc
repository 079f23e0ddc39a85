#include "isomer/proof/verify_rule.h"

#include "isomer/base/parallel.h"
#include "isomer/proof/axiom_hash.h"

namespace isomer {

namespace {

/// Returns the bounds for a rule that has a proof: the check can then only find faults of the prover and of the axioms,
/// which show on few instances.
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

LockEntry lock_entry(const Rule& rule, const RuleVerdict& verdict) {
  return {rule.hash(), rule.name, verdict.verdict, kCheckerVersion, axioms_hash(rule), verdict.how, rule.content()};
}

}  // namespace isomer
