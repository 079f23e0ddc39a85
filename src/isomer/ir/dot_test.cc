#include "isomer/ir/dot.h"

#include <gtest/gtest.h>

#include "isomer/ir/builder.h"

namespace isomer {
namespace {

TEST(Dot, DrawsNodesAndHidesWeights) {
  GraphBuilder builder;
  const ValueId x = builder.input({DType::Float, {Dim::symbol("N"), 2}});
  builder.name(x, "the \"x\"");
  const ValueId w = builder.constant(Tensor::floats({2}, {1, 2}));
  const std::vector<ValueId> operands = {x, w, kNoValue};
  const NodeId fused = builder.opaque({{"@op_type", std::string("Fused")}, {"@domain", std::string("my")}}, operands,
                                      {{DType::Float, {2}}, {DType::Int64, {}}});
  const ValueId y = builder.at(fused).result(1);
  builder.name(y, "y");
  const std::vector<ValueId> outputs = {y, w};
  const Graph graph = builder.finish(outputs);
  EXPECT_EQ(dot_graph(graph), R"(digraph {
  node [shape=box, fontname="sans-serif"];
  n0 [shape=ellipse, label="the \"x\"\nf32[N,2]"];
  n1 [label="Constant\nf32[2]"];
  n2 [label="my.Fused\nf32[2]\ni64[]"];
  n0 -> n2;
  n1 -> n2;
  o0 [shape=ellipse, label="y"];
  n2 -> o0;
  o1 [shape=ellipse, label="output"];
  n1 -> o1;
}
)");
  GraphBuilder again;
  const ValueId x2 = again.input({DType::Float, {2}});
  const std::vector<ValueId> with_weight = {x2, again.constant(Tensor::floats({1}, {3}))};
  const NodeId node = again.opaque({}, with_weight, {{DType::Float, {2}}});
  const std::vector<ValueId> result = {again.at(node).result()};
  const std::string text = dot_graph(again.finish(result));
  EXPECT_EQ(text.find("Constant"), std::string::npos);
  EXPECT_NE(text.find("label=\"Opaque\\nf32[2]\""), std::string::npos);
}

}  // namespace
}  // namespace isomer
