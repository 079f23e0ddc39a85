#include "isomer/optimize/rule_set.h"

#include <algorithm>

#include "isomer/proof/verify_rule.h"
#include "isomer/rules/builtin.h"
#include "isomer/rules/lock.h"

namespace isomer {
namespace {

bool usable(Verdict verdict) { return verdict == Verdict::Proved || verdict == Verdict::Tested; }

/// Returns the verdict of the lock or, for a rule that is not in the lock, of a check at once.
Result<Verdict> verdict_of(const Rule& rule, const Lock& lock, bool own) {
  const LockEntry* entry = lock.find(rule);
  if (entry != nullptr || !own) return entry == nullptr ? Verdict::Unknown : entry->verdict;
  const RuleVerdict checked = verify_rule(rule);
  if (!usable(checked.verdict))
    return fail("rule '{}' is {}: {}{}{}", rule.name, verdict_name(checked.verdict), checked.how,
                checked.counterexample.empty() ? "" : "\n", checked.counterexample);
  return checked.verdict;
}

}  // namespace

void drop_rule(RuleSet& rules, const std::string& name) {
  std::erase_if(rules.rules, [&](const Rule& rule) { return rule.name == name; });
}

void drop_unproved(RuleSet& rules) {
  std::erase_if(rules.rules,
                [&](const Rule& rule) { return rules.verdicts.at(rule.name) != verdict_name(Verdict::Proved); });
}

Result<RuleSet> usable_rules(const std::string& file, const std::vector<std::string>& skip) {
  ISOMER_TRY(RuleFile loaded, file.empty() ? builtin_rule_file() : load_rule_file(file));
  for (const std::string& name : skip) {
    const auto called = [&](const Tactic& tactic) { return tactic.name == name; };
    if (rules_called(loaded.rules, name).empty() && std::ranges::none_of(loaded.tactics, called))
      return fail("--skip-rule: there is no rule '{}'; `isomer rules list` lists them", name);
  }
  ISOMER_TRY(const Lock lock, builtin_lock());
  RuleSet out;
  const auto skipped = [&](const std::string& name) { return std::ranges::find(skip, name) != skip.end(); };
  for (Rule& rule : loaded.rules) {
    if (skipped(rule.name) || skipped(rule.family)) continue;
    auto verdict = verdict_of(rule, lock, !file.empty());
    if (!verdict) return fail_in(file, verdict.error());
    if (!usable(*verdict)) continue;
    out.verdicts[rule.name] = verdict_name(*verdict);
    out.rules.push_back(std::move(rule));
  }
  for (Tactic& tactic : loaded.tactics)
    if (!skipped(tactic.name)) out.tactics.push_back(std::move(tactic));
  return out;
}

}  // namespace isomer
