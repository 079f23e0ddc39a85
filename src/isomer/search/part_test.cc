#include "isomer/search/part.h"

#include "isomer/search/testing.h"

namespace isomer {
namespace {

TEST(Part, SpliceOfEveryPartUnchangedGivesTheWhole) {
  const Graph whole = parsed(kBranches);
  const std::vector<NodeId> nodes = run_time_nodes(whole);
  ASSERT_EQ(nodes.size(), 9U);
  for (size_t from = 0; from < nodes.size(); ++from) {
    for (size_t to = from + 1; to <= nodes.size(); ++to) {
      const Part part = extract_part(whole, convex_hull(whole, std::span(nodes).subspan(from, to - from)));
      ASSERT_TRUE(verify_graph(part.graph).has_value());
      EXPECT_EQ(part.graph.inputs().size(), part.inputs.size());
      EXPECT_EQ(part.graph.outputs().size(), part.outputs.size());
      const Replacement same{&part, &part};
      const Spliced spliced = splice(whole, {&same, 1});
      ASSERT_TRUE(verify_graph(spliced.graph).has_value());
      EXPECT_EQ(spliced.graph.hash(), whole.hash()) << from << " to " << to;
      for (const ValueId value : part.outputs) EXPECT_EQ(spliced.value_hashes[value], whole.value_hash(value));
      for (const ValueId value : part.inputs) EXPECT_EQ(spliced.value_hashes[value], whole.value_hash(value));
    }
  }
}

TEST(Part, SpliceKeepsDecisionsInsideAndOutside) {
  const Graph graph = parsed(kBranches);
  const std::vector<NodeId> nodes = run_time_nodes(graph);
  Decisions decisions;
  decisions.layouts[graph.inputs()[0]] = Layout::Plain;
  for (const NodeId id : nodes)
    decisions.layouts[graph.node(id).result()] = id % 2 == 0 ? Layout::Plain : Layout::Blocked;
  const Candidate whole(graph, decisions);
  for (size_t from = 0; from + 2 <= nodes.size(); ++from) {
    const Part part = extract_part(whole, convex_hull(graph, std::span(nodes).subspan(from, 2)));
    EXPECT_EQ(part.decisions.layouts.size(), run_time_nodes(part.graph).size());
    const Replacement same{&part, &part};
    EXPECT_EQ(splice(whole, {&same, 1}).hash(), whole.hash());
    const Candidate undecided = part.graph;
    const Replacement other{&part, &undecided};
    const Spliced spliced = splice(whole, {&other, 1});
    EXPECT_EQ(spliced.decisions.layouts.size(), nodes.size() + 1 - run_time_nodes(part.graph).size());
  }
}

TEST(Part, TakesInWeightsOutsideAsParameters) {
  const Graph whole = parsed(
      "input x: f32[2,3]\nparameter a: f32[3,2]\nparameter b: f32[3,2]\nw = Concat(a, b) {axis=1}\nv = Relu(x)\n"
      "y = MatMul(v, w)\nreturn y\n");
  const std::vector<NodeId> last = {whole.producer(whole.outputs()[0])};
  const Part part = extract_part(whole, last);
  ASSERT_EQ(part.inputs.size(), 2U);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(part.graph.producer_node(part.graph.inputs()[i]).is_parameter(), whole.name(part.inputs[i]) == "w");
  const Replacement same{&part, &part};
  EXPECT_EQ(splice(whole, {&same, 1}).graph.hash(), whole.hash());
}

TEST(Part, HullTakesInWhatLiesBetween) {
  const Graph whole = parsed(kBranches);
  const std::vector<NodeId> nodes = run_time_nodes(whole);
  // The relu is between the first convolution and the join; the other branch is not.
  const NodeId ends[] = {nodes[0], nodes[4]};
  EXPECT_EQ(convex_hull(whole, ends), (std::vector<NodeId>{nodes[0], nodes[2], nodes[4]}));
}

TEST(Part, KnowsWhatLivesBesideIt) {
  const Graph whole =
      parsed("input x: f32[2]\na = Relu(x)\nb = Tanh(a)\nc = Abs(b)\nd = Add(c, a)\ne = Add(d, x)\nreturn e, b\n");
  const std::vector<double> bytes(whole.num_values(), 8);
  const std::vector<NodeId> nodes = run_time_nodes(whole);
  // While c is computed from b, x and a are live for later readers.
  EXPECT_EQ(live_beside(whole, std::span(nodes).subspan(2, 1), bytes), 16);
  // While b and c are computed, x is live; a is read for b, and is then live for a later reader.
  EXPECT_EQ(live_beside(whole, std::span(nodes).subspan(1, 2), bytes), 16);
  EXPECT_EQ(live_beside(whole, std::span(nodes).first(2), bytes), 8);
  EXPECT_EQ(live_beside(whole, nodes, bytes), 0);
}

TEST(Part, ReplacementKeepsNamesOfItsOutputs) {
  const Graph whole = parsed("input x: f32[2]\na = Relu(x)\nb = Tanh(a)\nc = Abs(b)\nreturn c\n");
  const std::vector<NodeId> nodes = run_time_nodes(whole);
  const Part part = extract_part(whole, std::span(nodes).first(2));
  const Candidate other = parsed("input x: f32[2]\ny = Sigmoid(x)\nreturn y\n");
  const Replacement replacement{&part, &other};
  const Graph spliced = splice(whole, {&replacement, 1}).graph;
  EXPECT_EQ(spliced.hash(), parsed("input x: f32[2]\nb = Sigmoid(x)\nc = Abs(b)\nreturn c\n").hash());
}

}  // namespace
}  // namespace isomer
