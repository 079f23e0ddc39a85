#include "isomer/rules/match.h"

#include <gtest/gtest.h>

#include "isomer/base/rng.h"
#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"
#include "isomer/rules/blocks.h"
#include "isomer/rules/rewrite.h"
#include "isomer/rules/rule_testing.h"

namespace isomer {
namespace {

Graph graph(const std::string& text) {
  auto parsed = parse_graph(text, find_op);
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
  return parsed ? std::move(*parsed) : Graph();
}

std::vector<Match> matches(const Graph& graph, const Rule& rule) { return find_matches(graph, OpIndex(graph), rule); }

TEST(Match, SequenceTakesEveryWayToStandAroundAnOperand) {
  const Graph g = graph("input a: f32[1]\ninput b: f32[1]\ninput c: f32[1]\ny = Concat(a, b, c) {axis=0}\nreturn y\n");
  const Rule r = rule("(Concat axis=?a @x ?y @z) => (Concat axis=?a @x ?y @z)");
  const auto found = matches(g, r);
  ASSERT_EQ(found.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found[i].binding.sequence("x")->size(), i);
    EXPECT_EQ(found[i].binding.sequence("z")->size(), 2 - i);
  }
}

/// A sequence that is bound when a repeated term begins gets no more elements, and each of its elements is needed.
TEST(Match, RepetitionsAreAsManyAsTheElementsThatAreKnown) {
  const std::string inputs = "input x: f32[1]\ninput y: f32[1]\ninput z: f32[1]\ns = Sum(x, y)\nt = Tanh(s)\n";
  const std::string pattern = "(Tanh (Sum @w)), (Neg @w)... => (Tanh (Sum @w)), (Neg @w)...";
  const Graph three = graph(inputs + "a = Neg(x)\nb = Neg(y)\nc = Neg(z)\nreturn t, a, b, c\n");
  for (const char* condition : {"", " where len(@w) == 2"}) {
    const auto found = matches(three, rule(pattern + condition));
    ASSERT_EQ(found.size(), 1U) << condition;
    EXPECT_EQ(*found[0].binding.sequence("w"), (std::vector<ValueId>{three.inputs()[0], three.inputs()[1]}));
    EXPECT_EQ(found[0].roots.size(), 3U);
  }
  const Graph one = graph(inputs + "a = Neg(x)\nreturn t, a\n");
  EXPECT_TRUE(matches(one, rule(pattern)).empty());
  const Graph sum = graph(inputs + "a = Neg(x)\nb = Neg(y)\nc = Neg(z)\nu = Sum(a, b)\nv = Sum(a, b, c)\nw = Sum(a)\n" +
                          "p = Add(t, u)\nq = Add(t, v)\nr = Add(t, w)\nreturn p, q, r\n");
  const auto operands =
      matches(sum, rule("(Add (Tanh (Sum @w)) (Sum (Neg @w)...)) => (Add (Tanh (Sum @w)) (Sum (Neg @w)...))"));
  ASSERT_EQ(operands.size(), 2U) << "in both orders; v has an operand too many, and w one too few";
  for (const Match& match : operands) EXPECT_EQ(sum.name(match.roots[0]), "p");
}

TEST(Match, AConditionWithoutVariablesHoldsAlsoAtAGivenNode) {
  const Graph g = graph("input x: f32[1]\ny = Relu(x)\nreturn y\n");
  const Rule never = rule("(Relu ?x) => (Relu ?x) where 1 == 2");
  std::vector<Match> found;
  find_matches_at(g, OpIndex(g), never, 1, found);
  EXPECT_TRUE(found.empty());
  EXPECT_TRUE(matches(g, never).empty());
}

TEST(Match, RepetitionBindsOneElementEach) {
  const Graph g =
      graph("input a: f32[1]\ninput b: f32[1]\np = Relu(a)\nq = Relu(b)\ny = Concat(p, q) {axis=0}\nreturn y\n");
  const Rule r = rule("(Concat axis=?a (Relu @x)...) => (Relu (Concat axis=?a @x))");
  const auto found = matches(g, r);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(*found[0].binding.sequence("x"), (std::vector<ValueId>{g.inputs()[0], g.inputs()[1]}));
}

TEST(Match, SiblingsAreAllThatFitTogetherWithTheFirst) {
  // The third weight has another extent along axis 0, so alike() excludes it.
  const Graph g = graph(
      "input x: f32[2,3]\na = f32[3,4]{seed 1}\nb = f32[3,5]{seed 2}\nc = f32[3,4]{seed 3}\n"
      "p = MatMul(x, a)\nq = MatMul(x, b)\nr = MatMul(x, c)\nreturn p, q, r\n");
  const Rule all = rule("(MatMul ?x @w)... => (MatMul ?x @w)... where len(@w) >= 1");
  const auto found = matches(g, all);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].roots.size(), 3U);
  const Rule alike = rule("(MatMul ?x @w)... => (MatMul ?x @w)... where alike(@w)");
  EXPECT_EQ(matches(g, alike)[0].roots.size(), 2U);
}

TEST(Match, ParametersAreWeights) {
  const Graph g = graph(
      "input x: f32[2,3]\nparameter a: f32[3,4]\nparameter b: f32[3,4]\ninput c: f32[3,4]\n"
      "p = MatMul(x, a)\nq = MatMul(x, b)\nr = MatMul(x, c)\nreturn p, q, r\n");
  const Rule merge = rule(
      "(MatMul ?x @w)... => (Split axis=1 split=dims(@w, 1) (MatMul ?x (Concat axis=1 @w))) where weight(@w) and "
      "len(@w) >= 2");
  const auto found = matches(g, merge);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(*found[0].binding.sequence("w"), (std::vector<ValueId>{g.inputs()[1], g.inputs()[2]}));
  const auto after = apply_match(g, found[0]);
  ASSERT_TRUE(after.has_value());
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(after->producer_node(after->inputs()[i]).is_parameter(), i == 1 || i == 2);
}

/// The siblings of `first` by the definition of the rule language, one after another: each must satisfy the conditions
/// together with those before it, without creating a cycle. For `(MatMul @x ?w)...` and `(MatMul ?x @w)...`.
std::vector<ValueId> siblings_by_definition(const Graph& graph, const Rule& rule, NodeId first) {
  const GraphFacts facts(graph);
  const bool shared_left = rule.sources[0].operands[0].kind == Term::Kind::Value;
  const auto operands = graph.operands(graph.node(first));
  const ValueId shared = operands[shared_left ? 0 : 1];
  Match match{&rule, {}, {graph.node(first).result()}};
  match.binding.values = {{shared_left ? "x" : "w", shared}};
  match.binding.sequences = {{shared_left ? "w" : "x", {operands[shared_left ? 1 : 0]}}};
  for (NodeId id = first + 1; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (node.op != find_op("MatMul") || graph.operands(node)[shared_left ? 0 : 1] != shared) continue;
    Match with = match;
    with.binding.sequences[0].second.push_back(graph.operands(node)[shared_left ? 1 : 0]);
    with.roots.push_back(node.result());
    bool joins = !closes_cycle(graph, with);
    for (const Expr& condition : rule.conditions) joins = joins && holds(condition, {with.binding, facts}).has_value();
    if (joins) match = with;
  }
  return match.roots;
}

/// Products of earlier values and a few weights. Some products read others, and some weights are wider.
Graph random_products(uint64_t seed, int count) {
  Rng rng(seed);
  GraphBuilder builder;
  std::vector<ValueId> square{builder.input({DType::Float, {4, 4}}), builder.input({DType::Float, {4, 4}})};
  std::vector<ValueId> weights;
  for (const int64_t columns : {4, 4, 6})
    weights.push_back(builder.constant(Tensor::floats(
        {4, columns}, std::vector<float>(static_cast<size_t>(4 * columns), static_cast<float>(weights.size() + 1)))));
  std::vector<ValueId> outputs;
  for (int i = 0; i < count; ++i) {
    const ValueId left = square[rng.below(square.size())];
    const ValueId right = rng.below(4) == 0 ? square[rng.below(square.size())] : weights[rng.below(weights.size())];
    const ValueId made = builder.add(*find_op("MatMul"), {}, {left, right}).value();
    outputs.push_back(made);
    if (builder.type(made) == builder.type(square[0]) && rng.below(2) == 0) square.push_back(made);
  }
  return builder.finish(outputs);
}

const char* const kProductRules[] = {
    "(MatMul ?x @w)... => (Split axis=1 split=dims(@w, 1) (MatMul ?x (Concat axis=1 @w))) where len(@w) >= 2 and "
    "weight(@w) and alike(@w, 1)",
    "(MatMul @x ?w)... => (Split axis=0 split=dims(@x, 0) (MatMul (Concat axis=0 @x) ?w)) where len(@x) >= 2",
    // Whether a node matches depends on the number of siblings so far.
    "(MatMul @x ?w)... => (Split axis=0 split=dims(@x, 0) (MatMul (Concat axis=0 @x) ?w)) where len(@x) >= 2 and "
    "len(@x) <= 3",
};

TEST(Match, SiblingsAreThoseOfTheDefinition) {
  size_t groups = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Graph g = random_products(seed, 14);
    const OpIndex index(g);
    for (const char* text : kProductRules) {
      const Rule r = rule(text);
      std::vector<std::vector<ValueId>> wanted;
      for (const NodeId first : index.nodes(*find_op("MatMul"))) {
        auto group = siblings_by_definition(g, r, first);
        if (group.size() > 1) wanted.push_back(std::move(group));
      }
      std::vector<std::vector<ValueId>> found;
      for (const Match& match : matches(g, r)) found.push_back(match.roots);
      EXPECT_EQ(found, wanted) << "seed " << seed << ", " << text;
      groups += wanted.size();
    }
  }
  EXPECT_GT(groups, 500U);
}

/// Products with one weight. Each reads a part of the input or, if `chain` is set, the previous product.
Graph shared_weight(int count, bool chain) {
  GraphBuilder builder;
  const ValueId w = builder.constant(Tensor::floats({2, 2}, {1, 2, 3, 4}));
  std::vector<ValueId> outputs;
  for (int i = 0; i < count; ++i) {
    const ValueId x = chain && i > 0 ? outputs.back() : builder.input({DType::Float, {2, 2}});
    outputs.push_back(builder.add(*find_op("MatMul"), {}, {x, w}).value());
  }
  return builder.finish(outputs);
}

TEST(Match, GivenRootsMatchInTheirOrder) {
  const Graph g = graph(
      "input x: f32[2,3]\na = f32[3,4]{seed 1}\nb = f32[3,5]{seed 2}\nc = f32[3,4]{seed 3}\n"
      "p = MatMul(x, a)\nq = MatMul(x, b)\nr = MatMul(x, c)\nreturn p, q, r\n");
  const Rule merge = rule("(MatMul ?x @w)... => (MatMul ?x @w)... where len(@w) >= 2");
  const OpIndex index(g);
  const auto node = [&](size_t output) { return g.producer(g.outputs()[output]); };
  const auto weight = [&](size_t output) { return g.operands(g.node(node(output)))[1]; };
  const auto some = find_matches_of(g, index, merge, std::vector<NodeId>{node(2), node(0)});
  ASSERT_EQ(some.size(), 1U);
  EXPECT_EQ(some[0].roots, (std::vector<ValueId>{g.outputs()[2], g.outputs()[0]}));
  EXPECT_EQ(*some[0].binding.sequence("w"), (std::vector<ValueId>{weight(2), weight(0)}));
  EXPECT_TRUE(find_matches_of(g, index, merge, std::vector<NodeId>{node(1)}).empty());
  const auto all = find_matches_of(g, index, merge, std::vector<NodeId>{node(0), node(1), node(2)});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].roots, matches(g, merge)[0].roots);
  const Rule pair = rule("(MatMul ?x ?a), (MatMul ?x ?b) => (MatMul ?x ?b), (MatMul ?x ?a)");
  EXPECT_EQ(find_matches_of(g, index, pair, std::vector<NodeId>{node(1), node(0)}).size(), 1U);
  EXPECT_TRUE(find_matches_of(g, index, pair, std::vector<NodeId>{node(1)}).empty());
}

TEST(Match, ManySiblingsMakeOneMatch) {
  const Rule r = rule(kProductRules[1]);
  const auto found = matches(shared_weight(3000, false), r);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].roots.size(), 3000U);
  EXPECT_EQ(found[0].nodes.size(), 3000U);
  EXPECT_TRUE(matches(shared_weight(3000, true), r).empty()) << "each reads the one before";
}

TEST(Match, EndsAtTheDeadline) {
  const Graph g = shared_weight(3000, false);
  int asked = 0;
  const Deadline stopped = Deadline::after(1e6, [&] { return ++asked > 3; });
  EXPECT_TRUE(find_matches(g, OpIndex(g),
                           rule("(MatMul ?x ?w), (MatMul ?y ?v) => (MatMul ?y ?v), (MatMul ?x ?w) "
                                "where rank(?x) == 3"),
                           SIZE_MAX, &stopped)
                  .empty());
  EXPECT_LT(asked, 10);
}

TEST(Match, LaterStepThatReadsAnEarlierOneIsLeftOut) {
  const Graph g = graph("input x: f32[2,3]\nw = f32[3,3]{seed 1}\np = MatMul(x, w)\nq = MatMul(p, w)\nreturn p, q\n");
  const Rule r =
      rule("(MatMul @x ?w)... => (Split axis=0 split=dims(@x, 0) (MatMul (Concat axis=0 @x) ?w)) where rank(@x) == 2");
  for (const Match& match : matches(g, r)) EXPECT_EQ(match.roots.size(), 1U);
}

TEST(Match, RootsThatDependOnEachOtherCloseACycle) {
  const Graph g = graph("input x: f32[2]\np = Relu(x)\nq = Abs(p)\nr = Relu(q)\nreturn p, r\n");
  const Rule r = rule("(Relu ?x), (Relu ?y) => (Relu ?y), (Relu ?x)");
  EXPECT_TRUE(matches(g, r).empty());
}

TEST(Match, CommutativeOperatorsMatchBothWays) {
  const Graph g = graph("input x: f32[2]\ninput y: f32[2]\np = Relu(x)\nz = Add(y, p)\nreturn z\n");
  EXPECT_EQ(matches(g, rule("(Add (Relu ?x) ?y) => (Add ?y (Relu ?x))")).size(), 1U);
  const Graph sub = graph("input x: f32[2]\ninput y: f32[2]\np = Relu(x)\nz = Sub(y, p)\nreturn z\n");
  EXPECT_TRUE(matches(sub, rule("(Sub (Relu ?x) ?y) => (Sub ?y (Relu ?x))")).empty());
}

/// The concatenation of this many products of a value by a common one, which alternates between left and right.
Graph concat_of_products(int count) {
  std::string text = "input c: f32[2]\n", names;
  for (int i = 0; i < count; ++i) {
    text += fmt::format("input x{0}: f32[2]\nm{0} = {1}\n", i,
                        i % 2 == 0 ? fmt::format("Mul(x{}, c)", i) : fmt::format("Mul(c, x{})", i));
    names += fmt::format("{}m{}", i == 0 ? "" : ", ", i);
  }
  return graph(text + fmt::format("y = Concat({}) {{axis=0}}\nreturn y\n", names));
}

TEST(Match, ManyCommutativeOperandsHaveFewOrders) {
  const Rule both = rule("(Concat axis=?a (Mul @x @y)...) => (Mul (Concat axis=?a @x) (Concat axis=?a @y))");
  EXPECT_EQ(matches(concat_of_products(3), both).size(), 8U);
  EXPECT_EQ(matches(concat_of_products(40), both).size(), 256U);
  // Each is found in the order in which it fits.
  const Rule common = rule("(Concat axis=?a (Mul @x ?c)...) => (Mul (Concat axis=?a @x) (Expand shape=[80] ?c))");
  const Graph g = concat_of_products(40);
  const std::vector<Match> found = matches(g, common);
  ASSERT_EQ(found.size(), 1U);
  const auto* sequence = found[0].binding.sequence("x");
  ASSERT_NE(sequence, nullptr);
  EXPECT_EQ(sequence->size(), 40U);
}

/// The concatenation of twelve values r{0} that `term` makes, the last one of which `last` makes.
Graph concat_with_another(const std::string& inputs, const std::string& term, const std::string& last) {
  constexpr int kCount = 12;
  std::string text, names;
  for (int i = 0; i < kCount; ++i) {
    text += fmt::format(fmt::runtime(inputs), i) + fmt::format(fmt::runtime(i + 1 < kCount ? term : last), i);
    names += fmt::format("{}r{}", i == 0 ? "" : ", ", i);
  }
  return graph(text + fmt::format("z = Concat({}) {{axis=0}}\nreturn z\n", names));
}

TEST(Match, TheOnlyOrderOfALateOperandIsFound) {
  // The operator around the commutative one decides.
  const Rule r = rule("(Concat axis=?k (Sub (Mul @a @b) @b)...) => (Concat axis=?k (Mul (Sub @a 1.0) @b)...)");
  const std::string inputs = "input x{0}: f32[2]\ninput y{0}: f32[2]\n";
  const std::string term = "m{0} = Mul(x{0}, y{0})\nr{0} = Sub(m{0}, y{0})\n";
  EXPECT_EQ(matches(concat_with_another(inputs, term, term), r).size(), 1U);
  const std::string swapped = "m{0} = Mul(y{0}, x{0})\nr{0} = Sub(m{0}, y{0})\n";
  EXPECT_EQ(matches(concat_with_another(inputs, term, swapped), r).size(), 1U);
}

TEST(Match, TheOrderOfALateOperandIsThatOfAlikeOnes) {
  // Only conditions at the end tell the orders apart.
  const Rule r =
      rule("(Concat axis=?k (Add @a @b)...) => (Concat axis=?k (Add @b @a)...) where alike(@a) and rank(@a) == 2");
  const std::string inputs = "input x{0}: f32[2,3]\ninput y{0}: f32[3]\n";
  const Graph g = concat_with_another(inputs, "r{0} = Add(x{0}, y{0})\n", "r{0} = Add(y{0}, x{0})\n");
  const std::vector<Match> found = matches(g, r);
  ASSERT_EQ(found.size(), 1U);
  for (const ValueId value : *found[0].binding.sequence("a")) EXPECT_EQ(g.type(value).rank(), 2U);
  EXPECT_EQ(find_matches_of(g, OpIndex(g), r, std::vector{g.producer(found[0].roots[0])}).size(), 1U);
}

TEST(Match, CommutativeFlagsAreSet) {
  for (const char* name : {"Add", "Mul", "And", "Or", "Xor", "Equal", "BitwiseAnd", "BitwiseOr", "BitwiseXor"})
    EXPECT_TRUE(op(name).commutative) << name;
  for (const char* name : {"Sub", "Div", "Pow", "MatMul", "Less", "PRelu"}) EXPECT_FALSE(op(name).commutative) << name;
}

TEST(Match, ChoiceGivesAMatchForEveryCandidate) {
  const Graph g = graph("input x: f32[2,6]\ny = Relu(x)\nreturn y\n");
  const Rule r = rule(
      "(Relu ?x) choose ?n in divisors(dim(?x, 1)) "
      "=> (Reshape shape=shape(?x) (Relu (Reshape shape=[?n * 2, dim(?x, 1) / ?n] ?x)))");
  const auto found = matches(g, r);
  ASSERT_EQ(found.size(), 4U);  // 1, 2, 3, 6
  for (const Match& match : found) EXPECT_TRUE(apply_match(g, match).has_value());
}

TEST(Match, ChoosesTheBlocksThatADevicePrefers) {
  const Graph g = graph("input x: f32[2,6]\ny = Relu(x)\nreturn y\n");
  const Rule r = rule(
      "(Relu ?x) choose ?n in [1, 2, 3] choose block ?m in [4, 8, 16] "
      "=> (Slice axes=[0] starts=[0] ends=[?n * ?m] steps=[1] (Relu ?x))");
  using Blocks = std::vector<int64_t>;
  const auto chosen = [&](const Blocks& blocks) {
    const Rule on_device = prefer_blocks({&r, 1}, blocks)[0];
    EXPECT_EQ(on_device.hash(), r.hash());
    EXPECT_EQ(print_rule(on_device), print_rule(r));
    std::vector<Blocks> out;
    for (const Match& match : matches(g, on_device)) out.push_back(chosen_blocks(match));
    return out;
  };
  EXPECT_EQ(chosen({}), (std::vector<Blocks>{{4}, {8}, {16}, {4}, {8}, {16}, {4}, {8}, {16}}));
  EXPECT_EQ(chosen({8}), (std::vector<Blocks>{{8}, {8}, {8}}));
  EXPECT_EQ(chosen({16, 4}), (std::vector<Blocks>{{4}, {16}, {4}, {16}, {4}, {16}}));
  EXPECT_TRUE(chosen({2}).empty());
  EXPECT_TRUE(chosen_blocks(matches(g, rule("(Relu ?x) choose ?n in [8] => (Relu ?x)"))[0]).empty());
  Miss miss;
  std::vector<Match> none;
  const Rule other = prefer_blocks({&r, 1}, Blocks{2})[0];
  find_matches_at(g, OpIndex(g), other, g.producer(g.outputs()[0]), none, &miss);
  EXPECT_EQ(miss.reason, "the device prefers no ?m of [4,8,16]");
}

TEST(Match, ResultsOfOneNodeAreReplacedTogether) {
  const Graph g = graph(
      "input a: f32[1,2]\ninput b: f32[2,2]\nc = Concat(a, b) {axis=0}\np, q = Split(c) {axis=0, split=[1,2]}\n"
      "y = Relu(q)\nreturn p, y\n");
  const Rule r = rule("(Split axis=?a split=?s (Concat axis=?a @x)) => @x where dims(@x, ?a) == ?s");
  const auto found = matches(g, r);
  ASSERT_EQ(found.size(), 1U);
  const auto out = apply_match(g, found[0]);
  ASSERT_TRUE(out.has_value()) << out.error().message;
  EXPECT_EQ(out->hash(), graph("input a: f32[1,2]\ninput b: f32[2,2]\ny = Relu(b)\nreturn a, y\n").hash());
}

/// Without the reason, properties of values are evaluated in another way.
TEST(Match, ConditionsHoldWithAndWithoutAReason) {
  const Graph g = graph(
      "input x: f32[2]\ninput n: i64[2]\nw = f32[2]{seed 1}\ny = Add(x, w)\nz = Add(n, n)\nv = Add(w, w)\n"
      "u = Sum(x, w, y)\nt = Sum(w, v)\nr = Add(x, v)\nreturn y, z, u, t, r\n");
  int held = 0;
  int tried = 0;
  for (const char* condition : {"weight(?a)", "weight(?b)", "real(?a)", "not weight(?b)", "weight(@s)", "real(@s)"}) {
    const bool sequence = std::string_view(condition).find('@') != std::string_view::npos;
    const std::string text = sequence ? "(Sum @s) => (Sum @s)" : "(Add ?a ?b) => (Add ?a ?b)";
    const GraphFacts facts(g);
    const Rule with = rule(fmt::format("{} where {}", text, condition));
    const Rule without = rule(text);
    for (const Match& match : matches(g, without)) {
      const bool met = is_met(with.conditions[0], {match.binding, facts});
      EXPECT_EQ(met, holds(with.conditions[0], {match.binding, facts}).has_value()) << condition;
      held += met ? 1 : 0;
      ++tried;
    }
  }
  EXPECT_GT(held, 10);
  EXPECT_LT(held, tried);
}

TEST(Match, AttributesThatAreNotNamedArePresets) {
  const Graph g = graph("input a: f32[2,3]\ninput b: f32[3,2]\ny = Gemm(a, b) {alpha=2.0}\nreturn y\n");
  EXPECT_TRUE(matches(g, rule("(Gemm ?a ?b) => (MatMul ?a ?b)")).empty());
  EXPECT_EQ(matches(g, rule("(Gemm ..g ?a ?b) => (Gemm ..g ?a ?b)")).size(), 1U);
  EXPECT_EQ(matches(g, rule("(Gemm alpha=2.0 ?a ?b) => (Gemm alpha=2.0 ?a ?b)")).size(), 1U);
}

TEST(Match, ShapeConditionsHoldForEverySizeOrNotAtAll) {
  const Graph g = graph("input x: f32[N,4]\ny = Relu(x)\nreturn y\n");
  EXPECT_EQ(matches(g, rule("(Relu ?x) => ?x where dim(?x, 1) == 4")).size(), 1U);
  EXPECT_TRUE(matches(g, rule("(Relu ?x) => ?x where dim(?x, 0) == 4")).empty());
  EXPECT_TRUE(matches(g, rule("(Relu ?x) => ?x where dim(?x, 0) != 4")).empty());
}

TEST(Match, StopsAtTheLimit) {
  const Graph g = graph("input x: f32[2]\na = Relu(x)\nb = Relu(a)\nc = Relu(b)\nreturn c\n");
  EXPECT_EQ(find_matches(g, OpIndex(g), rule("(Relu ?x) => ?x"), 2).size(), 2U);
}

TEST(Match, RewriteThatChangesATypeIsRefused) {
  const Graph g = graph("input x: f32[2,3]\ny = Transpose(x) {perm=[1,0]}\nreturn y\n");
  const Rule r = rule("(Transpose perm=?p ?x) => ?x");
  ASSERT_EQ(matches(g, r).size(), 1U);
  const auto out = apply_match(g, matches(g, r)[0]);
  ASSERT_FALSE(out.has_value());
  EXPECT_EQ(out.error().message, "the target is f32[2,3] where f32[3,2] was");
}

TEST(Match, ListOfIntegersIsAConstant) {
  const Rule twice = rule("(Add (Gather axis=1 ?x {?i}) (Gather axis=1 ?y {?i})) => (Gather axis=1 (Add ?x ?y) {?i})");
  const std::string text =
      "input x: f32[2,3]\ninput y: f32[2,3]\ninput k: i64[2]\ni = i64[2]{2,0}\nj = i64[2]{0,2}\nn = i32[2]{2,0}\n";
  const auto count = [&](const std::string& a, const std::string& b) {
    return matches(graph(text + "p = Gather(x, " + a + ") {axis=1}\nq = Gather(y, " + b +
                         ") {axis=1}\nz = Add(p, q)\nreturn z\n"),
                   twice)
        .size();
  };
  EXPECT_EQ(count("i", "i"), 2U);  // in both orders
  EXPECT_EQ(count("i", "j"), 0U);
  EXPECT_EQ(count("k", "k"), 0U);
  EXPECT_EQ(count("n", "n"), 0U);
}

TEST(Match, FunctionsOnListsOfIndices) {
  const Graph g = graph("input x: f32[1,4]\ni = i64[3]{3,0,2}\ny = Gather(x, i) {axis=1}\nreturn y\n");
  const auto holds_for = [&](const std::string& condition) {
    return matches(g, rule("(Gather axis=1 ?x {?i}) => ?x where " + condition)).size() == 1;
  };
  EXPECT_TRUE(holds_for("places(?i, 4) == [1, 3, 2, 0]"));
  EXPECT_FALSE(holds_for("places(?i, 3) == [1, 3, 2, 0]"));  // 3 is not an index below 3
  EXPECT_TRUE(holds_for("places([1, 1], 2) == [2, 0]"));
  EXPECT_TRUE(holds_for("distinct(?i)"));
  EXPECT_FALSE(holds_for("distinct(?i ++ [2])"));
  EXPECT_TRUE(holds_for("len(range(2000)) == 2000"));
  EXPECT_FALSE(holds_for("len(range(100000)) >= 0"));  // exceeds the limit
}

TEST(Match, NumberIsAlsoThatOfAConstantOfOneElement) {
  const Graph g =
      graph("input x: f32[2]\nz = ConstantOfShape() {shape=[2], value=f32[1]{2}}\ny = Add(x, z)\nreturn y\n");
  EXPECT_EQ(matches(g, rule("(Add ?x (ConstantOfShape shape=?s value=2.0)) => (Add ?x 2.0)")).size(), 1U);
  EXPECT_TRUE(matches(g, rule("(Add ?x (ConstantOfShape shape=?s value=3.0)) => (Add ?x 3.0)")).empty());
}

}  // namespace
}  // namespace isomer
