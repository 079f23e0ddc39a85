#include "isomer/proof/axiom_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "isomer/ops/registry.h"
#include "isomer/rules/builtin.h"
#include "isomer/smt/axiom.h"

namespace isomer {
namespace {

using ::testing::HasSubstr;
using Index = std::vector<Dim>;

/// Returns the verdict on an operator with a different axiom.
AxiomVerdict with_axiom(const std::string& name, AxiomFn axiom) {
  OpDef changed = op(name);
  changed.axiom = axiom;
  return check_axiom(changed);
}

void expect_refuted(const AxiomVerdict& verdict, const std::string& text) {
  EXPECT_TRUE(verdict.refuted) << verdict.str();
  EXPECT_THAT(verdict.counterexample, HasSubstr(text));
  EXPECT_THAT(verdict.counterexample, HasSubstr("x0 = "));
}

class EveryAxiom : public ::testing::TestWithParam<const OpDef*> {};

TEST_P(EveryAxiom, Holds) {
  // Sums of sums of squares are slow to evaluate.
  const size_t most = GetParam()->name.ends_with("Normalization") ? 20 : 200;
  const AxiomVerdict verdict = check_axiom(*GetParam(), {.max_instances = most});
  EXPECT_FALSE(verdict.refuted) << verdict.counterexample;
  // Slices and pads along many axes have too many cases, and there is no function for the root of integers.
  EXPECT_TRUE(verdict.given_up == 0 || verdict.why_given_up.starts_with("too many") ||
              verdict.why_given_up == "a root of what may be integers")
      << verdict.str();
  EXPECT_GT(verdict.instances, 0U);
  RecordProperty("checked", verdict.str());
}

std::vector<const OpDef*> with_axioms() {
  std::vector<const OpDef*> ops = all_ops();
  std::erase_if(ops, [](const OpDef* def) { return def->axiom == nullptr; });
  return ops;
}

INSTANTIATE_TEST_SUITE_P(Axioms, EveryAxiom, ::testing::ValuesIn(with_axioms()),
                         [](const auto& param) { return param.param->name; });

TEST(Axioms, HoldWherePadsFollowFromExtents) {
  for (const std::string name : {"Conv", "MaxPool", "AveragePool"}) {
    OpDef same = op(name);
    const auto mode = std::ranges::find(same.attrs, "auto_pad", &AttrDef::name);
    ASSERT_NE(mode, same.attrs.end()) << name;
    mode->domain = AttrDomain::Values;
    mode->values = {std::string("SAME_UPPER"), std::string("SAME_LOWER")};
    const AxiomVerdict verdict = check_axiom(same, {.max_instances = 200});
    EXPECT_FALSE(verdict.refuted) << name << ": " << verdict.counterexample;
    EXPECT_EQ(verdict.given_up, 0U) << verdict.str();
    EXPECT_GT(verdict.instances, 20U) << name;
  }
}

void operators_in(const Term& term, std::set<const OpDef*>& out) {
  if (term.op != nullptr) out.insert(term.op);
  for (const Term& operand : term.operands) operators_in(operand, out);
}

TEST(Axioms, EveryOperatorOfABuiltInRuleHasOne) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value());
  std::set<const OpDef*> used;
  for (const Rule& rule : *rules) {
    for (const auto* terms : {&rule.sources, &rule.targets})
      for (const Term& term : *terms) operators_in(term, used);
    for (const Let& let : rule.lets) operators_in(let.term, used);
  }
  EXPECT_GE(used.size(), 40U);
  for (const OpDef* def : used) EXPECT_NE(def->axiom, nullptr) << def->name;
}

// Axioms that are wrong --------------------------------------------------------------------------------------------

TEST(WrongAxioms, ConvolutionOfWhatReluLeaves) {
  expect_refuted(with_axiom("Conv",
                            [](Axiom& axiom) {
                              axiom.operands[0]->at = [at = axiom.operands[0]->at](const Index& index) {
                                return relu(at(index));
                              };
                              op("Conv").axiom(axiom);
                            }),
                 "relu");
}

TEST(WrongAxioms, PadsInFrontAndBehindAreOneAnother) {
  expect_refuted(with_axiom("Conv",
                            [](Axiom& axiom) {
                              auto& pads = std::get<Index>(axiom.attrs.at("pads"));
                              std::rotate(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2),
                                          pads.end());
                              op("Conv").axiom(axiom);
                            }),
                 "element");
}

TEST(WrongAxioms, PadsAreForgotten) {
  expect_refuted(with_axiom("Conv",
                            [](Axiom& axiom) {
                              for (Dim& pad : std::get<Index>(axiom.attrs.at("pads"))) pad = 0;
                              op("Conv").axiom(axiom);
                            }),
                 "its shape is");
}

TEST(WrongAxioms, ConvolutionThatIgnoresGroups) {
  expect_refuted(with_axiom("Conv",
                            [](Axiom& axiom) {
                              const Dim channels = axiom.operand(1).shape.at(1);
                              Scope* scope = &axiom.scope;
                              axiom.operands[0]->at = [at = axiom.operands[0]->at, channels, scope](Index index) {
                                index[1] = scope->remainder(index[1], channels);
                                return at(index);
                              };
                              op("Conv").axiom(axiom);
                            }),
                 "group=2");
}

TEST(WrongAxioms, AverageOverTheFullWindow) {
  expect_refuted(with_axiom("AveragePool",
                            [](Axiom& axiom) {
                              axiom.attrs["count_include_pad"] = Dim(1);
                              op("AveragePool").axiom(axiom);
                            }),
                 "count_include_pad=0");
}

TEST(WrongAxioms, ConcatenationOffByOne) {
  expect_refuted(with_axiom("Concat",
                            [](Axiom& axiom) {
                              const auto axis = axiom.axis("axis", axiom.operand(0).rank());
                              op("Concat").axiom(axiom);
                              axiom.results[0].at = [at = axiom.results[0].at, axis](Index index) {
                                index[axis] = index[axis] + 1;
                                return at(index);
                              };
                            }),
                 "is read at");
}

TEST(WrongAxioms, ProductsThatForgetBroadcasting) {
  expect_refuted(with_axiom("Mul",
                            [](Axiom& axiom) {
                              axiom.scope.assume(equal(axiom.operand(0).shape, axiom.operand(1).shape));
                              op("Mul").axiom(axiom);
                            }),
                 "no case covers it");
}

TEST(WrongAxioms, SliceThatDoesNotClamp) {
  expect_refuted(with_axiom("Slice",
                            [](Axiom& axiom) {
                              for (const char* name : {"starts", "ends"})
                                for (const Dim& bound : axiom.integers(name)) axiom.scope.assume(at_most(0, bound));
                              op("Slice").axiom(axiom);
                            }),
                 "no case covers it");
}

TEST(WrongAxioms, SoftmaxAlongTheOtherAxis) {
  expect_refuted(with_axiom("Softmax",
                            [](Axiom& axiom) {
                              axiom.attrs["axis"] = Dim(0);
                              op("Softmax").axiom(axiom);
                            }),
                 "axis");
}

TEST(Axioms, AreWrittenOut) {
  const std::string text = axiom_text(op("MatMul"));
  EXPECT_THAT(text, HasSubstr("sum{k")) << text;
}

}  // namespace
}  // namespace isomer
