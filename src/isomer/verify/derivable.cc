#include "isomer/verify/derivable.h"

#include <algorithm>

#include "isomer/base/parallel.h"
#include "isomer/egraph/replay.h"
#include "isomer/verify/representatives.h"

namespace isomer {
namespace {

/// Derives at one instance; returns why not, or "".
std::string derive_at(const Representative& at, const std::vector<Direction>& directions, const DeriveLimits& limits,
                      DerivableAnswer& out) {
  Derivation derivation(directions, limits, at.weights);
  const auto derived = derivation.run(at.before, at.after);
  out.nodes = std::max(out.nodes, derivation.terms().egraph().size());
  if (!derived) return derived.error().message;
  if (!*derived) return derivation.stopped_by();
  if (const auto status = replay(derivation); !status) return "the chain does not stand: " + status.error().message;
  if (out.instances++ > 0) return "";
  out.instance = instance_text(at.instance);
  out.start = term_text(derivation.terms(), *derivation.start());
  for (const ChainStep& step : derivation.chain())
    out.chain.push_back(
        {derivation.rule(step).name, derivation.forward(step), term_text(derivation.terms(), *step.after)});
  return "";
}

void refute(DerivableAnswer& out, const RuleVerdict& verdict) {
  out = {};
  out.answer = Derivable::Refuted;
  out.how = verdict.how;
  out.counterexample = verdict.counterexample;
}

}  // namespace

Result<Rule> parse_query(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  const bool named = first != std::string_view::npos && text.substr(first).starts_with("rule ");
  ISOMER_TRY(std::vector<Rule> rules, parse_rules(named ? std::string(text) : "rule query\n" + std::string(text)));
  if (rules.size() != 1) return fail("one equality is expected, not {}", rules.size());
  return std::move(rules[0]);
}

std::string_view derivable_name(Derivable answer) {
  return answer == Derivable::Derived ? "derived" : answer == Derivable::Refuted ? "refuted" : "not derived";
}

DerivableAnswer derivable(const Rule& query, const std::vector<Direction>& directions,
                          const DerivableOptions& options) {
  DerivableAnswer out;
  std::string reason;
  const std::vector<Representative> at = representatives(query, options.instances);
  if (at.empty()) reason = "no instance within bounds";
  for (size_t i = 0; i < at.size() && reason.empty(); ++i) {
    reason = derive_at(at[i], directions, options.limits, out);
    if (!reason.empty()) out.instance = instance_text(at[i].instance);
  }
  const bool derived = reason.empty();
  const RuleVerdict verdict = check_rule(query, derived ? options.check_derived : options.check_others);
  if (verdict.verdict == Verdict::Refuted) {
    refute(out, verdict);
  } else if (derived) {
    out.answer = Derivable::Derived;
    out.how = fmt::format("at {} instances", out.instances);
  } else {
    out.how = reason;
    out.chain.clear();
    out.start.clear();
  }
  return out;
}

std::vector<DerivableAnswer> all_derivable(const std::vector<Rule>& queries, const std::vector<Direction>& directions,
                                           const DerivableOptions& options, int threads,
                                           const std::function<void()>& done) {
  std::vector<DerivableAnswer> out(queries.size());
  parallel_for(queries.size(), threads, 1, [&](size_t i, size_t) {
    out[i] = derivable(queries[i], directions, options);
    if (done) done();
  });
  return out;
}

}  // namespace isomer
