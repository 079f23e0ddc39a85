#include "isomer/discover/generalize.h"

#include <algorithm>

#include "isomer/discover/zeros.h"

namespace isomer {
namespace {

class Generalization {
 public:
  Generalization(const Rule& rule, const RelaxationPlans& plans, RuleChecker& checker)
      : base_(rule), plans_(plans), checker_(checker) {}

  std::optional<CheckedRule> run() {
    least_ = std::min(std::max<size_t>(checker_.quick(base_).instances, 1), CheckBounds{}.least_instances);
    for (const Rule& most : by_plan()) {
      if (!promising(most)) continue;
      if (auto found = confirmed(most)) return found;
    }
    grow(0, plans_.all.size());
    for (;; taken_.pop_back()) {
      if (auto found = confirmed(form(taken_, taken_.size()))) return found;
      if (taken_.empty()) return std::nullopt;
    }
  }

 private:
  /// The rule with the first relaxations, in their order; those that do not apply change nothing.
  Rule form(const std::vector<Relaxation>& relaxations, size_t n) const {
    Rule out = base_;
    for (size_t i = 0; i < n; ++i)
      if (auto relaxed = relaxations[i](out)) out = std::move(*relaxed);
    return out;
  }

  /// Whole plans, those of most promise first: with axes free, then with axes counted from the back or kept, whichever
  /// applies to more.
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
    return CheckedRule{std::move(rule), std::move(verdict)};
  }

  /// A form that matches next to nothing has lost what bound a variable.
  bool promising(const Rule& rule) const {
    const RuleVerdict verdict = checker_.quick(rule);
    const bool rounds_otherwise = verdict.verdict == Verdict::Unknown && verdict.how.starts_with("rounds otherwise");
    return verdict.verdict != Verdict::Refuted && verdict.instances >= least_ && !rounds_otherwise;
  }

  /// Takes as many of the relaxations [begin, end) as hold.
  void grow(size_t begin, size_t end) {
    std::vector<Relaxation> more = taken_;
    more.insert(more.end(), plans_.all.begin() + static_cast<std::ptrdiff_t>(begin),
                plans_.all.begin() + static_cast<std::ptrdiff_t>(end));
    const Rule after = form(more, more.size());
    if (after.hash() == form(taken_, taken_.size()).hash()) return;
    if (promising(after)) {
      taken_ = std::move(more);
      return;
    }
    if (end - begin < 2) return;
    const size_t middle = begin + (end - begin) / 2;
    grow(begin, middle);
    grow(middle, end);
  }

  const Rule& base_;
  const RelaxationPlans& plans_;
  RuleChecker& checker_;
  std::vector<Relaxation> taken_;
  size_t least_ = 0;
};

}  // namespace

std::optional<CheckedRule> generalize(const Rule& rule, const RelaxationPlans& plans, RuleChecker& checker) {
  return Generalization(rule, plans, checker).run();
}

}  // namespace isomer
