#include "isomer/plan/recomputation.h"

#include <gtest/gtest.h>

#include "isomer/ops/again.h"
#include "isomer/ops/graph_testing.h"

namespace isomer {
namespace {

Candidate twice(const Graph& graph, std::initializer_list<const char*> names) {
  Candidate out(graph);
  for (const char* name : names) out.decisions.computations.emplace(value_named(graph, name), Computation::Twice);
  return out;
}

constexpr const char* kThereAndBack =
    "input x: f32[4]\na = Exp(x)\nb = Tanh(a)\nc = Sin(b)\nd = Cos(c)\ne = Mul(d, c)\nf = Mul(e, b)\ng = Mul(f, a)\n"
    "return g";

TEST(Recomputation, IsWhereLateReadersAre) {
  const Graph graph = parsed(kThereAndBack);
  EXPECT_EQ(second_computations(twice(graph, {"b"}))[value_named(graph, "b")], graph.producer(value_named(graph, "f")));
  const Recomputed run = with_recomputation(twice(graph, {"b"}));
  EXPECT_TRUE(run.candidate.decisions.empty());
  std::vector<std::string> names;
  for (const Node& node : run.candidate.graph.nodes()) names.push_back(node.op->name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"Input", "Exp", "Tanh", "Sin", "Cos", "Mul", "Again", "Tanh", "Mul", "Mul"}));
  for (NodeId id = 0; id < run.nodes.size(); ++id) {
    const Node& node = run.candidate.graph.node(id);
    EXPECT_TRUE(node.op == &again_op() || graph.node(run.nodes[id]).op == node.op);
  }
}

TEST(Recomputation, OfAChainStartsFromWhatIsKept) {
  const Graph graph = parsed(kThereAndBack);
  const Recomputed run = with_recomputation(twice(graph, {"a", "b", "c"}));
  std::vector<std::string> names;
  for (const Node& node : run.candidate.graph.nodes()) names.push_back(node.op->name);
  EXPECT_EQ(names, (std::vector<std::string>{"Input", "Exp", "Tanh", "Sin", "Cos", "Again", "Exp", "Tanh", "Sin", "Mul",
                                             "Mul", "Mul"}));
}

TEST(Recomputation, CountsSecondComputationsAmongTheUses) {
  // Only b is read late; a is needed again for it, and x is there.
  const Graph graph =
      parsed("input x: f32[4]\na = Exp(x)\nb = Tanh(a)\nc = Sin(b)\nd = Cos(c)\ne = Exp(d)\nf = Mul(e, b)\nreturn f");
  const std::vector<NodeId> places = second_computations(twice(graph, {"a", "b"}));
  for (const char* name : {"a", "b"})
    EXPECT_EQ(places[value_named(graph, name)], graph.producer(value_named(graph, "f"))) << name;
  EXPECT_EQ(places[value_named(graph, "c")], kNoPlace);
}

TEST(Recomputation, IsOfAllResultsOfANodeTogether) {
  // p is read late by f already, q by g.
  const Graph graph = parsed(
      "input x: f32[4]\na = Exp(x)\np, q = Split(a) {axis=0, split=[2,2]}\nb = Mul(p, q)\nc = Sin(b)\nd = Cos(c)\n"
      "e = Exp(d)\nf = Mul(e, p)\ng = Mul(f, q)\nreturn g");
  const std::vector<NodeId> places = second_computations(twice(graph, {"p", "q"}));
  EXPECT_EQ(places[value_named(graph, "p")], graph.producer(value_named(graph, "f")));
  EXPECT_EQ(places[value_named(graph, "q")], places[value_named(graph, "p")]);
  const Graph run = with_recomputation(twice(graph, {"p", "q"})).candidate.graph;
  EXPECT_EQ(std::ranges::count(run.nodes(), find_op("Split"), &Node::op), 2);
}

TEST(Recomputation, IsOfNothingElse) {
  const Graph graph =
      parsed("input x: f32[4]\nw = f32[4]{1,2,3,4}\nv = Exp(w)\na = Mul(x, v)\nb = Exp(a)\nreturn a, b");
  const Recomputed run = with_recomputation(twice(graph, {"x", "w", "v", "a", "b"}));
  EXPECT_EQ(run.candidate.graph.hash(), graph.hash());
}

}  // namespace
}  // namespace isomer
