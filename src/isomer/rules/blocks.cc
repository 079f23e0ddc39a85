#include "isomer/rules/blocks.h"

#include <algorithm>

namespace isomer {

std::vector<Rule> prefer_blocks(std::span<const Rule> rules, std::span<const int64_t> blocks) {
  std::vector<Rule> out(rules.begin(), rules.end());
  if (blocks.empty()) return out;
  for (Rule& rule : out)
    for (Choice& choice : rule.choices)
      if (choice.block) choice.preferred.assign(blocks.begin(), blocks.end());
  return out;
}

bool may_choose(const Choice& choice, const Dim& value) {
  return choice.preferred.empty() ||
         std::ranges::any_of(choice.preferred, [&](int64_t block) { return value.is(block); });
}

std::vector<int64_t> chosen_blocks(const Match& match) {
  std::vector<int64_t> out;
  for (const Choice& choice : match.rule->choices) {
    const ExprValue* value = choice.block ? match.binding.attr(choice.name) : nullptr;
    if (value != nullptr) out.push_back(std::get<Dim>(*value).value());
  }
  return out;
}

}  // namespace isomer
