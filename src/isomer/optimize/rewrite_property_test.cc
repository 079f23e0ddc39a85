// Tests that rewriting random graphs keeps what they compute.

#include <gtest/gtest.h>

#include <optional>

#include "isomer/base/rng.h"
#include "isomer/certificate/replay.h"
#include "isomer/check/graph_pair.h"
#include "isomer/eval/random.h"
#include "isomer/ir/builder.h"
#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"
#include "isomer/rules/builtin.h"
#include "isomer/rules/record.h"
#include "isomer/rules/rewrite.h"

namespace isomer {
namespace {

/// Random graphs over 2 x 2 matrices that contain many matches of the written rules.
class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : rng_(seed) {
    for (int i = 0; i < 3; ++i) values_.push_back(builder_.input({DType::Double, {2, 2}}));
    for (int i = 0; i < 2; ++i) values_.push_back(builder_.constant(random_tensor(DType::Double, {2, 2}, rng_.next())));
  }

  Graph build() {
    for (int i = 0; i < 14; ++i) values_.push_back(next());
    const std::vector<ValueId> outputs = {values_[values_.size() - 1], values_[values_.size() - 4]};
    return builder_.finish(outputs);
  }

 private:
  /// Returns mostly one of the latest values, so that graphs become deep.
  ValueId pick() {
    const size_t window = rng_.below(3) == 0 ? values_.size() : std::min<size_t>(values_.size(), 6);
    return values_[values_.size() - 1 - rng_.below(window)];
  }

  ValueId add(const char* name, const Attrs& attrs, std::initializer_list<ValueId> operands) {
    const auto value = builder_.add(op(name), attrs, operands);
    EXPECT_TRUE(value.has_value()) << (value ? "" : value.error().message);
    return *value;
  }

  ValueId literal(double value) { return builder_.constant(Tensor::of<double>(DType::Double, {1}, {value})); }

  ValueId next() {
    switch (rng_.below(16)) {
      case 0:
        return add("Relu", {}, {pick()});
      case 1:
        return add("Tanh", {}, {pick()});
      case 2:
        return add("Transpose", {{"perm", Ints{1, 0}}}, {pick()});
      case 3:
        return add("Neg", {}, {pick()});
      case 4:
      case 5:
        return add("Add", {}, {pick(), pick()});
      case 6:
        return add("Sub", {}, {pick(), pick()});
      case 7:
      case 8:
        return add("Mul", {}, {pick(), pick()});
      case 9:
      case 10:
      case 11:
        return add("MatMul", {}, {pick(), pick()});
      case 12:
        return add("Mul", {}, {pick(), literal(static_cast<double>(rng_.below(3)))});
      case 13:
        return add("Add", {}, {pick(), literal(static_cast<double>(rng_.below(2)))});
      case 14:
        return add("Reshape", {{"shape", Ints{2, 2}}}, {add("Reshape", {{"shape", Ints{4}}}, {pick()})});
      default:
        return through_concat();
    }
  }

  ValueId through_concat() {
    const auto axis = static_cast<int64_t>(rng_.below(2));
    const ValueId joined = add("Concat", {{"axis", axis}}, {pick(), pick()});
    const ValueId relu = rng_.below(2) == 0 ? add("Relu", {}, {joined}) : joined;
    const auto split = builder_.node(op("Split"), {{"axis", axis}, {"split", Ints{2, 2}}}, {&relu, 1});
    EXPECT_TRUE(split.has_value()) << (split ? "" : split.error().message);
    return builder_.at(*split).result(static_cast<uint32_t>(rng_.below(2)));
  }

  Rng rng_;
  GraphBuilder builder_;
  std::vector<ValueId> values_;
};

void expect_same(const Graph& before, const Graph& after, const std::string& what) {
  const PairComparison compared = compare_graphs(before, after);
  EXPECT_EQ(compared.outcome, PairComparison::Outcome::Exact) << what << "\n" << compared.text;
}

TEST(RewriteProperty, EveryMatchKeepsTheMeaning) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  size_t applied = 0;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    const Graph graph = RandomGraph(seed).build();
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
    const Graph graph = RandomGraph(seed).build();
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
    const Graph graph = RandomGraph(seed).build();
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
    const Graph first = RandomGraph(seed).build();
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
