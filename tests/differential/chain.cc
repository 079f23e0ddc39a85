#include "chain.h"

#include <optional>

#include "isomer/base/rng.h"
#include "isomer/rules/rewrite.h"

namespace isomer::differential {
namespace {

constexpr size_t kMaxNodes = 120;  // some rules grow a graph whenever they are applied
constexpr size_t kMatches = 6;

/// One match of the rule, at random, applied.
std::optional<Step> apply(const Graph& graph, const OpIndex& index, const Rule& rule, Rng& rng) {
  std::vector<Match> matches = find_matches(graph, index, rule, kMatches);
  while (!matches.empty()) {
    const size_t i = rng.below(matches.size());
    if (auto out = apply_match(graph, matches[i]); out && out->hash() != graph.hash())
      return Step{&rule, std::move(*out)};
    matches.erase(matches.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return std::nullopt;
}

std::optional<Step> step(const Graph& graph, std::vector<const Rule*> rules, Rng& rng) {
  const OpIndex index(graph);
  while (!rules.empty()) {
    std::swap(rules[rng.below(rules.size())], rules.back());
    if (auto out = apply(graph, index, *rules.back(), rng)) return out;
    rules.pop_back();
  }
  return std::nullopt;
}

}  // namespace

std::vector<Step> rewrite(const RandomGraph& from, const std::vector<Rule>& rules, size_t max_steps, uint64_t seed) {
  Rng rng(seed);
  std::vector<const Rule*> all;
  for (const Rule& rule : rules) all.push_back(&rule);
  std::vector<Step> steps;
  while (steps.size() < max_steps) {
    const Graph& graph = steps.empty() ? from.graph : steps.back().graph;
    if (graph.nodes().size() > kMaxNodes) break;
    std::optional<Step> next;
    if (steps.size() % 2 == 0) next = step(graph, from.planted, rng);
    if (!next) next = step(graph, all, rng);
    if (!next) break;
    steps.push_back(std::move(*next));
  }
  return steps;
}

}  // namespace isomer::differential
