// Compares the replayer with the matcher: applications of rules are accepted, anything else is not.

#include "isomer/certificate/replay.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <limits>
#include <sstream>

#include "isomer/base/file.h"
#include "isomer/certificate/fold.h"
#include "isomer/certificate/functions.h"
#include "isomer/eval/fold.h"
#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"
#include "isomer/rules/builtin.h"
#include "isomer/rules/functions.h"
#include "isomer/rules/record.h"
#include "isomer/rules/rewrite.h"

namespace isomer::replay {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kRulesets = ISOMER_SOURCE_DIR "/rulesets";

Graph graph_of(std::string_view text) {
  auto graph = parse_graph(text, find_op);
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message) << "\n" << text;
  return graph ? std::move(*graph) : Graph();
}

std::vector<Rule> rules_of(std::string_view text) {
  auto rules = parse_rules(text);
  EXPECT_TRUE(rules.has_value()) << (rules ? "" : rules.error().message);
  return rules.value_or(std::vector<Rule>{});
}

RuleBook book_of(const std::vector<Rule>& rules) {
  RuleBook out;
  for (const Rule& rule : rules) out.emplace(rule.name, rule);
  return out;
}

/// Returns the graphs of tests/rules, each with its rule.
std::vector<std::pair<std::string, Graph>> golden_graphs() {
  std::vector<std::pair<std::string, Graph>> out;
  for (const auto& entry : std::filesystem::directory_iterator(ISOMER_SOURCE_DIR "/tests/rules")) {
    std::stringstream lines(read_file(entry.path()).value());
    std::string graph;
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("--- ")) {
        if (inside) out.emplace_back(entry.path().stem().string(), graph_of(graph));
        inside = line.starts_with("--- graph");
        graph.clear();
      } else if (inside) {
        graph += line + "\n";
      }
    }
  }
  return out;
}

/// One application of a rule, as a search records it.
struct Recorded {
  Graph before;
  Graph after;
  Move move;
};
std::vector<Recorded> recorded(const Rule& rule, const Graph& graph, size_t limit = 4) {
  std::vector<Recorded> out;
  for (const Match& match : find_matches(graph, OpIndex(graph), rule, limit)) {
    auto after = apply_match(graph, match);
    if (!after) continue;
    const Match* const applied[] = {&match};
    Move move = record_move(graph, applied, *after);
    out.push_back({graph, std::move(*after), std::move(move)});
  }
  return out;
}

Result<Graph> replayed(const Graph& start, const Move& move, const RuleBook& rules) {
  Tally tally;
  return replay_moves(start, {&move, 1}, rules, tally);
}

std::string refusal(const Graph& start, const Move& move, const RuleBook& rules) {
  const auto graph = replayed(start, move, rules);
  return graph ? "" : graph.error().message;
}

TEST(Replay, AcceptsEveryRuleWhereItFires) {
  const auto rules = builtin_rules().value();
  const RuleBook book = book_of(rules);
  std::map<std::string, size_t> accepted;
  for (const auto& [name, graph] : golden_graphs()) {
    for (const Recorded& one : recorded(book.at(name), graph)) {
      const auto graph_after = replayed(one.before, one.move, book);
      ASSERT_TRUE(graph_after.has_value()) << name << ": " << graph_after.error().message << "\n" << print_graph(graph);
      EXPECT_EQ(graph_after->hash(), one.after.hash());
      ++accepted[name];
    }
  }
  for (const Rule& rule : rules) EXPECT_GT(accepted[rule.name], 0U) << rule.name;
}

/// Tries every rule on the golden graphs of all the others.
TEST(Replay, AcceptsEveryRuleWhereverItFires) {
  const auto rules = builtin_rules().value();
  const RuleBook book = book_of(rules);
  size_t accepted = 0;
  for (const auto& [name, graph] : golden_graphs()) {
    for (const Rule& rule : rules) {
      for (const Recorded& one : recorded(rule, graph, 3)) {
        const std::string problem = refusal(one.before, one.move, book);
        ASSERT_EQ(problem, "") << rule.name << " on\n" << print_graph(graph);
        ++accepted;
      }
    }
  }
  EXPECT_GT(accepted, 500U);
}

/// Tries every application with one thing changed in it.
TEST(Replay, RefusesAWrongBinding) {
  const auto rules = builtin_rules().value();
  const RuleBook book = book_of(rules);
  size_t tried = 0;
  for (const auto& golden : golden_graphs()) {
    const std::string& name = golden.first;
    const Graph& graph = golden.second;
    const auto all = recorded(book.at(name), graph, 1);
    if (all.empty()) continue;
    const Recorded& one = all[0];
    std::vector<uint64_t> hashes{0, 1};
    for (ValueId value = 0; value < graph.num_values(); ++value) hashes.push_back(graph.value_hash(value));
    const auto refused = [&](const auto& change) {
      for (const uint64_t hash : hashes) {
        Move move = one.move;
        if (!change(move.applications[0], hash)) continue;
        ++tried;
        EXPECT_THAT(refusal(graph, move, book), HasSubstr("step 1")) << name << " on\n" << print_graph(graph);
      }
    };
    for (size_t i = 0; i < one.move.applications[0].values.size(); ++i)
      refused([&](Application& a, uint64_t hash) { return std::exchange(a.values[i].second, hash) != hash; });
    for (size_t i = 0; i < one.move.applications[0].roots.size(); ++i)
      refused([&](Application& a, uint64_t hash) { return std::exchange(a.roots[i], hash) != hash; });
    for (size_t i = 0; i < one.move.applications[0].sequences.size(); ++i)
      refused([&](Application& a, uint64_t hash) {
        a.sequences[i].second.push_back(hash);
        return true;
      });
    Move without = one.move;
    without.applications[0].values.clear();
    without.applications[0].sequences.clear();
    EXPECT_NE(refusal(graph, without, book), "") << name;
    for (size_t i = 0; i < one.move.applications[0].attributes.size(); ++i) {
      Move move = one.move;
      move.applications[0].attributes[i].second += '0';
      EXPECT_NE(refusal(graph, move, book), "") << name;
    }
  }
  EXPECT_GT(tried, 1000U);
}

constexpr std::string_view kProducts = R"(
  input x: f32[2,3]
  input y: f32[2,3]
  a = f32[3,4]{seed 1}
  b = f32[3,4]{seed 2}
  p = MatMul(x, a)
  q = MatMul(y, b)
  s = Add(p, q)
  return s)";

constexpr std::string_view kFactor = "rule factor (Add (MatMul ?x ?a) (MatMul ?x ?b)) => (MatMul ?x (Add ?a ?b))";

TEST(Replay, RefusesWhatIsNoInstance) {
  const Graph graph = graph_of(kProducts);
  const RuleBook rules = book_of(rules_of(kFactor));
  const auto hash = [&](std::string_view name) {
    for (ValueId value = 0; value < graph.num_values(); ++value)
      if (graph.name(value) == name) return graph.value_hash(value);
    return uint64_t{0};
  };
  Move move;
  move.before = graph.hash();
  move.after = 1;
  move.applications = {{"factor", {hash("s")}, {{"x", hash("x")}, {"a", hash("a")}, {"b", hash("b")}}, {}, {}}};
  EXPECT_THAT(refusal(graph, move, rules), HasSubstr("not an instance"));
  move.applications[0].rule = "other";
  EXPECT_THAT(refusal(graph, move, rules), HasSubstr("no such rule"));
  move.before = 2;
  EXPECT_THAT(refusal(graph, move, rules), HasSubstr("begins with"));
}

TEST(Replay, RefusesAConditionThatDoesNotHold) {
  const Graph graph = graph_of("input x: f32[2,3]\ny = Transpose(x) {perm=[1,0]}\nreturn y");
  const auto loose = rules_of("rule drop (Transpose perm=?p ?x) => (Transpose perm=?p ?x)");
  const auto strict =
      rules_of("rule drop (Transpose perm=?p ?x) => (Transpose perm=?p ?x) where ?p == range(rank(?x))");
  const Recorded one = recorded(loose[0], graph).at(0);
  EXPECT_EQ(refusal(graph, one.move, book_of(loose)), "");
  EXPECT_THAT(refusal(graph, one.move, book_of(strict)), HasSubstr("condition"));
}

TEST(Replay, RefusesAConditionThatHoldsForSomeSizesAlone) {
  const Graph graph = graph_of("input x: f32[N,3]\ny = Relu(x)\nreturn y");
  const auto loose = rules_of("rule r (Relu ?x) => (Max ?x 0.0)");
  const auto strict = rules_of("rule r (Relu ?x) => (Max ?x 0.0) where dim(?x, 0) > 1");
  const Recorded one = recorded(loose[0], graph).at(0);
  EXPECT_EQ(refusal(graph, one.move, book_of(loose)), "");
  EXPECT_THAT(refusal(graph, one.move, book_of(strict)), HasSubstr("depends on the sizes"));
}

TEST(Replay, RefusesAnotherGraphAfterwards) {
  const auto rules = builtin_rules().value();
  const RuleBook book = book_of(rules);
  const Graph graph = graph_of("input x: f32[2]\na = Relu(x)\nb = Relu(a)\ny = Neg(b)\nreturn y");
  Recorded one = recorded(book.at("drop-relu-of-relu"), graph).at(0);
  one.move.after ^= 1;
  EXPECT_THAT(refusal(graph, one.move, book), HasSubstr("ends with"));
}

TEST(Replay, RefusesFreeParametersThatAreNoCandidates) {
  const auto rules = rules_of(
      "rule r (Relu ?x) choose ?k in [2, 3] => (Relu (Concat axis=0 (Slice axes=[0] starts=[0] "
      "ends=[?k] steps=[1] ?x) (Slice axes=[0] starts=[?k] ends=[4] steps=[1] ?x)))");
  const Graph graph = graph_of("input x: f32[4]\ny = Relu(x)\nreturn y");
  const auto all = recorded(rules[0], graph);
  ASSERT_EQ(all.size(), 2U);
  for (const Recorded& one : all) EXPECT_EQ(refusal(graph, one.move, book_of(rules)), "");
  Move move = all[0].move;
  move.applications[0].attributes[0].second = "1";
  EXPECT_THAT(refusal(graph, move, book_of(rules)), HasSubstr("not among [2,3]"));
  move.applications[0].attributes.clear();
  EXPECT_THAT(refusal(graph, move, book_of(rules)), HasSubstr("not recorded"));
  move = all[0].move;
  move.applications[0].attributes = all[1].move.applications[0].attributes;
  EXPECT_THAT(refusal(graph, move, book_of(rules)), HasSubstr("ends with"));
}

TEST(Replay, ChecksFoldedConstants) {
  const Graph graph =
      graph_of("input x: f32[2]\na = f32[2]{1,2}\nb = f32[2]{3,4}\nc = Add(a, b)\ny = Mul(x, c)\nreturn y");
  const Folding folding = fold(graph).value();
  Move move;
  move.before = graph.hash();
  move.after = folding.graph.hash();
  for (const auto& [value, tensor] : folding.constants)
    move.constants.emplace_back(graph.value_hash(value), tensor.hash());
  ASSERT_EQ(move.constants.size(), 1U);
  EXPECT_EQ(refusal(graph, move, {}), "");
  Move other = move;
  other.constants[0].second ^= 1;
  EXPECT_THAT(refusal(graph, other, {}), HasSubstr("but computed as"));
  other = move;
  other.constants[0].first = graph.value_hash(graph.outputs()[0]);
  EXPECT_THAT(refusal(graph, other, {}), HasSubstr("only on constants"));
  const OwnWeights own;
  EXPECT_EQ(Computed(graph, own).of(graph.operands(graph.producer_node(graph.outputs()[0]))[1])->data<float>()[1],
            6.0F);
}

TEST(Replay, AFoldedConstantMayHaveAnUnknownShape) {
  const Graph graph = graph_of(
      "input x: f32[2]\na = f32[2,2]{1,2,3,4}\nm = bool[2]{0,1}\nc = Compress(a, m) {axis=0}\ny = Relu(x)\nreturn y, "
      "c");
  ASSERT_FALSE(graph.type(graph.outputs()[1]).shape.has_value());
  const Folding folding = fold(graph).value();
  Move move;
  move.before = graph.hash();
  move.after = folding.graph.hash();
  for (const auto& [value, tensor] : folding.constants)
    move.constants.emplace_back(graph.value_hash(value), tensor.hash());
  ASSERT_EQ(move.constants.size(), 1U);
  EXPECT_EQ(refusal(graph, move, {}), "");
}

/// Returns the replayer's message for two steps: associating the only product of the graph, and folding the resulting
/// weight.
std::string of_folded_product(std::string_view text) {
  const auto rules =
      rules_of("rule associate (Mul (Mul ?x ?a) ?b) => (Mul ?x (Mul ?a ?b)) where weight(?a) and weight(?b)");
  const Graph graph = graph_of(text);
  const Recorded product = recorded(rules[0], graph).at(0);
  const Folding folding = fold(product.after).value();
  Move move;
  move.before = product.after.hash();
  move.after = folding.graph.hash();
  for (const auto& [value, tensor] : folding.constants)
    move.constants.emplace_back(product.after.value_hash(value), tensor.hash());
  const Move moves[] = {product.move, move};
  Tally tally;
  const auto end = replay_moves(graph, moves, book_of(rules), tally);
  const OwnWeights own = own_weights(graph);
  const auto unfolded = Computed(product.after, own).check_all();
  EXPECT_EQ(unfolded.has_value(), end.has_value()) << "whether it is folded or not";
  return end ? "" : end.error().message;
}

TEST(Replay, RefusesFoldedWeightsThatCannotBeStored) {
  const auto product = [](const std::string& type, const std::string& a, const std::string& b) {
    return of_folded_product(fmt::format(
        "input x: {0}\na = {0}{{{1}}}\nb = {0}{{{2}}}\np = Mul(x, a)\ny = Mul(p, b)\nreturn y", type, a, b));
  };
  EXPECT_EQ(product("f32[2]", "1e10,0", "1e20,3"), "");
  EXPECT_EQ(product("f32[2]", "-inf,1e-20", "1e20,1e-22"), "") << "an infinity of the model; a subnormal number";
  EXPECT_THAT(product("f32[2]", "1,1e30", "1,1e30"), HasSubstr("element 1 is stored as inf and should be 1e+60"));
  EXPECT_THAT(product("f32[2]", "1e-30,1", "1e-30,1"), HasSubstr("element 0 is stored as 0 and should be 1e-60"));
  const auto narrow = [](const std::string& type, int number, const std::string& element) {
    return of_folded_product(
        fmt::format("input x: {0}[1]\nf = f32[1]{{{2}}}\na = Cast(f) {{to={1}}}\np = Mul(x, a)\n"
                    "y = Mul(p, a)\nreturn y",
                    type, number, element));
  };
  EXPECT_THAT(narrow("f16", 10, "300"), HasSubstr("stored as inf"));
  EXPECT_THAT(narrow("bf16", 16, "1e30"), HasSubstr("stored as inf"));
  EXPECT_EQ(narrow("bf16", 16, "300"), "");
  EXPECT_THAT(product("f64[1]", "1e200", "1e200"), HasSubstr("out of the range of double precision"));
  EXPECT_EQ(product("i64[1]", "4294967296", "4294967296"), "");
}

TEST(Replay, TakesTheModelsOwnWeightsAsTheyAre) {
  EXPECT_EQ(of_folded_product("input x: f32[1]\nc = f32[1]{1e30}\na = Mul(c, c)\nb = f32[1]{2}\np = Mul(x, a)\n"
                              "y = Mul(p, b)\nreturn y"),
            "");
}

TEST(Replay, RefusesACycle) {
  // Each of two rules, both valid by themselves, makes its root from the other's root.
  const auto rules = rules_of(
      "rule one (Neg ?x), (Abs ?y) => (Neg ?x), (Abs (Neg (Neg ?y)))\n"
      "rule late (Relu ?x), (Neg ?y) => (Relu ?x), (Neg ?y)");
  const Graph graph = graph_of("input x: f32[2]\na = Relu(x)\nb = Neg(a)\nreturn b");
  Move move;
  move.before = graph.hash();
  move.after = graph.hash();
  const uint64_t b = graph.value_hash(graph.outputs()[0]);
  const uint64_t a = graph.value_hash(graph.operands(graph.producer_node(graph.outputs()[0]))[0]);
  const uint64_t x = graph.value_hash(graph.inputs()[0]);
  // Both at once: Neg reads ?y, which is a root of the same move.
  move.applications = {{"late", {a, b}, {{"x", x}, {"y", a}}, {}, {}}};
  EXPECT_THAT(refusal(graph, move, book_of(rules)), HasSubstr("in a cycle"));
  move.applications = {{"late", {a, a}, {{"x", x}, {"y", a}}, {}, {}}};
  EXPECT_NE(refusal(graph, move, book_of(rules)), "");
}

/// Compares the two implementations of the language function by function: the replayer must know all of them.
TEST(Replay, KnowsEveryFunction) {
  for (const RuleFunction& function : all_rule_functions()) {
    const std::string name(function.name);
    const auto nothing = call_function(name, {});
    ASSERT_FALSE(nothing.has_value());
    bool known = false;
    for (size_t arguments = 1; arguments <= 3; ++arguments) {
      const std::vector<Value> values(arguments, Value(Dims{Dim(0)}));
      const auto result = call_function(name, values);
      known = known || result || result.error().message.find("there is no function") == std::string::npos;
    }
    EXPECT_TRUE(known) << name;
  }
}

/// Expressions over integers and lists must have the same value in both implementations.
TEST(Replay, ReadsExpressionsAsTheSearchDoes) {
  const std::vector<std::string> expressions = {"7 / 2",
                                                "-7 / 2",
                                                "-7 % 3",
                                                "[1, 2] + [3, 4]",
                                                "[1] ++ [2, 3]",
                                                "[5, 6, 7][-1]",
                                                "[5, 6, 7][3]",
                                                "take([1, 2, 3], 2)",
                                                "drop([1, 2, 3], 2)",
                                                "drop([1], 2)",
                                                "repeat(4, 3)",
                                                "range(3)",
                                                "set([1, 2, 3], -1, 9)",
                                                "insert([1, 2], -1, 9)",
                                                "insert([1, 2], 2, 9)",
                                                "erase([1, 2, 3], 0)",
                                                "permute([5, 6, 7], [2, 0, 1])",
                                                "inverse([2, 0, 1])",
                                                "index([4, 5, 5], 5)",
                                                "index([4], 5)",
                                                "places([2, 0, 2], 4)",
                                                "places([2], 1)",
                                                "contains([1, 2], 2)",
                                                "all([1, 1], 1)",
                                                "nonnegative([0, -1])",
                                                "distinct([1, 2, 1])",
                                                "around([1, 2, 3, 4])",
                                                "around([1])",
                                                "normal(-1, 4)",
                                                "normal(4, 4)",
                                                "divisors(12)",
                                                "max(3, 5)",
                                                "min([1, 5], [2, 3])",
                                                "sum([1, 2, 3])",
                                                "prod([2, 3])",
                                                "len([1, 2])",
                                                "1 < 2",
                                                "2 <= 1",
                                                "1.5 > 1",
                                                "2 == 2.0",
                                                "2 != 3",
                                                "not 1 == 2",
                                                "1 == 1 or 1 / 0 == 1",
                                                "1 == 2 and 1 / 0 == 1",
                                                "\"a\" == \"a\"",
                                                "\"a\" == 1",
                                                "1 / 0",
                                                "[1, 2] == [1, 2]",
                                                "max(divisors(12)[2], 2) * 3 - 1"};
  for (const std::string& text : expressions) {
    const auto rules = rules_of("rule r (Relu ?x) => ?x where (" + text + ") == 0");
    ASSERT_EQ(rules.size(), 1U) << text;
    const Expr& expr = rules[0].conditions[0].args[0];
    const Graph graph = graph_of("input x: f32[2]\ny = Relu(x)\nreturn y");
    const GraphFacts facts(graph);
    const Binding binding;
    const auto theirs = isomer::evaluate(expr, ExprContext{binding, facts});
    const auto ours = evaluate(expr, Variables{}, std::nullopt);
    ASSERT_EQ(theirs.has_value(), ours.has_value()) << text << ": " << (ours ? text_of(*ours) : ours.error().message);
    if (!ours) continue;
    if (const auto* dim = std::get_if<Dim>(&*theirs)) {
      EXPECT_TRUE(equal(*ours, Value(*dim))) << text;
    }
    if (const auto* dims = std::get_if<isomer::Dims>(&*theirs)) {
      EXPECT_TRUE(equal(*ours, Value(*dims))) << text;
    }
    if (const auto* known = std::get_if<bool>(&*theirs)) {
      EXPECT_TRUE(equal(*ours, Value(*known))) << text;
    }
  }
}

TEST(Replay, KnowsWhichConstantsAreModerateAsTheSearchDoes) {
  const Expr asked = rules_of("rule r (Relu ?x) => ?x where moderate(?x)")[0].conditions[0];
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<std::pair<Tensor, bool>> constants = {
      {Tensor::floats({2}, {0, -1000}), true},
      {Tensor::floats({2}, {0, -1001}), false},
      {Tensor::floats({1}, {kInfinity}), false},
      {Tensor::floats({1}, {std::numeric_limits<float>::quiet_NaN()}), false},
      {Tensor::floats({0}, {}), true},
      {Tensor::ints({1}, {5000}), true},
  };
  for (const auto& [constant, moderate] : constants) {
    GraphBuilder builder;
    const ValueId value = builder.constant(constant);
    Binding binding;
    binding.values = {{"x", value}};
    const Graph graph = builder.finish({&value, 1});
    EXPECT_EQ(is_met(asked, ExprContext{binding, GraphFacts(graph)}), moderate);
    const TensorType type = constant.type();
    const auto replayed = call_function("moderate", std::vector<Value>{Facts{{{&type, &constant, true, 0}}}});
    ASSERT_TRUE(replayed.has_value());
    EXPECT_EQ(std::get<bool>(*replayed), moderate);
    EXPECT_TRUE(std::get<bool>(*call_function("moderate", std::vector<Value>{Facts{{{&type, nullptr, true, 0}}}})));
  }
}

TEST(Replay, KnowsWhichDerivedValuesAreModerateAsTheSearchDoes) {
  const Expr asked = rules_of("rule r (Relu ?x) => ?x where moderate(?x)")[0].conditions[0];
  for (const auto& [value, moderate] : std::vector<std::pair<std::string, bool>>{{"-1e9", false}, {"-1", true}}) {
    const Graph graph = graph_of("input x: f32[2]\nc = f32[2]{1,2}\nm = ConstantOfShape() {shape=[2], value=f32[1]{" +
                                 value + "}}\ns = Add(c, m)\ny = Add(x, s)\nreturn y");
    const ValueId sum = graph.operands(graph.producer_node(graph.outputs()[0]))[1];
    Binding binding;
    binding.values = {{"x", sum}};
    EXPECT_EQ(is_met(asked, ExprContext{binding, GraphFacts(graph)}), moderate);
    const Fact fact{&graph.type(sum), nullptr, true, sum, &graph};
    EXPECT_EQ(std::get<bool>(*call_function("moderate", std::vector<Value>{Facts{{fact}}})), moderate);
  }
}

}  // namespace
}  // namespace isomer::replay
