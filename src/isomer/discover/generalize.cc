#include "isomer/discover/generalize.h"

#include <algorithm>
#include <set>
#include <span>

#include "isomer/discover/zeros.h"
#include "isomer/proof/prove.h"
#include "isomer/rules/walk.h"

namespace isomer {
namespace {

/// Returns whether windows have differing pads. The number of pads that compensates for a kernel with zeros around it
/// depends on strides and dilations, of which the checker only tries 1 and 2.
bool moves_windows(const Rule& rule) {
  std::set<std::string> pads;
  const auto collect = [&](const Term& term) {
    if (term.op == nullptr || term.op->find_attr("dilations") == nullptr) return;
    for (const auto& [name, value] : term.attrs)
      if (name == "pads") pads.insert(print_expr(value));
  };
  for_each_source_term(rule, collect);
  for_each_target_term(rule, collect);
  return pads.size() > 1;
}

class Generalization {
 public:
  Generalization(const Rule& rule, const RelaxationPlans& plans, RuleChecker& checker)
      : base_(rule), plans_(plans), checker_(checker) {}

  std::optional<CheckedRule> run() {
    min_instances_ = std::min(std::max<size_t>(checker_.quick(base_).instances, 1), CheckBounds{}.min_instances);
    for (const Rule& most : by_plan()) {
      if (!promising(most)) continue;
      if (auto found = confirmed(most)) return found;
    }
    for (std::vector<Relaxation>& taken : by_halves()) {
      for (;; taken.pop_back()) {
        if (auto found = confirmed(form(taken, taken.size()))) return found;
        if (taken.empty()) break;
      }
    }
    return std::nullopt;
  }

 private:
  /// Returns the rule with the first n relaxations, in their order; those that do not apply change nothing.
  Rule form(const std::vector<Relaxation>& relaxations, size_t n) const {
    Rule out = base_;
    for (size_t i = 0; i < n; ++i)
      if (auto relaxed = relaxations[i](out)) out = std::move(*relaxed);
    return out;
  }

  /// Returns the forms by whole plans, the most promising first: with axes free, then with axes counted from the back
  /// or kept, whichever applies to more.
  std::vector<Rule> by_plan() const {
    std::vector<Rule> out;
    for (const auto* plan : {&plans_.free, &plans_.from_back, &plans_.kept, &plans_.plain})
      out.push_back(form(*plan, plan->size()));
    if (checker_.quick(out[2]).instances > checker_.quick(out[1]).instances) std::swap(out[1], out[2]);
    return out;
  }

  std::optional<CheckedRule> confirmed(Rule rule) const {
    RuleVerdict verdict = checker_.check(rule);
    if (verdict.verdict != Verdict::Tested || !holds_at_zeros(rule)) return std::nullopt;
    if (checker_.beyond(rule).verdict == Verdict::Refuted) return std::nullopt;
    if (moves_windows(rule) && !prove_rule(rule).proved) return std::nullopt;
    return CheckedRule{std::move(rule), std::move(verdict)};
  }

  /// A form with hardly any matches has lost the condition that bound a variable.
  bool promising(const Rule& rule) const {
    const RuleVerdict verdict = checker_.quick(rule);
    const bool rounds_otherwise = verdict.verdict == Verdict::Unknown && verdict.how.starts_with("rounds otherwise");
    return verdict.verdict != Verdict::Refuted && verdict.instances >= min_instances_ && !rounds_otherwise;
  }

  /// Returns the results of halves of all relaxations, and of halves of those that keep axes, whichever applies to more
  /// first: batches and channels are the first two axes at any rank, while axes counted from the back fit one rank.
  std::vector<std::vector<Relaxation>> by_halves() const {
    std::vector<std::vector<Relaxation>> out(2);
    grow(attributes_first(plans_.all), out[0]);
    grow(attributes_first(plans_.kept), out[1]);
    const auto instances = [&](size_t i) { return checker_.quick(form(out[i], out[i].size())).instances; };
    if (instances(1) > instances(0)) std::swap(out[0], out[1]);
    return out;
  }

  /// Conditions are dropped after all else: strides that are kept imply that images have two axes, and a rule that
  /// depends on that holds only for few strides.
  std::vector<Relaxation> attributes_first(std::vector<Relaxation> relaxations) const {
    std::stable_partition(relaxations.begin(), relaxations.end(), [&](const Relaxation& each) {
      const auto relaxed = each(base_);
      return !relaxed || !(relaxed->sources == base_.sources && relaxed->targets == base_.targets);
    });
    return relaxations;
  }

  /// Adds as many of the relaxations as hold.
  void grow(std::span<const Relaxation> some, std::vector<Relaxation>& taken) const {
    std::vector<Relaxation> more = taken;
    more.insert(more.end(), some.begin(), some.end());
    const Rule after = form(more, more.size());
    if (after.hash() == form(taken, taken.size()).hash()) return;
    if (promising(after)) {
      taken = std::move(more);
      return;
    }
    if (some.size() < 2) return;
    grow(some.first(some.size() / 2), taken);
    grow(some.subspan(some.size() / 2), taken);
  }

  const Rule& base_;
  const RelaxationPlans& plans_;
  RuleChecker& checker_;
  size_t min_instances_ = 0;
};

}  // namespace

std::optional<CheckedRule> generalize(const Rule& rule, const RelaxationPlans& plans, RuleChecker& checker) {
  return Generalization(rule, plans, checker).run();
}

}  // namespace isomer
