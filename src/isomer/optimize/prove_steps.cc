#include "isomer/optimize/prove_steps.h"

#include "isomer/optimize/certify.h"

namespace isomer {
Result<std::map<std::string, AppliedProofs>> prove_steps(const Graph& start, const Graph& end,
                                                         const SearchReport& search, const RuleSet& rules) {
  std::set<std::string> names;
  for (const SearchStep& step : search.steps) collect_rules(step.moves, names);
  std::erase_if(names,
                [&](const std::string& name) { return rules.verdicts.at(name) == verdict_name(Verdict::Proved); });
  if (names.empty() || start.hash() == end.hash()) return std::map<std::string, AppliedProofs>{};
  ISOMER_TRY(const std::vector<Move> moves, moves_of(start, end, search, rules));
  replay::RuleBook book;
  for (const Rule& rule : rules.rules) book.emplace(rule.name, rule);
  return prove_moves(start, moves, book, names);
}

}  // namespace isomer
