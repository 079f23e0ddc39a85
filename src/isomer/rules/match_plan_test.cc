#include "isomer/rules/match_plan.h"

#include <gmock/gmock.h>

#include <set>

#include "isomer/rules/builtin.h"
#include "isomer/rules/rule_testing.h"
#include "isomer/rules/walk.h"

namespace isomer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

std::vector<std::string> texts(std::span<const Expr* const> conditions) {
  std::vector<std::string> out;
  for (const Expr* condition : conditions) out.push_back(print_expr(*condition));
  return out;
}

TEST(MatchPlan, AConditionIsEvaluatedOnceItsVariablesAreBound) {
  const Rule two = rule(
      "(Conv pads=?p ..c ?x ?w), (Conv pads=?q ..c ?x ?v)\n"
      "choose ?n in [1, 2]\n"
      "=> (Conv pads=?p ..c ?x ?w), (Conv pads=?q ..c ?x ?v)\n"
      "where ?n != dim(?x, 0) and weight(?v) and ?p != ?q and ?c.group == 1 and weight(?w)\n");
  const MatchPlan plan(two);
  EXPECT_THAT(texts(plan.conditions_at(0)), IsEmpty());
  EXPECT_THAT(texts(plan.conditions_at(1)), ElementsAre("?c.group == 1", "weight(?w)"));
  EXPECT_THAT(texts(plan.conditions_at(2)), ElementsAre("weight(?v)", "?p != ?q"));
  EXPECT_THAT(texts(plan.conditions_until(2)), ElementsAre("?c.group == 1", "weight(?w)", "weight(?v)", "?p != ?q"));
  EXPECT_THAT(texts(plan.conditions_after(2)), ElementsAre("?n != dim(?x, 0)"));
  EXPECT_FALSE(plan.single_root());
}

TEST(MatchPlan, SequencesOfSiblingsAreCompleteLast) {
  const Rule siblings = rule(
      "(Conv ..c ?x @w)... => (Split axis=1 split=dims(@w, 0) (Conv ..c ?x (Concat axis=0 @w)))\n"
      "where len(@w) >= 2 and ?c.group == 1 and rank(?x) == 4");
  const MatchPlan plan(siblings);
  EXPECT_THAT(texts(plan.conditions_at(1)), ElementsAre("?c.group == 1", "rank(?x) == 4"));
  EXPECT_THAT(texts(plan.conditions_after(1)), ElementsAre("len(@w) >= 2"));
  EXPECT_FALSE(plan.single_root());

  const Rule operands = rule("(Concat axis=?a (Relu @x)...) => (Relu (Concat axis=?a @x)) where len(@x) >= 2");
  EXPECT_THAT(texts(MatchPlan(operands).conditions_at(1)), ElementsAre("len(@x) >= 2"));
  EXPECT_TRUE(MatchPlan(operands).single_root());
}

/// The variables of the first terms, with their sigils, without the sequences of a repeated term.
std::set<std::string> bound_by(const Rule& rule, size_t terms) {
  std::set<std::string> out;
  for (size_t i = 0; i < terms; ++i) {
    for_each_term(rule.sources[i], [&](const Term& term) {
      if (term.kind == Term::Kind::Value) out.insert("?" + term.name);
      if (term.kind == Term::Kind::Sequence && !rule.sources[i].repeated) out.insert("@" + term.name);
      if (term.kind == Term::Kind::Integers) out.insert(term.integers.name);
      if (!term.rest.empty()) out.insert("?" + term.rest);
      for (const auto& [name, expr] : term.attrs)
        if (expr.kind == Expr::Kind::Variable) out.insert(expr.name);
    });
  }
  return out;
}

TEST(MatchPlan, HasEachConditionOnceAndNotTooEarly) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value());
  for (const Rule& each : *rules) {
    const MatchPlan plan(each);
    std::vector<std::string> planned;
    for (size_t terms = 0; terms <= each.sources.size(); ++terms) {
      const std::set<std::string> bound = bound_by(each, terms);
      for (const Expr* condition : plan.conditions_at(terms)) {
        planned.push_back(print_expr(*condition));
        for_each_expr(*condition, [&](const Expr& expr) {
          if (expr.kind == Expr::Kind::Variable) {
            EXPECT_TRUE(bound.contains(expr.name)) << each.name << ": " << expr.name << " of " << planned.back();
          }
        });
      }
    }
    std::ranges::copy(texts(plan.conditions_after(each.sources.size())), std::back_inserter(planned));
    std::vector<std::string> all;
    for (const Expr& condition : each.conditions) all.push_back(print_expr(condition));
    EXPECT_THAT(planned, UnorderedElementsAreArray(all)) << each.name;
  }
}

}  // namespace
}  // namespace isomer
