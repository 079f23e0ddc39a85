#include "isomer/ir/graph.h"

#include <gtest/gtest.h>

#include "isomer/ir/builder.h"
#include "isomer/ir/field.h"
#include "isomer/ir/testing.h"
#include "isomer/ir/text.h"

namespace isomer {
namespace {

std::string parse_error(std::string_view text) {
  const auto graph = parse_graph(text, find_test_op);
  return graph ? "" : graph.error().message;
}

TEST(Graph, EqualNodesAreSharedAndDeadOnesDropped) {
  const Graph graph = parsed(R"(
    input x: f32[2,N]
    a = Scale(x)
    b = Scale(x) {by=2.0}
    dead = Scale(a)
    y = Add(a, b)
    return y, a)");
  EXPECT_EQ(graph.nodes().size(), 3);
  EXPECT_EQ(graph.consumers(graph.outputs()[1]).size(), 1);
  EXPECT_EQ(graph.name(graph.outputs()[0]), "y");
}

TEST(Graph, HashIsOfContentAlone) {
  const Graph one = parsed("input x: f32[2]\n a = Scale(x)\n b = Scale(a)\n y = Add(a, b)\n return y");
  const Graph renamed = parsed("input q: f32[2]\n r = Scale(q)\n s = Scale(r)\n t = Add(r, s)\n return t");
  const Graph swapped = parsed("input x: f32[2]\n a = Scale(x)\n b = Scale(a)\n y = Add(b, a)\n return y");
  const Graph wider = parsed("input x: f32[3]\n a = Scale(x)\n b = Scale(a)\n y = Add(a, b)\n return y");
  EXPECT_EQ(one.hash(), renamed.hash());
  EXPECT_NE(one.hash(), swapped.hash());
  EXPECT_NE(one.hash(), wider.hash());
}

TEST(Graph, OrderOfCommutativeOperandsIsNoContent) {
  const Graph one = parsed("input x: f32[2]\n a = Scale(x)\n y = Max(a, x)\n return y");
  const Graph swapped = parsed("input x: f32[2]\n a = Scale(x)\n y = Max(x, a)\n return y");
  EXPECT_EQ(one.hash(), swapped.hash());
  const Graph both = parsed("input x: f32[2]\n a = Scale(x)\n y = Max(a, x)\n z = Max(x, a)\n return y, z");
  EXPECT_EQ(both.outputs()[0], both.outputs()[1]);
}

TEST(Graph, WeightsAreWhatDependsOnConstantsAndParametersAlone) {
  const Graph graph = parsed(
      "input x: f32[2]\n parameter p: f32[2]\n w = f32[2]{1,2}\n v = Scale(w)\n q = Add(p, v)\n y = Add(x, q)\n return "
      "y");
  for (ValueId value = 0; value < graph.num_values(); ++value) {
    const std::string& name = graph.name(value);
    EXPECT_EQ(graph.is_constant_derived(value), name == "w" || name == "v") << name;
    EXPECT_EQ(graph.is_weight(value), name != "x" && name != "y") << name;
  }
  EXPECT_TRUE(graph.runs(graph.producer_node(graph.producer(graph.outputs()[0]))));
}

TEST(Graph, ParametersAreNoOtherInputs) {
  const Graph plain = parsed("input x: f32[2]\n y = Scale(x)\n return y");
  const Graph parameter = parsed("parameter x: f32[2]\n y = Scale(x)\n return y");
  EXPECT_NE(plain.hash(), parameter.hash());
  EXPECT_EQ(parsed(print_graph(parameter)).hash(), parameter.hash());
  GraphBuilder builder;
  for (const Graph* graph : {&plain, &parameter})
    EXPECT_EQ(builder.peek().producer_node(builder.input_like(*graph, graph->inputs()[0])).is_parameter(),
              graph == &parameter);
}

TEST(Graph, NodesHaveNoMoreResultsThanTheirOperator) {
  const auto results_of = [](size_t wanted, std::string_view name) -> Result<uint32_t> {
    GraphBuilder builder;
    const std::vector<ValueId> x = {builder.input(TensorType(DType::Float, Shape{2}))};
    ISOMER_TRY(const NodeId id, builder.node(*find_test_op(name, ""), {}, x, wanted));
    return builder.at(id).num_results;
  };
  EXPECT_EQ(results_of(2, "Many").value(), 3U);
  EXPECT_EQ(results_of(3, "Many").error().message, "Many cannot have 4 results");
  EXPECT_EQ(results_of(4, "Many").error().message, "Many has no 4 results");
  EXPECT_EQ(results_of(2, "Scale").error().message, "Scale has no 2 results");
}

TEST(Graph, TextRoundTrips) {
  const Graph graph = parsed(R"(
    input x: f32[2*N+1,floor((N-1)/2)]
    input k: undefined[?]
    w = f32[2,2]{seed 3}
    i = i64[3]{1,-9223372036854775808,3}
    s = string[2]{"a\"b", "c"}
    h = f16[2]{bytes "\x00\x3c\x00\xc0"}
    z, q = Opaque(x, _, k, w, i, s, h) {@op_type="If", @instance=1}: f32[?], bool[2]
    y = Scale(x) {by=0.1}
    return z, y, q, y)");
  const std::string text = print_graph(graph);
  const Graph again = parsed(text);
  EXPECT_EQ(again.hash(), graph.hash()) << text;
  EXPECT_EQ(print_graph(again), text);
}

TEST(Graph, BadTextIsRefusedWithItsLine) {
  EXPECT_EQ(parse_error("input x: f32[2]\ny = Nope(x)\nreturn y"), "line 2: unknown operator 'Nope'");
  EXPECT_EQ(parse_error("input x: f32[2]\ny = Scale(z)\nreturn y"), "line 2: value 'z' is not defined");
  EXPECT_EQ(parse_error("input x: f32[? ]\nreturn x"), "line 1: an unknown extent needs a name");
  EXPECT_EQ(parse_error("input x: f32[2]\nreturn x, _"), "line 2: '_' stands for no value, so it cannot be returned");
  EXPECT_NE(parse_error("input x: f32[2]\nw = f32[3]{1,2,3}\ny = Add(x, w)\nreturn y").find("different types"),
            std::string::npos);
  EXPECT_NE(parse_error("input x: f32[2]\ny = Scale(x) {by=1}\ny = Scale(x)\nreturn y").find("twice"),
            std::string::npos);
  EXPECT_NE(parse_error("input x: f32[2").find("line"), std::string::npos);
  EXPECT_NE(parse_error("").find("return"), std::string::npos);
}

TEST(Graph, DimensionsAreSymbolsAndFunctionsOfThem) {
  const auto refused = [](const std::string& dim) { return parse_error("input x: f32[" + dim + "]\nreturn x"); };
  for (const char* dim : {"N", "batch_size", "?0", "floor((N-1)/2)", "broadcast(2*N,min(3,N))"})
    EXPECT_EQ(refused(dim), "");
  for (const char* dim : {"\xb9(z)", "a{b}", "a=b", "(N", "N)(", "a\"b", "**3", "+3", "N*"})
    EXPECT_NE(refused(dim), "") << dim;
}

TEST(Graph, LargeNumbersInDimensionsAreNoSymbols) {
  EXPECT_EQ(parse_dim("1152921504562402532"), Dim(1152921504562402532));
  EXPECT_EQ(parse_dim("4444444444444444444444444"), Dim(Dim::kHuge));
  const Dim sum = Dim::symbol("N") * Dim::kHuge + Dim(Dim::kHuge - 1);
  EXPECT_EQ(parse_dim(sum.str()), sum);
}

TEST(Graph, ConstantsOfATextStayWithinMemoryAndRange) {
  const auto refused = [](const std::string& constant) { return parse_error("w = " + constant + "\nreturn w"); };
  EXPECT_EQ(refused("f32[1000,1000]{seed 1}"), "");
  EXPECT_NE(refused("f32[1000000,1000000]{seed 1}").find("too large"), std::string::npos);
  EXPECT_NE(refused("f32[4000000000,4000000000,4000000000]{seed 1}").find("elements"), std::string::npos);
  EXPECT_EQ(refused("i32[1]{fill -2147483648}"), "");
  EXPECT_NE(refused("i32[1]{fill 2147483648}").find("range"), std::string::npos);
  EXPECT_NE(refused("i64[1]{fill 1e30}").find("range"), std::string::npos);
  EXPECT_NE(refused("u8[2]{1,256}").find("range"), std::string::npos);
}

TEST(Field, IsAFieldWhoseSignIsMultiplicative) {
  for (int64_t i = 1; i < 50; ++i) {
    const Fp x(i * 7919 - 90000);
    EXPECT_EQ(x / x, Fp(1));
    EXPECT_EQ(x + (-x), Fp(0));
    EXPECT_EQ((x * x).sign(), 1);
    EXPECT_EQ((-x).sign(), -x.sign());
    EXPECT_EQ((x * Fp(i)).sign(), x.sign() * Fp(i).sign());
  }
  EXPECT_EQ(*field_from_real(0.5) * Fp(2), Fp(1));
  EXPECT_EQ(*field_from_real(-3.0), Fp(-3));
}

}  // namespace
}  // namespace isomer
