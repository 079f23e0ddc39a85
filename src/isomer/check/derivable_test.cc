#include "isomer/check/derivable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "isomer/check/representatives.h"
#include "isomer/rules/builtin.h"

namespace isomer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Rule> rules(const std::string& text) {
  auto parsed = parse_rules(text);
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
  return parsed ? *parsed : std::vector<Rule>();
}

Rule query(const std::string& text) {
  auto parsed = parse_query(text);
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
  return parsed ? *parsed : Rule();
}

const std::vector<Direction>& written() {
  static const std::vector<Direction> directions = directions_of(*builtin_rules());
  return directions;
}

/// Returns only rulesets/discovered.rules.
const std::vector<Direction>& discovered() {
  static const std::vector<Direction> directions =
      directions_of(*load_rules(ISOMER_SOURCE_DIR "/rulesets/discovered.rules"));
  return directions;
}

/// For rules that are known to be true.
DerivableOptions hardly_checked() {
  DerivableOptions options;
  options.check = {.max_instances = 20, .max_steps = 500, .sample = 1};
  return options;
}

/// Names of the rules of a file, by answer.
struct Answers {
  std::set<std::string> derived;
  std::set<std::string> refuted;
  std::set<std::string> not_derived;
};
Answers ask(const std::string& file, const std::vector<Direction>& directions, const DerivableOptions& options) {
  Answers out;
  const auto queries = load_rules(ISOMER_SOURCE_DIR "/rulesets/" + file);
  EXPECT_TRUE(queries.has_value()) << (queries ? "" : queries.error().message);
  if (!queries) return out;
  const auto answers = all_derivable(*queries, directions, options, 2);
  for (size_t i = 0; i < answers.size(); ++i) {
    auto& list = answers[i].answer == Derivable::Derived   ? out.derived
                 : answers[i].answer == Derivable::Refuted ? out.refuted
                                                           : out.not_derived;
    list.insert((*queries)[i].name);
  }
  return out;
}

TEST(Representatives, TellExtentsApartAndShowLengths) {
  const auto found = representatives(query("(MatMul (MatMul ?a ?b) ?c) => (MatMul ?a (MatMul ?b ?c))\n"
                                           "where rank(?a) == 2 and rank(?b) == 2 and rank(?c) == 2 and real(?a)"),
                                     1);
  ASSERT_EQ(found.size(), 1U);
  std::set<std::string> extents;
  for (const Instance::Value& value : found[0].instance.values)
    for (const Dim& dim : *value.type.shape) extents.insert(dim.str());
  EXPECT_GE(extents.size(), 3U) << instance_text(found[0].instance);

  std::set<size_t> lengths;
  for (const auto& each :
       representatives(query("(Concat axis=?a (Relu @x)...) => (Relu (Concat axis=?a @x)) where len(@x) >= 2"), 4))
    lengths.insert(each.instance.nodes.size() - 1);
  EXPECT_TRUE(lengths.contains(2) && lengths.contains(3));
}

TEST(Derivable, QueriesAreRulesWithOrWithoutAName) {
  EXPECT_EQ(query("(Relu ?x) => (Relu ?x)").name, "query");
  EXPECT_EQ(query(" rule r (Relu ?x) => (Relu ?x) where rank(?x) == 2").name, "r");
  const auto two = parse_query("rule a (Relu ?x) => ?x\nrule b (Relu ?x) => ?x");
  ASSERT_FALSE(two.has_value());
  EXPECT_THAT(two.error().message, HasSubstr("one equality is expected, not 2"));
  EXPECT_FALSE(parse_query("?x => (Relu ?x)").has_value());
}

TEST(Derivable, AChainOfSeveralRulesIsGivenInFull) {
  const DerivableAnswer answer =
      derivable(query("(MatMul (MatMul (MatMul ?a ?b) ?c) ?d) => (MatMul ?a (MatMul ?b (MatMul ?c ?d)))\n"
                      "where rank(?a) == 2 and rank(?b) == 2 and rank(?c) == 2 and rank(?d) == 2 and real(?a)"),
                written());
  ASSERT_EQ(answer.answer, Derivable::Derived) << answer.how;
  ASSERT_EQ(answer.chain.size(), 2U);
  EXPECT_EQ(answer.start, "(MatMul (MatMul (MatMul ?a ?b) ?c) ?d)");
  EXPECT_EQ(answer.chain.back().after, "(MatMul ?a (MatMul ?b (MatMul ?c ?d)))");
}

TEST(Derivable, AFalseEqualityIsRefutedEvenIfFalseRulesGiveIt) {
  const auto wrong = rules("rule wrong (Relu (Add ?x ?y)) => (Add (Relu ?x) (Relu ?y))");
  const DerivableAnswer answer = derivable(wrong[0], directions_of(wrong));
  EXPECT_EQ(answer.answer, Derivable::Refuted);
  EXPECT_THAT(answer.counterexample, HasSubstr("return"));
}

TEST(Derivable, ATrueEqualityOutOfReachIsNotDerived) {
  const DerivableAnswer answer = derivable(query("(Abs (Neg ?x)) => (Abs ?x)"), written());
  EXPECT_EQ(answer.answer, Derivable::NotDerived);
  EXPECT_EQ(answer.how, "nothing more follows");
  EXPECT_THAT(answer.chain, IsEmpty());
}

TEST(Derivable, ConditionsOnWeightsMayBePassedOver) {
  const std::string join =
      "(Add (MatMul ?x ?a) (MatMul ?y ?b)) => (MatMul (Concat axis=1 ?x ?y) (Concat axis=0 ?a ?b))\n"
      "where rank(?x) == 2 and rank(?y) == 2 and rank(?a) == 2 and rank(?b) == 2\n"
      "and dim(?x, 0) == dim(?y, 0) and dim(?a, 1) == dim(?b, 1) and real(?x)";
  const auto asking = directions_of(rules("rule join " + join + " and weight(?a) and weight(?b)"));
  EXPECT_EQ(derivable(query(join), asking).answer, Derivable::NotDerived);
  DerivableOptions options;
  options.limits.all_weights = true;
  const DerivableAnswer answer = derivable(query(join), asking, options);
  EXPECT_EQ(answer.answer, Derivable::Derived) << answer.how;
}

TEST(Derivable, WhatHasNoInstanceIsNotDerived) {
  const DerivableAnswer answer = derivable(query("(Relu ?x) => (Relu ?x) where rank(?x) == 9"), written());
  EXPECT_EQ(answer.answer, Derivable::NotDerived);
  EXPECT_EQ(answer.how, "no instance within bounds");
}

TEST(Derivable, EveryFalseRuleIsRefuted) {
  for (const char* file : {"algebra", "channels", "convolutions", "movement"}) {
    const std::string path = fmt::format("false/{}.rules", file);
    const auto queries = load_rules(ISOMER_SOURCE_DIR "/rulesets/" + path);
    ASSERT_TRUE(queries.has_value());
    const Answers answers = ask(path, written(), {});
    for (const Rule& rule : *queries) EXPECT_TRUE(answers.refuted.contains(rule.name)) << rule.name;
  }
}

TEST(Derivable, AnswersDoNotDependOnTheNumberOfThreads) {
  const auto queries = load_rules(ISOMER_SOURCE_DIR "/rulesets/papers.rules");
  ASSERT_TRUE(queries.has_value());
  const auto one = all_derivable(*queries, written(), hardly_checked(), 1);
  const auto three = all_derivable(*queries, written(), hardly_checked(), 3);
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].answer, three[i].answer);
    EXPECT_EQ(one[i].how, three[i].how);
    EXPECT_EQ(one[i].nodes, three[i].nodes);
    ASSERT_EQ(one[i].chain.size(), three[i].chain.size());
    for (size_t s = 0; s < one[i].chain.size(); ++s) EXPECT_EQ(one[i].chain[s].after, three[i].chain[s].after);
  }
}

// The substitutions in the figures of the papers, from the hand-written rules.
TEST(Derivable, PapersSubstitutionsThatFollowFromTheWrittenRules) {
  const Answers answers = ask("papers.rules", written(), hardly_checked());
  EXPECT_THAT(answers.refuted, IsEmpty());
  EXPECT_THAT(answers.not_derived, ElementsAre("two-groups-as-one"));
}

// The same from the discovered rules: all of them, each at several instances.
TEST(Derivable, PapersSubstitutionsFollowFromTheDiscoveredRules) {
  const auto queries = load_rules(ISOMER_SOURCE_DIR "/rulesets/papers.rules");
  ASSERT_TRUE(queries.has_value()) << queries.error().message;
  const auto answers = all_derivable(*queries, discovered(), hardly_checked(), 2);
  std::set<std::string> derived;
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].answer, Derivable::Derived) << (*queries)[i].name << ": " << answers[i].how;
    EXPECT_GE(answers[i].instances, 2U) << (*queries)[i].name;
    if (answers[i].answer == Derivable::Derived) derived.insert((*queries)[i].name);
  }
  EXPECT_THAT(
      derived,
      ElementsAre("convolution-and-summand", "enlarge-1x1-to-3x3", "enlarge-1x3-to-3x3", "enlarge-3x1-to-3x3",
                  "gate-of-sru", "product-is-associative", "product-of-transposed", "row-and-column-as-square",
                  "siblings-on-slices-as-groups", "sum-of-two-convolutions", "sum-of-two-separable-convolutions",
                  "sum-of-two-separable-convolutions-enlarged", "two-convolutions-of-one-image",
                  "two-depthwise-convolutions", "two-groups-as-one", "two-pools-and-their-sum",
                  "two-pools-as-convolutions", "two-pools-as-one-convolution", "two-products-of-one-matrix"));
}

// Every hand-written rule follows from itself: it matches all instances of its query.
TEST(Derivable, WrittenRulesFollowFromThemselves) {
  const auto all = builtin_rules();
  ASSERT_TRUE(all.has_value());
  DerivableOptions options = hardly_checked();
  options.limits.rounds = 1;
  options.instances = 1;
  std::set<std::string> missing;
  for (const Rule& rule : *all) {
    const std::vector<Rule> one{rule};
    const DerivableAnswer answer = derivable(rule, directions_of(one), options);
    EXPECT_NE(answer.answer, Derivable::Refuted) << rule.name << answer.counterexample;
    if (answer.answer != Derivable::Derived) missing.insert(rule.name + ": " + answer.how + " " + answer.instance);
  }
  EXPECT_THAT(missing, IsEmpty());
}

}  // namespace
}  // namespace isomer
