#include "isomer/plan/divisions.h"

#include <gtest/gtest.h>

#include "isomer/ops/graph_testing.h"

namespace isomer {
namespace {

/// The operators that run, in their order.
std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> out;
  for (const Node& node : graph.nodes())
    if (graph.runs(node)) out.push_back(node.op->name);
  return out;
}

/// The axes of the result of `op` along which it is divisible; operands are `x`, `y`, `w` and `c`.
std::vector<int> axes_of(const std::string& op) {
  const Graph graph = parsed(
      "input x: f32[4,6,8,8]\ninput y: f32[6,1,8]\ninput w: f32[8,6,1,1]\ninput c: f32[8]\nz = " + op + "\nreturn z");
  std::vector<int> out;
  for (const int axis : {0, 1, 2, 3})
    if (is_divisible(graph, graph.producer_node(value_named(graph, "z")), static_cast<Division>(axis)))
      out.push_back(axis);
  return out;
}

TEST(Divisions, AreAlongAxesWhosePositionsAreIndependent) {
  using Axes = std::vector<int>;
  EXPECT_EQ(axes_of("Relu(x)"), (Axes{0, 1, 2, 3}));
  EXPECT_EQ(axes_of("Add(x, y)"), (Axes{0, 1, 2, 3}));
  EXPECT_EQ(axes_of("Transpose(x) {perm=[3,0,2,1]}"), (Axes{0, 1, 2, 3}));
  EXPECT_EQ(axes_of("Conv(x, w, c) {pads=[0,0,0,0], strides=[1,1], dilations=[1,1]}"), (Axes{0, 1}));
  EXPECT_EQ(axes_of("MaxPool(x) {kernel_shape=[2,2], pads=[0,0,0,0], strides=[1,1], dilations=[1,1]}"), (Axes{0}));
  EXPECT_EQ(axes_of("GlobalAveragePool(x)"), (Axes{0}));
  EXPECT_EQ(axes_of("Softmax(x) {axis=-1}"), (Axes{0, 1, 2}));
  EXPECT_EQ(axes_of("Softmax(x) {axis=1}"), (Axes{0}));
  EXPECT_EQ(axes_of("LayerNormalization(x, c) {axis=-1}"), (Axes{0, 1, 2}));
  EXPECT_EQ(axes_of("Transpose(x) {perm=[-1,0,2,1]}"), (Axes{0, 1, 2, 3}));
  EXPECT_EQ(axes_of("ReduceSum(x) {axes=[0], keepdims=1}"), (Axes{}));
  EXPECT_EQ(axes_of("ReduceSum(x) {axes=[-2,3], keepdims=0}"), (Axes{0, 1}));
  EXPECT_EQ(axes_of("MatMul(y, x)"), (Axes{0, 1, 3}));
  EXPECT_EQ(axes_of("MatMul(x, x)"), (Axes{0, 1, 2, 3}));
  EXPECT_EQ(axes_of("Concat(x, x) {axis=1}"), (Axes{0, 2, 3}));
  EXPECT_EQ(axes_of("Slice(x) {axes=[1], starts=[1], ends=[3], steps=[1]}"), (Axes{0}));
  EXPECT_EQ(axes_of("Reshape(x) {shape=[4,6,64]}"), (Axes{0, 1}));
  EXPECT_EQ(axes_of("Reshape(x) {shape=[24,8,8]}"), (Axes{1, 2}));
  EXPECT_EQ(axes_of("Reshape(x) {shape=[8,6,32]}"), (Axes{}));
}

Candidate divided(const Graph& graph, std::initializer_list<std::pair<const char*, Division>> divisions) {
  Candidate out(graph);
  for (const auto& [name, division] : divisions) out.decisions.divisions.emplace(value_named(graph, name), division);
  return out;
}

TEST(Divisions, ReadTheSamePartsOfOperands) {
  const Graph graph = parsed("input x: f32[5,4]\na = Exp(x)\nb = Tanh(a)\nc = Sin(b)\nreturn c");
  const Candidate run =
      with_divisions(divided(graph, {{"a", Division::Axis0}, {"b", Division::Axis0}, {"c", Division::Axis0}}), 2);
  EXPECT_EQ(ops_of(run.graph),
            (std::vector<std::string>{"Slice", "Exp", "Slice", "Exp", "Tanh", "Tanh", "Sin", "Sin", "Concat"}));
  EXPECT_TRUE(run.decisions.divisions.empty());
  EXPECT_EQ(run.decisions.teams.size(), 6U);
  std::vector<int64_t> extents;
  for (const Node& node : run.graph.nodes())
    if (node.op->name == "Sin") extents.push_back((*run.graph.type(node.result()).shape)[0].value());
  EXPECT_EQ(extents, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(run.graph.type(run.graph.outputs()[0]), graph.type(graph.outputs()[0]));
}

TEST(Divisions, JoinAndCutWhereTheyDiffer) {
  const Graph graph = parsed("input x: f32[4,4]\na = Exp(x)\nb = Tanh(a)\nc = Sin(b)\nreturn c, a");
  const Candidate run = with_divisions(divided(graph, {{"a", Division::Axis0}, {"b", Division::Axis1}}), 2);
  EXPECT_EQ(ops_of(run.graph), (std::vector<std::string>{"Slice", "Exp", "Slice", "Exp", "Concat", "Slice", "Tanh",
                                                         "Slice", "Tanh", "Concat", "Sin"}));
}

TEST(Divisions, KnowWhereTheValuesAre) {
  const Graph graph = parsed("input x: f32[4,4]\na = Exp(x)\nb = Tanh(a)\nc = Sin(b)\nreturn c");
  const DividedCandidate run = divided(divided(graph, {{"a", Division::Axis0}, {"b", Division::Axis0}}), 2);
  const auto ops = [&](const char* name) {
    std::vector<std::string> out;
    for (const ValueId value : run.values[value_named(graph, name)])
      out.push_back(run.candidate.graph.producer_node(value).op->name);
    return out;
  };
  EXPECT_EQ(ops("a"), (std::vector<std::string>{"Exp", "Exp"}));
  EXPECT_EQ(ops("b"), (std::vector<std::string>{"Tanh", "Tanh"})) << "and not the join";
  EXPECT_EQ(ops("c"), (std::vector<std::string>{"Sin"}));
  EXPECT_EQ(run.values[value_named(graph, "c")], std::vector<ValueId>{run.candidate.graph.outputs()[0]});
  for (const Node& node : run.candidate.graph.nodes()) {
    const ValueId original = run.originals[node.result()];
    if (node.op->name == "Slice")
      EXPECT_EQ(original, kNoValue);
    else if (node.op->name == "Concat")
      EXPECT_EQ(original, value_named(graph, "b"));
    else
      EXPECT_EQ(graph.producer_node(original).op, node.op);
  }
}

TEST(Divisions, KeepOtherDecisions) {
  const Graph graph = parsed("input x: f32[4,4]\na = Exp(x)\nb = Tanh(a)\nreturn b");
  Candidate given = divided(graph, {{"a", Division::Axis0}});
  given.decisions.teams = {{value_named(graph, "a"), Team::All}, {value_named(graph, "b"), Team::All}};
  given.decisions.layouts = {{value_named(graph, "a"), Layout::Plain}};
  const Decisions kept = with_divisions(given, 4).decisions;
  EXPECT_EQ(kept.layouts.size(), 5U) << "of the parts and of the whole";
  EXPECT_EQ(kept.teams.size(), 5U);
  for (const auto& [value, team] : kept.teams) EXPECT_EQ(team, Team::All);
}

TEST(Divisions, HaveNoEffectWithoutParts) {
  const Graph graph = parsed("input x: f32[1,N,3]\na = Exp(x)\nb = Softmax(a) {axis=-1}\nreturn b");
  for (const Division division : {Division::Axis0, Division::Axis1, Division::Axis3}) {
    const Candidate run = with_divisions(divided(graph, {{"a", division}, {"b", division}}), 2);
    EXPECT_EQ(run.hash(), graph.hash());
  }
  EXPECT_EQ(with_divisions(divided(graph, {{"b", Division::Axis2}}), 2).hash(), graph.hash());
  const Graph small = parsed("input x: f32[2,3]\na = Exp(x)\nreturn a");
  EXPECT_EQ(with_divisions(divided(small, {{"a", Division::Axis1}}), 4).hash(), small.hash()) << "three positions";
  EXPECT_EQ(divided_everywhere(graph, Division::Axis2, 3).decisions,
            divided(graph, {{"a", Division::Axis2}}).decisions);
  EXPECT_TRUE(divided_everywhere(graph, Division::Axis2, 4).decisions.empty());
}

TEST(Divisions, GivePartsOfReshapesTheirExtents) {
  const Graph graph = parsed("input x: f32[1,4,4]\na = Reshape(x) {shape=[4,0,-1]}\nb = Exp(a)\nreturn b");
  const Candidate run = with_divisions(divided(graph, {{"a", Division::Axis0}, {"b", Division::Axis0}}), 2);
  EXPECT_EQ(run.graph.type(run.graph.outputs()[0]), graph.type(graph.outputs()[0]));
  EXPECT_EQ(ops_of(run.graph),
            (std::vector<std::string>{"Slice", "Reshape", "Slice", "Reshape", "Exp", "Exp", "Concat"}));
}

TEST(Divisions, OfAnyResultDivideItsOperator) {
  const Graph graph = parsed("input x: f32[4,4]\na, b = Split(x) {axis=1, split=[1,3]}\nc = Exp(b)\nreturn a, c");
  const Candidate run = with_divisions(divided(graph, {{"b", Division::Axis0}, {"c", Division::Axis0}}), 2);
  EXPECT_EQ(ops_of(run.graph),
            (std::vector<std::string>{"Slice", "Split", "Slice", "Split", "Exp", "Exp", "Concat", "Concat"}));
}

}  // namespace
}  // namespace isomer
