#include "isomer/discover/subsumption.h"

#include <algorithm>
#include <tuple>

#include "isomer/base/parallel.h"
#include "isomer/check/instances.h"
#include "isomer/rules/match.h"
#include "isomer/rules/rewrite.h"
#include "isomer/rules/walk.h"

namespace isomer {
namespace {

/// A small graph, and the result of a rule on it.
struct Example {
  Graph before;
  uint64_t after;
};

constexpr size_t kPerRank = 6;
constexpr size_t kSubsumptionSteps = 5000;
constexpr size_t kMatches = 8;

/// Returns graphs that a rule applies to: some random ones of every rank.
std::vector<Example> examples_of(const Rule& rule) {
  std::vector<Example> out;
  for (size_t rank = 0; rank <= 4; ++rank) {
    const size_t enough = out.size() + kPerRank;
    for (uint64_t draw = 1; draw <= 2 * kPerRank && out.size() < enough; ++draw) {
      const InstanceBounds bounds{.rank = rank, .extents = {1, 2, 3, 4}, .sample = draw};
      for_each_instance(rule, bounds, kSubsumptionSteps, [&](const Instance& instance) {
        const auto graph = instance.build(1);
        if (!graph) return true;
        const auto matches = find_matches(*graph, OpIndex(*graph), rule, 1);
        const auto after = matches.empty() ? Result<Graph>(fail("no match")) : apply_match(*graph, matches[0]);
        if (!after) return true;
        out.push_back({*graph, after->hash()});
        return false;
      });
    }
  }
  return out;
}

/// Returns whether one application of the rule to each graph gives the recorded result.
bool explains(const Rule& rule, const std::vector<Example>& examples) {
  return std::ranges::all_of(examples, [&](const Example& example) {
    const auto matches = find_matches(example.before, OpIndex(example.before), rule, kMatches);
    return std::ranges::any_of(matches, [&](const Match& match) {
      const auto after = apply_match(example.before, match);
      return after && after->hash() == example.after;
    });
  });
}

/// Returns the complexity of a rule: rules with fewer terms, then fewer conditions, come first.
std::tuple<size_t, size_t, std::string> weight(const Rule& rule) {
  size_t terms = 0;
  for (const auto* side : {&rule.sources, &rule.targets})
    for (const Term& term : *side) for_each_term(term, [&](const Term&) { ++terms; });
  return {terms, rule.conditions.size(), rule.name};
}

}  // namespace

std::vector<CheckedRule> without_instances(std::vector<CheckedRule> rules, int threads) {
  std::ranges::sort(rules, {}, [](const CheckedRule& each) { return weight(each.rule); });
  const auto repeated = [](const CheckedRule& x, const CheckedRule& y) { return x.rule.name == y.rule.name; };
  rules.erase(std::unique(rules.begin(), rules.end(), repeated), rules.end());
  std::vector<char> dropped(rules.size(), 0);
  parallel_for(rules.size(), threads, 1, [&](size_t i, size_t) {
    const std::vector<Example> examples = examples_of(rules[i].rule);
    for (size_t j = 0; j < i && !examples.empty() && dropped[i] == 0; ++j)
      if (explains(rules[j].rule, examples)) dropped[i] = 1;
  });
  std::vector<CheckedRule> out;
  for (size_t i = 0; i < rules.size(); ++i)
    if (dropped[i] == 0) out.push_back(std::move(rules[i]));
  std::ranges::sort(out, {}, [](const CheckedRule& each) { return each.rule.name; });
  return out;
}

}  // namespace isomer
