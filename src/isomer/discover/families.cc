#include "isomer/discover/families.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "isomer/discover/rule_names.h"
#include "isomer/rules/walk.h"

namespace isomer {
namespace {

constexpr const char* kVariable = "F";

/// A rule with the variable in place of one operator, and the rules that it stands for.
struct FamilyCandidate {
  Rule written;
  std::map<std::string, std::pair<const OpDef*, size_t>> members;  // by operator: index of the rule
};

/// Returns the rule with the variable in place of the operator.
Rule without_operator(Rule rule, const OpDef* op) {
  const auto replace = [&](Term& term) {
    if (term.op == op) term.op_variable = kVariable;
  };
  for_each_source_term(rule, replace);
  for_each_target_term(rule, replace);
  Rule out = with_canonical_names(rule, RecordNames::Numbered);
  out.name += fmt::format("-{{{}}}", kVariable);
  return out;
}

/// Returns the candidates of all rules, by their texts. The source of a family must use the variable.
std::map<std::string, FamilyCandidate> candidates_of(std::span<const Rule> rules) {
  std::map<std::string, FamilyCandidate> out;
  for (size_t i = 0; i < rules.size(); ++i) {
    std::map<std::string, const OpDef*> ops;
    for_each_source_term(rules[i], [&](const Term& term) {
      if (term.op != nullptr) ops.emplace(term.op->name, term.op);
    });
    for (const auto& [name, op] : ops) {
      Rule written = without_operator(rules[i], op);
      FamilyCandidate& candidate = out[print_rule(written)];
      candidate.written = std::move(written);
      candidate.members.try_emplace(name, op, i);
    }
  }
  return out;
}

/// Returns the candidate with the most rules, of several the one with the first name.
const FamilyCandidate* largest(const std::map<std::string, FamilyCandidate>& candidates) {
  const auto found =
      std::ranges::max_element(candidates, {}, [](const auto& entry) { return entry.second.members.size(); });
  return found == candidates.end() ? nullptr : &found->second;
}

}  // namespace

std::string print_in_families(std::span<const Rule> rules) {
  std::map<std::string, std::string> texts;  // by name
  std::set<size_t> grouped;
  auto candidates = candidates_of(rules);
  for (;;) {
    const FamilyCandidate* next = largest(candidates);
    if (next == nullptr || next->members.size() < 2) break;
    RuleFamily family{.written = next->written, .variable = kVariable, .ops = {}};
    for (const auto& [name, member] : next->members) {
      family.ops.push_back(member.first);
      grouped.insert(member.second);
    }
    texts[family.written.name] = print_family(family);
    for (auto& [text, candidate] : candidates)
      std::erase_if(candidate.members, [&](const auto& member) { return grouped.contains(member.second.second); });
  }
  for (size_t i = 0; i < rules.size(); ++i)
    if (!grouped.contains(i)) texts[rules[i].name] = print_rule(rules[i]);
  std::string out;
  for (const auto& [name, text] : texts) out += (out.empty() ? "" : "\n") + text;
  return out;
}

}  // namespace isomer
