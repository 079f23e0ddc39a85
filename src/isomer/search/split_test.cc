#include "isomer/search/split.h"

#include <algorithm>
#include <set>

#include "isomer/search/matches.h"
#include "isomer/search/part.h"
#include "isomer/search/testing.h"

namespace isomer {
namespace {

/// Returns a chain of n alternating relus and tanhs.
Graph chain(int n) {
  std::string text = "input x0: f32[2]\n";
  for (int i = 0; i < n; ++i) text += fmt::format("x{} = {}(x{})\n", i + 1, i % 2 == 0 ? "Relu" : "Tanh", i);
  return parsed(text + fmt::format("return x{}\n", n));
}

void expect_partition(const Graph& graph, const Split& split, size_t threshold) {
  std::vector<NodeId> all;
  std::set<NodeId> before;
  for (const auto& part : split.parts) {
    EXPECT_LE(part.size(), threshold);
    EXPECT_EQ(convex_hull(graph, part), part);
    for (const NodeId id : part)  // topological order: nothing reads from a later part
      for (const ValueId operand : graph.operands(graph.node(id)))
        if (operand != kNoValue && !graph.is_constant_derived(operand) && !graph.producer_node(operand).is_input()) {
          EXPECT_TRUE(before.contains(graph.producer(operand)) ||
                      std::binary_search(part.begin(), part.end(), graph.producer(operand)));
        }
    before.insert(part.begin(), part.end());
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, run_time_nodes(graph));
}

TEST(Split, PartsAreSmallConvexAndOrdered) {
  for (const size_t threshold : {1, 2, 3, 5, 30}) {
    const Graph line = chain(23);
    expect_partition(line, split_graph(line, {}, threshold), threshold);
    const Graph branches = parsed(kBranches);
    expect_partition(branches, split_graph(branches, {}, threshold), threshold);
  }
}

/// Returns n blocks of four operators that read the results of the two blocks before.
Graph blocks_of_two(int n) {
  std::string text = "input x0: f32[2]\ninput x1: f32[2]\n";
  for (int i = 2; i < n + 2; ++i)
    text += fmt::format("a{0} = Relu(x{1})\nb{0} = Tanh(x{2})\nc{0} = Add(a{0}, b{0})\nx{0} = Sigmoid(c{0})\n", i,
                        i - 1, i - 2);
  return parsed(text + fmt::format("return x{}\n", n + 1));
}

/// Returns the operators of each part.
std::vector<std::string> shapes_of(const Graph& graph, const Split& split) {
  std::vector<std::string> out;
  for (const auto& part : split.parts) {
    std::string& ops = out.emplace_back();
    for (const NodeId id : part) ops += graph.node(id).op->name + " ";
  }
  return out;
}

TEST(Split, RepeatedBlocksBecomeEqualParts) {
  for (const auto& [graph, operators] : {std::pair(chain(200), 2), std::pair(blocks_of_two(50), 4)}) {
    for (const size_t threshold : {4, 9, 30}) {
      const Split split = split_graph(graph, {}, threshold);
      expect_partition(graph, split, threshold);
      const std::vector<std::string> shapes = shapes_of(graph, split);
      // The first and the last blocks have other surroundings.
      if (shapes.size() > 20) {
        const std::set<std::string> middle(shapes.begin() + 8, shapes.end() - 8);
        EXPECT_EQ(middle.size(), 1U) << operators << ", " << threshold;
      }
      // As many blocks as a part can take.
      EXPECT_LE(split.parts.size(),
                200 / (threshold / static_cast<size_t>(operators) * static_cast<size_t>(operators)) + 8);
    }
  }
}

TEST(Split, CutsAfterEachNodeOnce) {
  // Fifty branches, layer by layer: successive copies of a cut differ in one node.
  std::string text = "input x: f32[2]\n";
  std::string joined;
  for (int i = 0; i < 50; ++i) {
    text += fmt::format("w{0} = f32[2]{{seed {1}}}\nv{0}_0 = Mul(x, w{0})\n", i, i + 1);
    joined += fmt::format("{}v{}_19", i == 0 ? "" : ", ", i);
  }
  for (int k = 1; k < 20; ++k)
    for (int i = 0; i < 50; ++i)
      text += fmt::format("v{0}_{1} = {2}(v{0}_{3})\n", i, k, k % 2 == 0 ? "Tanh" : "Sigmoid", k - 1);
  const Graph graph = parsed(text + "y = Concat(" + joined + ") {axis=0}\nreturn y\n");
  const Split split = split_graph(graph, {}, 30);
  expect_partition(graph, split, 30);
  EXPECT_TRUE(std::ranges::is_sorted(split.cuts, std::less_equal()));
}

TEST(Split, SeparatesWhatIsNotConnected) {
  std::string text = "input x: f32[2]\n";
  std::string outputs;
  for (int i = 0; i < 12; ++i) {
    text += fmt::format("y{} = {}(x)\n", i, i % 2 == 0 ? "Relu" : "Tanh");
    text += fmt::format("z{0} = Sigmoid(y{0})\n", i);
    outputs += fmt::format("{}z{}", i == 0 ? "" : ", ", i);
  }
  const Graph graph = parsed(text + "return " + outputs + "\n");
  expect_partition(graph, split_graph(graph, {}, 5), 5);
}

TEST(Split, CanCutAfterTheNodesOfTheFewestMatches) {
  const Graph graph = chain(8);
  for (const auto& [matched, other] : {std::pair("Relu", "Tanh"), std::pair("Tanh", "Relu")}) {
    const auto rules = rules_of(fmt::format("rule r\n({0} ?x) => (Neg (Neg ({0} ?x)))", matched));
    const Split split = split_graph(graph, all_matches(graph, rules), 4, Deadline::never(), Capacity::At);
    expect_partition(graph, split, 4);
    ASSERT_FALSE(split.cuts.empty());
    for (const NodeId cut : split.cuts) EXPECT_EQ(graph.node(cut).op->name, other);
  }
}

TEST(Split, CutsWhereNoMatchPasses) {
  const Graph graph = chain(8);
  // Every Tanh of a Relu is a match, so that the cut must be after a Tanh.
  const auto rules = rules_of("rule r\n(Tanh (Relu ?x)) => (Tanh (Relu ?x))");
  const Split split = split_graph(graph, all_matches(graph, rules), 4);
  ASSERT_FALSE(split.cuts.empty());
  for (const NodeId cut : split.cuts) EXPECT_EQ(graph.node(cut).op->name, "Tanh");
}

/// Tries all ways to cut a graph in two: sets of nodes closed under their operands, with the first quarter and without
/// the last. Returns the smallest sum of capacities of their border.
int64_t min_cut(const Graph& graph, std::span<const Match> matches) {
  const std::vector<NodeId> nodes = run_time_nodes(graph);
  const size_t n = nodes.size();
  const size_t forced = std::max<size_t>(1, n / 4);
  int64_t best = std::numeric_limits<int64_t>::max();
  for (uint32_t set = 0; set < (1U << n); ++set) {
    const auto upper = [&](NodeId id) {
      const auto at = std::lower_bound(nodes.begin(), nodes.end(), id);
      // inputs and weights are allowed
      return at == nodes.end() || *at != id || (set >> (at - nodes.begin()) & 1) != 0;
    };
    bool valid = true;
    for (size_t i = 0; i < n; ++i) {
      if ((i < forced && !upper(nodes[i])) || (i >= n - forced && upper(nodes[i]))) valid = false;
      for (const ValueId operand : graph.operands(graph.node(nodes[i])))
        if (upper(nodes[i]) && !upper(graph.producer(operand))) valid = false;
    }
    if (!valid) continue;
    std::set<NodeId> border;
    for (const NodeId id : nodes)
      for (const ValueId operand : graph.operands(graph.node(id)))
        if (!upper(id) && upper(graph.producer(operand)) && !graph.is_constant_derived(operand) &&
            !graph.producer_node(operand).is_input())
          border.insert(graph.producer(operand));
    int64_t sum = 0;
    for (const Match& match : matches)
      for (const NodeId id : match.nodes) {
        const auto reads = [&](NodeId reader) {
          const auto operands = graph.operands(graph.node(reader));
          return std::any_of(operands.begin(), operands.end(), [&](ValueId v) { return graph.producer(v) == id; });
        };
        if (border.contains(id) && std::any_of(match.nodes.begin(), match.nodes.end(), reads)) ++sum;
      }
    best = std::min(best, sum);
  }
  return best;
}

TEST(Split, FirstCutIsTheLeastOfAll) {
  const auto rules = rules_of(
      "rule a\n(Relu (Conv ..c ?x ?w)) => (Relu (Conv ..c ?x ?w))\n"
      "rule b\n(Concat axis=?a (Relu @x)...) => (Concat axis=?a (Relu @x)...)\n"
      "rule c\n(Add (Conv ..c ?x ?w) ?y) => (Add (Conv ..c ?x ?w) ?y)\n");
  const Graph graph = parsed(kBranches);
  const auto matches = all_matches(graph, rules);
  ASSERT_GT(matches.size(), 4U);
  const Split split = split_graph(graph, matches, run_time_nodes(graph).size() - 1);
  ASSERT_EQ(split.parts.size(), 2U);
  int64_t sum = 0;
  for (const Match& match : matches)
    for (const NodeId id : split.cuts)
      if (std::binary_search(match.nodes.begin(), match.nodes.end(), id))
        for (const NodeId reader : graph.consumers(graph.node(id).result()))
          if (std::binary_search(match.nodes.begin(), match.nodes.end(), reader)) {
            ++sum;
            break;
          }
  EXPECT_EQ(sum, min_cut(graph, matches));
}

}  // namespace
}  // namespace isomer
