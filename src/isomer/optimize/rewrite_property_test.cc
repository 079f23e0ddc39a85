// Tests that rewriting random graphs keeps what they compute.

#include <gtest/gtest.h>

#include <optional>

#include "isomer/base/rng.h"
#include "isomer/certificate/replay.h"
#include "isomer/check/graph_pair.h"
#include "isomer/eval/random_graph_testing.h"
#include "isomer/rules/builtin.h"
#include "isomer/rules/record.h"
#include "isomer/rules/rewrite.h"

namespace isomer {
namespace {

void expect_same(const Graph& before, const Graph& after, const std::string& what) {
  const PairComparison compared = compare_graphs(before, after);
  EXPECT_EQ(compared.outcome, PairComparison::Outcome::Exact) << what << "\n" << compared.text;
}

TEST(RewriteProperty, EveryMatchKeepsTheMeaning) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  size_t applied = 0;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    const Graph graph = RandomMatrixGraph(seed).build();
    const OpIndex index(graph);
    for (const Rule& rule : *rules)
      for (const Match& match : find_matches(graph, index, rule, 4)) {
        const auto out = apply_match(graph, match);
        if (!out) continue;
        expect_same(graph, *out, fmt::format("{} with seed {}", rule.name, seed));
        ++applied;
      }
  }
  EXPECT_GT(applied, 500U);
}

TEST(RewriteProperty, ManyMatchesAtOnceKeepTheMeaningAndReplay) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  replay::RuleBook book;
  for (const Rule& rule : *rules) book.emplace(rule.name, rule);
  size_t applied = 0;
  for (uint64_t seed = 1001; seed <= 1600; ++seed) {
    const Graph graph = RandomMatrixGraph(seed).build();
    const OpIndex index(graph);
    std::vector<Match> matches;
    for (const Rule& rule : *rules)
      for (Match& match : find_matches(graph, index, rule, 4)) matches.push_back(std::move(match));
    const Rewritten out = apply_matches(graph, matches);
    expect_same(graph, out.graph, fmt::format("seed {}", seed));
    const Move move = record_move(graph, out.applied, out.graph);
    replay::Tally tally;
    const auto replayed = replay::replay_moves(graph, {&move, 1}, book, tally);
    EXPECT_TRUE(replayed.has_value()) << "seed " << seed << ": " << (replayed ? "" : replayed.error().message);
    EXPECT_EQ(tally.applications, out.applied.size());
    applied += out.applied.size();
  }
  EXPECT_GT(applied, 500U);
}

/// Returns the graph that the replayer makes of a move whose end is not known; nothing if it refuses the move.
std::optional<Graph> accepted(const Graph& before, Move move, const replay::RuleBook& book) {
  constexpr std::string_view kOutcome = "the replay ends with ";
  replay::Tally tally;
  move.after = 0;
  const auto refused = replay::replay_moves(before, {&move, 1}, book, tally);
  const std::string message = refused ? "" : refused.error().message;
  const size_t at = message.find(kOutcome);
  if (at == std::string::npos) return std::nullopt;
  move.after = std::stoull(message.substr(at + kOutcome.size()), nullptr, 16);
  return replay::replay_moves(before, {&move, 1}, book, tally).value();
}

/// Replaces some values in recorded applications. Whatever the replayer accepts must be true.
TEST(RewriteProperty, WhatTheReplayerAcceptsKeepsTheMeaning) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  replay::RuleBook book;
  for (const Rule& rule : *rules) book.emplace(rule.name, rule);
  size_t tried = 0;
  size_t passed = 0;
  for (uint64_t seed = 3001; seed <= 3200; ++seed) {
    const Graph graph = RandomMatrixGraph(seed).build();
    const OpIndex index(graph);
    Rng rng(seed);
    const auto other = [&](uint64_t& hash) {
      if (rng.below(3) == 0) hash = graph.value_hash(static_cast<ValueId>(rng.below(graph.num_values())));
    };
    for (const Rule& rule : *rules) {
      for (const Match& match : find_matches(graph, index, rule, 2)) {
        for (int change = 0; change < 4; ++change) {
          Move move{
              .before = graph.hash(), .after = 0, .applications = {record(graph, match)}, .parts = {}, .constants = {}};
          Application& application = move.applications[0];
          for (uint64_t& root : application.roots) other(root);
          for (auto& [name, value] : application.values) other(value);
          for (auto& [name, values] : application.sequences)
            for (uint64_t& value : values) other(value);
          ++tried;
          const auto after = accepted(graph, move, book);
          if (!after) continue;
          ++passed;
          expect_same(graph, *after, fmt::format("{} with seed {}", rule.name, seed));
        }
      }
    }
  }
  EXPECT_GT(tried, 1000U);
  EXPECT_GT(passed, 100U) << "those that were not changed at all, for one";
  EXPECT_LT(passed, tried / 2);
}

TEST(RewriteProperty, ChainsOfRewritesKeepTheMeaning) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  for (uint64_t seed = 2001; seed <= 2300; ++seed) {
    const Graph first = RandomMatrixGraph(seed).build();
    Graph graph = first;
    Rng rng(seed);
    for (int step = 0; step < 8; ++step) {
      std::vector<Match> matches;
      const OpIndex index(graph);
      for (const Rule& rule : *rules)
        for (Match& match : find_matches(graph, index, rule, 4)) matches.push_back(std::move(match));
      if (matches.empty()) break;
      if (auto out = apply_match(graph, matches[rng.below(matches.size())])) graph = std::move(*out);
    }
    expect_same(first, graph, fmt::format("seed {}", seed));
  }
}

}  // namespace
}  // namespace isomer
