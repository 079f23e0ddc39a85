// Rules that must be proved, and rules that must not.

#include "isomer/proof/prove.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "isomer/base/file.h"
#include "isomer/proof/structure.h"
#include "isomer/rules/rule.h"

namespace isomer {
namespace {

std::vector<Rule> rules_in(const std::filesystem::path& file) {
  const auto text = read_file(std::filesystem::path(ISOMER_SOURCE_DIR) / file);
  EXPECT_TRUE(text.has_value()) << file;
  auto rules = parse_rules(*text);
  EXPECT_TRUE(rules.has_value()) << file;
  return *std::move(rules);
}

Proof proof_of(const std::string& text) {
  const auto rules = parse_rules("rule it\n" + text);
  EXPECT_TRUE(rules.has_value()) << rules.error().message;
  return prove_rule(rules->front());
}

TEST(ProveRule, TasosPropertiesAreTheorems) {
  size_t proved = 0;
  for (const Rule& rule : rules_in("tests/proofs/taso_properties.rules")) {
    const Proof proof = prove_rule(rule);
    EXPECT_TRUE(proof.proved) << rule.name << ": " << proof.how;
    ++proved;
  }
  EXPECT_EQ(proved, 40U);
}

TEST(ProveRule, NoFalseRuleIsProved) {
  size_t tried = 0;
  for (const char* file : {"algebra", "channels", "convolutions", "movement"}) {
    for (const Rule& rule : rules_in("rulesets/false/" + std::string(file) + ".rules")) {
      ++tried;
      EXPECT_FALSE(prove_rule(rule).proved) << rule.name;
    }
  }
  EXPECT_GE(tried, 80U);
}

TEST(ProveRule, ShapesMayBroadcastAlongSeveralAxes) {
  // a: [1, 2, m, k] and b: [1, 2, m, k] give [2, 2, m, k], as c: [2, 1, k, n] and d: [2, 1, k, n] give [2, 2, k, n].
  EXPECT_FALSE(proof_of("(MatMul (Concat axis=?i ?a ?b) (Concat axis=?j ?c ?d))\n"
                        "=> (Add (MatMul ?a ?c) (MatMul ?b ?d))\nwhere real(?a)")
                   .proved);
  EXPECT_FALSE(proof_of("(MatMul (Concat axis=?i ?a ?a) (Concat axis=?j ?b ?c))\n"
                        "=> (MatMul ?a (Add ?b ?c))\nwhere real(?a)")
                   .proved);
  EXPECT_TRUE(proof_of("(MatMul (Concat axis=?i ?a ?b) (Concat axis=?j ?c ?d))\n"
                       "=> (Add (MatMul ?a ?c) (MatMul ?b ?d))\nwhere real(?a) and rank(?a) == 2 and rank(?c) == 2")
                  .proved);
}

TEST(ProveRule, TargetsMayBeIllTypedAtSomeRanks) {
  for (const char* target : {"(GlobalAveragePool ?x)", "(GlobalMaxPool ?x)", "(Transpose perm=[0,2,1] ?x)"})
    EXPECT_FALSE(proof_of("(Neg ?x) => " + std::string(target)).proved) << target;
}

TEST(ProveRule, ItHoldsForEveryExtent) {
  // With extents up to 3, a product of two thousand rows looks like any other.
  EXPECT_FALSE(
      proof_of("(MatMul ?x ?a)\n=> (MatMul ?x (Add ?a ?a))\nwhere rank(?x) == 2 and rank(?a) == 2 and real(?x)")
          .proved);
  EXPECT_TRUE(proof_of("(MatMul ?x (Add ?a ?a))\n=> (Mul (MatMul ?x ?a) 2.0)\n"
                       "where rank(?x) == 2 and rank(?a) == 2 and real(?x)")
                  .proved);
}

TEST(ProveRule, SequencesOfDifferentLengthsAreNotRepeatedTogether) {
  const Proof proof = proof_of(
      "(Conv ..conv group=2 (Concat axis=1 @a) (Concat axis=0 @b))\n=> (Concat axis=1 (Conv ..conv group=1 @a @b)...)\n"
      "where rank(@a) == 3 and alike(@a) and alike(@b) and len(@a) >= 2 and len(@b) >= 2");
  EXPECT_TRUE(proof.proved) << proof.how;
}

TEST(ProveRule, OneWindowIsLargerThanAnotherByItsPads) {
  const Proof proof = proof_of(
      "(Concat axis=1 (Conv group=1 dilations=[1] strides=[1] pads=[0, 0] ?a ?b)\n"
      "  (Conv group=1 dilations=[1] strides=[1] pads=[1, 1] ?a ?c))\n"
      "=> (Conv group=1 dilations=[1] strides=[1] pads=[1, 1] ?a\n"
      "  (Concat axis=0 (Pad constant_value=0.0 mode=\"constant\" pads=[0, 0, 1, 0, 0, 1] ?b) ?c))");
  EXPECT_TRUE(proof.proved) << proof.how;
}

TEST(ProveRule, AConditionThatNothingSatisfiesProvesNothing) {
  const Proof proof = proof_of("(Relu ?x)\n=> ?x\nwhere rank(?x) == 2 and dim(?x, 0) < 0");
  EXPECT_FALSE(proof.proved);
  EXPECT_EQ(proof.structures, 0U);
}

TEST(ProveRule, IntegersDoNotDivide) {
  EXPECT_FALSE(proof_of("(Div (Mul ?x ?y) ?z)\n=> (Mul ?x (Div ?y ?z))\nwhere shape(?x) == shape(?y)").proved);
  EXPECT_TRUE(proof_of("(Div (Mul ?x ?y) ?z)\n=> (Mul ?x (Div ?y ?z))\nwhere shape(?x) == shape(?y) and shape(?y) == "
                       "shape(?z) and real(?x)")
                  .proved);
}

TEST(ProveRule, ConstantsMadeOfNothingAreRealOnlyWhereTheRuleIs) {
  const std::string text =
      "(Div (Mul (ConstantOfShape shape=?s value=?a) (ConstantOfShape shape=?s value=?b)) ?z)\n"
      "=> (Mul (ConstantOfShape shape=?s value=?a) (Div (ConstantOfShape shape=?s value=?b) ?z))\n";
  EXPECT_FALSE(proof_of(text + "where rank(?z) == 1").proved);
  const Proof reals = proof_of(text + "where rank(?z) == 1 and real(?z)");
  EXPECT_TRUE(reals.proved) << reals.how;
}

TEST(ProveRule, NumbersThatConditionsReadAreNotSamples) {
  const auto filled = [](const std::string& condition) {
    return proof_of("(Mul ?x (ConstantOfShape shape=?s value=?v))\n=> (Sub ?x ?x)\nwhere real(?x) and " + condition)
        .proved;
  };
  EXPECT_TRUE(filled("value(?v) == 0"));
  EXPECT_FALSE(filled("value(?v) <= 0"));  // -1
  EXPECT_FALSE(filled("value(?v) < 1"));
  EXPECT_FALSE(filled("value(?v) >= 0"));
  EXPECT_FALSE(filled("(value(?v) == 0 or rank(?x) == 1)"));
  const auto scaled = [](const std::string& condition) {
    return proof_of(
               "(Relu (Mul ?x ?c))\n=> (Mul (Relu ?x) ?c)\n"
               "where real(?x) and elements(?c) == 1 and rank(?c) <= rank(?x) and " +
               condition)
        .proved;
  };
  EXPECT_TRUE(scaled("value(?c) > 0"));
  EXPECT_TRUE(scaled("value(?c) == 2"));
  EXPECT_FALSE(scaled("(value(?c) + 1) > 0"));  // -0.5
  EXPECT_FALSE(scaled("value(?c) > -0.75"));
  EXPECT_FALSE(scaled("value(?c) != -1"));
  EXPECT_FALSE(scaled("(value(?c) > 0 or rank(?x) == 1)"));
  EXPECT_FALSE(scaled("uniform(?c)"));
}

TEST(ProveRule, AlternativesOfConditionsOnConstantsAreNotPassedOver) {
  // Structures list no weights or constants of equal elements that only an alternative asks for.
  const std::string swap = "(MatMul ?x ?w)\n=> (MatMul ?w ?x)\nwhere real(?x) and rank(?x) == rank(?w) and ";
  EXPECT_TRUE(proof_of(swap + "rank(?w) == 1").proved);
  EXPECT_TRUE(proof_of(swap + "rank(?w) == 1 and not weight(?x)").proved);
  EXPECT_FALSE(proof_of(swap + "not (not weight(?w) and rank(?w) != 1)").proved);
  for (const char* alternative : {"weight(?w)", "uniform(?w)", "value(?w) == 2", "not weight(?x)"})
    EXPECT_FALSE(proof_of(swap + "(" + alternative + " or rank(?w) == 1)").proved) << alternative;
}

TEST(ProveRule, IntegersHaveNoOtherLawsOfFunctionsThanTheNamedOnes) {
  EXPECT_TRUE(proof_of("(Abs (Relu ?x))\n=> (Relu ?x)").proved);
  EXPECT_FALSE(proof_of("(Abs ?x)\n=> ?x").proved);
  EXPECT_FALSE(proof_of("(Abs (Neg (Relu ?x)))\n=> (Neg (Relu ?x))").proved);
  EXPECT_FALSE(proof_of("(Abs (Sub (Relu ?x) (Relu ?y)))\n=> (Sub (Relu ?x) (Relu ?y))").proved);
}

TEST(ProveRule, OnlyCastsToTheOwnTypeDoNothing) {
  EXPECT_TRUE(proof_of("(Cast ..r ?x)\n=> ?x").proved);
  EXPECT_FALSE(proof_of("(Cast to=1 ..r (Cast to=7 ..q ?x))\n=> ?x").proved);
  EXPECT_FALSE(proof_of("(Cast to=1 ..r ?x)\n=> (Cast to=7 ..r ?x)").proved);
}

TEST(ProveRule, SlicesAreClamped) {
  EXPECT_TRUE(proof_of("(Slice ..s ?x)\n=> ?x\nwhere all(?s.steps, 1)").proved);
  EXPECT_FALSE(proof_of("(Slice ..s ?x)\n=> ?x\nwhere all(?s.steps, -1)").proved);
  const std::string first = "(Slice axes=[0] starts=[0] ends=?e steps=[1] ";
  EXPECT_TRUE(proof_of(first + "(Neg ?x))\n=> (Neg " + first + "?x))").proved);
  EXPECT_FALSE(proof_of(first + "(Slice axes=[0] starts=?s ends=?f steps=[1] ?x))\n=> " + first + "?x)").proved);
}

TEST(ProveRule, GroupsKeepTheirOrder) {
  const auto joined = [](const std::string& images, const std::string& weights) {
    return proof_of(
               "(Concat axis=1 (Conv group=?g ..c ?x ?w) (Conv group=?g ..c ?y ?v))\n"
               "=> (Conv group=(?g * 2) ..c (Concat axis=1 " +
               images + ") (Concat axis=0 " + weights +
               "))\nwhere rank(?x) == 3 and shape(?x) == shape(?y) and shape(?w) == shape(?v)")
        .proved;
  };
  EXPECT_TRUE(joined("?x ?y", "?w ?v"));
  EXPECT_FALSE(joined("?x ?y", "?v ?w"));
  EXPECT_FALSE(joined("?y ?x", "?w ?v"));
}

TEST(ProveRule, OnlyReshapesOfReshapesAreOneReshape) {
  EXPECT_TRUE(proof_of("(Reshape shape=[-1] (Reshape ..r ?x))\n=> (Reshape shape=[-1] ?x)").proved);
  EXPECT_FALSE(proof_of("(Reshape shape=[-1] (Transpose perm=[1, 0] ?x))\n=> (Reshape shape=[-1] ?x)").proved);
  EXPECT_FALSE(proof_of("(Reshape shape=[-1] (Reshape ..r (Neg ?x)))\n=> (Reshape shape=[-1] ?x)").proved);
}

TEST(ProveRule, AttributesThatOtherNodesShareKeepAllTheirValues) {
  // Axis 1 of a matrix in a stack is axis 0 of the matrix, but axis -1 of both is the same.
  const auto below = [](const std::string& axis) {
    return proof_of("(Softmax axis=" + axis +
                    " (Unsqueeze axes=[0] ?x))\n=> (Unsqueeze axes=[0] (Softmax axis=" + axis + " ?x))")
        .proved;
  };
  EXPECT_TRUE(below("-1"));
  EXPECT_FALSE(below("?a"));
  EXPECT_TRUE(proof_of("(Squeeze axes=?a (Unsqueeze axes=?b ?x))\n=> ?x").proved);
  EXPECT_FALSE(proof_of("(Squeeze axes=?a (Unsqueeze axes=?b (Transpose perm=[1, 0] ?x)))\n=> ?x").proved);
}

TEST(ProveRule, AxesKeepTheirOrderWhereOtherListsDependOnIt) {
  const auto named = [](const std::string& axes) {
    return proof_of("(Slice axes=" + axes +
                    " starts=[0, 1] ends=[1, 2] steps=[1, 1] ?x)\n"
                    "=> (Slice axes=[0, 1] starts=[0, 1] ends=[1, 2] steps=[1, 1] ?x)\nwhere rank(?x) == 2")
        .proved;
  };
  EXPECT_TRUE(named("[0, 1]"));
  EXPECT_FALSE(named("?a"));
}

TEST(ProveRule, NodesOfARepeatedTermShareAllValuesOfTheirAttributes) {
  // The last axis is another one from the front for each rank.
  const auto rules = parse_rules("rule r\n  (Concat axis=0 (Flatten axis=?a @x)...)\n  => (Concat axis=0 @x)\n");
  ASSERT_TRUE(rules.has_value());
  const Structures structures = structures_of(rules->front());
  const auto from_back = [](const Instance& instance) {
    return std::ranges::any_of(instance.nodes, [](const Instance::Node& node) {
      const AttrValue* axis = node.attrs.find("axis");
      return axis != nullptr && std::get<int64_t>(*axis) < 0;
    });
  };
  EXPECT_TRUE(std::ranges::any_of(structures.instances, from_back));
}

TEST(ProveRule, PositionsOfTwoValuesDoNotMakeTheirExtentsEqual) {
  const std::string first = "(Gather axis=0 (Neg ?x) {?i})";
  const auto shortened = [&](const std::string& condition) {
    return proof_of("(Add " + first + " (Gather axis=0 (Neg ?y) {?i}))\n=> (Add " + first +
                    " (Gather axis=0 (Slice axes=[0] starts=[0] ends=[dim(?x, 0)] steps=[1] (Neg ?y)) {?i}))\nwhere " +
                    condition)
        .proved;
  };
  EXPECT_TRUE(shortened("rank(?x) == 1 and rank(?y) == 1 and dim(?x, 0) == dim(?y, 0)"));
  EXPECT_FALSE(shortened("rank(?x) == 1 and rank(?y) == 1"));
}

TEST(ProveRule, SelectionsOfSelectionsAreComposedInOrder) {
  const std::string source = "(Gather axis=1 (Gather axis=1 ?x {?i}) {?j})\n";
  EXPECT_TRUE(proof_of(source + "=> (Gather axis=1 ?x {permute(?i, ?j)})").proved);
  EXPECT_FALSE(proof_of(source + "=> (Gather axis=1 ?x {permute(?j, ?i)})").proved);
  EXPECT_FALSE(proof_of(source + "=> (Gather axis=1 ?x {?i})").proved);
}

}  // namespace
}  // namespace isomer
