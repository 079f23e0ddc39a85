// Tests that all rules, and more blocks of a network, do not make the result of a search worse with the same budget.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "isomer/base/rng.h"
#include "isomer/cost/roofline.h"
#include "isomer/models/models.h"
#include "isomer/rules/builtin.h"
#include "isomer/search/cost_evaluator.h"
#include "isomer/search/searches.h"

namespace isomer {
namespace {

/// Returns the roofline cost of a search's result. The budget is a number of graphs, so that every run has the same
/// result.
double min_cost(const Graph& graph, const RuleFile& file, const std::string& search) {
  RooflineCost costs;
  const Objective latency;
  CostEvaluator evaluator(costs, latency);
  const SearchContext context{.rules = file.rules, .tactics = file.tactics, .evaluator = evaluator};
  const auto found = run_search(graph, {.search = search}, context);
  return latency(costs.metrics(found.value().graph).value());
}

double cost_before(const Graph& graph) { return RooflineCost().metrics(graph).value().latency_us; }

/// Returns indices of the rules in a random order that depends only on the seed.
std::vector<size_t> shuffled(size_t size, uint64_t seed) {
  std::vector<size_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  Rng rng(seed);
  for (size_t i = size; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

RuleFile subset(const RuleFile& all, std::span<const size_t> chosen) {
  std::vector<size_t> order(chosen.begin(), chosen.end());
  std::sort(order.begin(), order.end());
  RuleFile out{{}, all.tactics};
  for (const size_t i : order) out.rules.push_back(all.rules[i]);
  return out;
}

/// All rules, which users have, must find what any random part of them finds. Of two such parts, the larger one may
/// find less: rules whose steps do not pay by themselves can use up the budget (289 instead of 237 us on squeezenet
/// with 152 rules and with 101 of these).
TEST(GrowthOfRules, AllFindWhatSomeFind) {
  const RuleFile all = builtin_rule_file().value();
  for (const std::string network : {"sru", "squeezenet", "inception-e-1", "nasrnn", "resnet-blocks-2"}) {
    const Graph graph = build_model(network).value();
    const double with_all = min_cost(graph, all, "auto");
    EXPECT_LE(with_all, cost_before(graph));
    for (uint64_t seed = 0; seed < 6; ++seed) {
      const std::vector<size_t> order = shuffled(all.rules.size(), seed);
      for (const size_t quarters : {1, 2, 3}) {
        const RuleFile some = subset(all, std::span(order).first(order.size() * quarters / 4));
        const double cost = min_cost(graph, some, "auto");
        EXPECT_LE(cost, cost_before(graph));
        EXPECT_LE(with_all, 1.001 * cost) << network << ", seed " << seed << ", " << some.rules.size() << " rules";
      }
    }
  }
}

class Growth : public testing::TestWithParam<std::string> {};

/// Blocks differ (the first InceptionE reads fewer channels), so the test requires that the saved time grows with them.
TEST_P(Growth, EveryBlockSavesAsMuchAsThoseBefore) {
  const RuleFile all = builtin_rule_file().value();
  const std::vector<std::pair<std::string, std::vector<int>>> families{{"inception-e-", {1, 2, 3, 4}},
                                                                       {"resnet-blocks-", {2, 4, 6, 8}}};
  for (const auto& [family, sizes] : families) {
    double most = 0;  // saved per block, in any smaller network
    for (const int blocks : sizes) {
      const Graph graph = build_model(family + std::to_string(blocks)).value();
      const double saved = (cost_before(graph) - min_cost(graph, all, GetParam())) / blocks;
      EXPECT_GE(saved, 0.99 * most) << family << blocks;
      most = std::max(most, saved);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Searches, Growth, testing::Values("auto", "backtrack"),
                         [](const auto& search) { return search.param; });

}  // namespace
}  // namespace isomer
