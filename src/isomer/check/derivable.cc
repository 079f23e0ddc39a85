#include "isomer/check/derivable.h"

#include <algorithm>
#include <memory>
#include <set>

#include "isomer/base/parallel.h"
#include "isomer/check/representatives.h"
#include "isomer/egraph/replay.h"

namespace isomer {
namespace {

/// A derivation with the directions that it refers to.
struct Attempt {
  std::unique_ptr<const std::vector<Direction>> own;  ///< nullptr: owned by the caller
  std::unique_ptr<Derivation> derivation;
};

/// Returns the directions that a chain uses.
std::vector<Direction> used_by(const Derivation& derivation) {
  std::vector<Direction> out;
  std::set<std::pair<size_t, bool>> seen;
  for (const ChainStep& step : derivation.chain()) {
    const Direction& direction = *derivation.application(step.application).direction;
    if (seen.emplace(direction.number, direction.forward).second) out.push_back(direction);
  }
  return out;
}

/// Returns a chain that uses only these directions.
std::optional<Attempt> chain_by(std::vector<Direction> directions, const Representative& at,
                                const DeriveLimits& limits) {
  Attempt out;
  out.own = std::make_unique<const std::vector<Direction>>(std::move(directions));
  out.derivation = std::make_unique<Derivation>(*out.own, limits, at.weights);
  const auto derived = out.derivation->run(at.before, at.after);
  return derived && *derived ? std::optional(std::move(out)) : std::nullopt;
}

/// Returns a shorter chain, if there is one by some of the rules of a long one: fewer rules mean fewer detours.
Attempt shortened(const Representative& at, Attempt attempt, const DeriveLimits& limits) {
  const auto length = [](const Attempt& each) { return each.derivation->chain().size(); };
  for (bool shorter = true; shorter && length(attempt) > 2;) {
    shorter = false;
    const std::vector<Direction> used = used_by(*attempt.derivation);
    for (size_t left_out = 0; left_out <= used.size() && !shorter; ++left_out) {
      std::vector<Direction> rest = used;
      if (left_out < used.size()) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(left_out));
      auto next = chain_by(std::move(rest), at, limits);
      shorter = next && length(*next) < length(attempt);
      if (shorter) attempt = std::move(*next);
    }
  }
  return attempt;
}

/// Derives at one instance; returns "" or the reason why this fails.
std::string derive_at(const Representative& at, const std::vector<Direction>& directions, const DeriveLimits& limits,
                      DerivableAnswer& out) {
  Attempt attempt{nullptr, std::make_unique<Derivation>(directions, limits, at.weights)};
  const auto derived = attempt.derivation->run(at.before, at.after);
  out.nodes = std::max(out.nodes, attempt.derivation->terms().egraph().size());
  if (!derived) return derived.error().message;
  if (!*derived) return attempt.derivation->stopped_by();
  if (out.instances == 0) attempt = shortened(at, std::move(attempt), limits);
  const Derivation& derivation = *attempt.derivation;
  if (const auto status = replay(derivation); !status)
    return "the sequence of rules cannot be replayed: " + status.error().message;
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
  const RuleVerdict verdict = check_rule(query, options.check);
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
