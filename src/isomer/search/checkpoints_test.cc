#include "isomer/search/checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "isomer/eval/random_graph_testing.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> names(const Graph& graph, const auto& values) {
  std::vector<std::string> out;
  for (const ValueId value : values) out.push_back(graph.name(value));
  return out;
}

std::vector<std::string> twice(const Candidate& candidate) {
  std::vector<ValueId> values;
  for (const auto& [value, computation] : candidate.decisions.computations) {
    EXPECT_EQ(computation, Computation::Twice);
    values.push_back(value);
  }
  return names(candidate.graph, values);
}

/// As if all places to begin needed the same memory.
double equal_bytes(const Candidate&) { return 0; }

/// Four layers, the third with a branch around it, and their values read in the opposite order.
constexpr std::string_view kThereAndBack = R"(
  input x: f32[8]
  a = Exp(x)
  b = Tanh(a)
  c = Exp(b)
  t = Tanh(c)
  u = Neg(t)
  d = Add(c, u)
  e = Exp(d)
  ge = Mul(e, d)
  gt = Mul(ge, t)
  gc = Mul(gt, c)
  gb = Mul(gc, b)
  ga = Mul(gb, a)
  return ga)";

TEST(Checkpoints, AreTheCutsBeforeTheTurn) {
  const Graph graph = parsed(kThereAndBack);
  EXPECT_THAT(names(graph, checkpoints(graph)), ElementsAre("a", "b", "c", "d")) << "t and u run while c is kept";
}

TEST(Checkpoints, AreKeptAtEvenDistances) {
  const std::vector<Candidate> made = with_checkpoints(parsed(kThereAndBack), equal_bytes);
  ASSERT_EQ(made.size(), 2);
  EXPECT_THAT(twice(made[0]), ElementsAre("t")) << "u is not read again, d is kept, and e comes later";
  EXPECT_THAT(twice(made[1]), ElementsAre("b", "t"));
}

/// A chain whose values are read in the opposite order.
std::string chain(int values) {
  std::string text = "input v0: f32[8]\n";
  for (int i = 1; i <= values; ++i) text += fmt::format("v{} = {}(v{})\n", i, i % 2 == 0 ? "Exp" : "Tanh", i - 1);
  text += fmt::format("g{0} = Neg(v{0})\n", values);
  for (int i = values; i > 0; --i) text += fmt::format("g{} = Mul(g{}, v{})\n", i - 1, i, i);
  return text + "return g0\n";
}

TEST(Checkpoints, AreKeptAtTheSquareRootOfTheirNumberToo) {
  const Graph graph = parsed(chain(9));
  const size_t cuts = checkpoints(graph).size();
  ASSERT_EQ(cuts, 9);
  std::vector<size_t> computed;
  for (const Candidate& candidate : with_checkpoints(graph, equal_bytes)) computed.push_back(twice(candidate).size());
  EXPECT_THAT(computed, ElementsAre(4, 5, 6)) << "of the first eight; at distance 1 it is none";
}

TEST(Checkpoints, BeginWhereTheLeastMemoryIsNeeded) {
  const auto kept = [](const Candidate& candidate) {
    const std::vector<std::string> again = twice(candidate);
    std::string out;
    for (int i = 1; i <= 40; ++i)
      if (std::ranges::find(again, fmt::format("v{}", i)) == again.end()) out += fmt::format("{} ", i);
    return out;
  };
  const Graph graph = parsed(chain(40));
  std::vector<std::string> asked;
  const std::vector<Candidate> made = with_checkpoints(graph, [&](const Candidate& candidate) {
    asked.push_back(kept(candidate));
    return asked.back() == "3 9 15 21 27 33 39 40 " ? 1.0 : 2.0;
  });
  std::vector<std::string> found;
  for (const Candidate& candidate : made) found.push_back(kept(candidate));
  EXPECT_THAT(
      found, ElementsAre("1 3 5 7 9 11 13 15 17 19 21 23 25 27 29 31 33 35 37 39 40 ", "1 5 9 13 17 21 25 29 33 37 40 ",
                         "1 7 13 19 25 31 37 40 ", "3 9 15 21 27 33 39 40 ", "1 9 17 25 33 40 ", "1 17 33 40 "));
  EXPECT_EQ(asked.size(), 2 + 4 + 6 + 8 + 8);
  EXPECT_EQ(std::set<std::string>(asked.begin(), asked.end()).size(), asked.size());
  EXPECT_THAT(asked, testing::Contains("15 31 40 ")) << "the last of eight, of sixteen places";
}

TEST(Checkpoints, KeepDecisions) {
  Candidate candidate(parsed(kThereAndBack));
  const Graph& graph = candidate.graph;
  for (ValueId value = 0; value < graph.num_values(); ++value)
    if (graph.name(value) == "t") candidate.decisions.computations.emplace(value, Computation::Once);
  const std::vector<Candidate> made = with_checkpoints(candidate, equal_bytes);
  ASSERT_EQ(made.size(), 1) << "at distance 1, only t would be computed twice";
  std::map<std::string, Computation> decided;
  for (const auto& [value, computation] : made[0].decisions.computations) decided[graph.name(value)] = computation;
  EXPECT_EQ(decided, (std::map<std::string, Computation>{{"t", Computation::Once}, {"b", Computation::Twice}}));
}

TEST(Checkpoints, MayOnlyChangeSomethingFromAnotherBegin) {
  Candidate candidate(parsed(kThereAndBack));
  const Graph& graph = candidate.graph;
  for (ValueId value = 0; value < graph.num_values(); ++value)
    if (graph.name(value) == "t" || graph.name(value) == "b")
      candidate.decisions.computations.emplace(value, Computation::Once);
  const std::vector<Candidate> made = with_checkpoints(candidate, equal_bytes);
  ASSERT_EQ(made.size(), 1) << "with a, c and d, only b and t would be computed twice";
  std::vector<ValueId> twice;
  for (const auto& [value, computation] : made[0].decisions.computations)
    if (computation == Computation::Twice) twice.push_back(value);
  EXPECT_THAT(names(graph, twice), ElementsAre("a", "c"));
}

TEST(Checkpoints, AreNotHiddenByWeights) {
  const auto text = [](const char* weight) {
    return fmt::format(
        "input x: f32[8]\n{}\nv = Exp(w)\na = Exp(x)\nb = Tanh(a)\nc = Exp(b)\nd = Mul(c, v)\n"
        "gc = Mul(d, c)\ngb = Mul(gc, b)\nga = Mul(gb, a)\nreturn ga",
        weight);
  };
  const Graph data = parsed(text("input w: f32[8]"));
  EXPECT_LT(checkpoints(data).size(), 3) << "v is alive together with a, b and c";
  const Graph weight = parsed(text("parameter w: f32[8]"));
  EXPECT_THAT(names(weight, checkpoints(weight)), testing::IsSupersetOf({"a", "b", "c"}));
}

TEST(Checkpoints, NeedAWayBack) {
  EXPECT_THAT(with_checkpoints(parsed("input x: f32[8]\na = Exp(x)\nb = Neg(a)\nc = Exp(b)\nreturn c"), equal_bytes),
              IsEmpty());
  EXPECT_THAT(with_checkpoints(parsed("input x: f32[8]\na = Exp(x)\nreturn a"), equal_bytes), IsEmpty());
  EXPECT_THAT(with_checkpoints(parsed("input x: f32[8]\nreturn x"), equal_bytes), IsEmpty());
}

/// By the definition: the cuts of the nodes below `end`.
std::set<ValueId> cuts_below(const Graph& graph, NodeId end) {
  std::set<ValueId> out;
  for (NodeId place = 0; place < end; ++place) {
    std::vector<ValueId> alone;
    for (ValueId value = 0; value < graph.num_values(); ++value) {
      if (graph.producer(value) > place || !graph.runs(graph.producer_node(value))) continue;
      const auto readers = graph.consumers(value);
      if (std::ranges::any_of(readers, [&](NodeId id) { return id > place && id < end; })) alone.push_back(value);
    }
    if (alone.size() == 1) out.insert(alone[0]);
  }
  return out;
}

TEST(Checkpoints, OfRandomGraphsAreThoseOfTheDefinition) {
  size_t largest = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Graph graph = RandomMatrixGraph(seed).build();
    std::set<ValueId> expected;
    for (NodeId end = 0; end <= graph.nodes().size(); ++end)
      if (std::set<ValueId> cuts = cuts_below(graph, end); cuts.size() >= expected.size()) expected = std::move(cuts);
    const std::vector<ValueId> found = checkpoints(graph);
    EXPECT_EQ(std::set<ValueId>(found.begin(), found.end()), expected) << seed;
    largest = std::max(largest, expected.size());
  }
  EXPECT_GE(largest, 3);
}

}  // namespace
}  // namespace isomer
