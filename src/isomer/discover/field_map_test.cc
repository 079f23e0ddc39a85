#include "isomer/discover/field_map.h"

#include <gtest/gtest.h>

#include "isomer/base/rng.h"
#include "isomer/discover/builtin.h"
#include "isomer/discover/term_bank.h"
#include "isomer/eval/executor.h"
#include "isomer/ir/builder.h"
#include "isomer/rules/instantiate.h"

namespace isomer {
namespace {

Tensor random_tensor(const Ints& dims, Rng& rng) {
  Tensor out = Tensor::zeros(DType::Field, dims);
  for (Fp& x : out.mutable_data<Fp>()) x = Fp::raw(rng.below(Fp::kPrime));
  return out;
}

/// Returns the results of an operator by the reference executor.
std::vector<Tensor> reference(const UniverseOp& op, const std::vector<Tensor>& operands) {
  GraphBuilder builder;
  Binding binding;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Ints& dims = operands[i].dims();
    binding.values.emplace_back(op.operands[i], builder.input({DType::Double, Shape(dims.begin(), dims.end())}));
  }
  Rule rule;
  rule.targets = op.results;
  const auto values = instantiate_targets(builder, rule, std::move(binding), DType::Double);
  EXPECT_TRUE(values.has_value());
  return run_reference(builder.finish(*values), operands).value();
}

void expect_like_reference(const UniverseOp& op, const std::vector<Ints>& dims) {
  const std::vector<FieldMap> maps = FieldMap::compile(op, dims).value();
  if (maps.empty()) return;
  Rng rng(3);
  for (int trial = 0; trial < 3; ++trial) {
    std::vector<Tensor> operands;
    operands.reserve(dims.size());
    for (const Ints& each : dims) operands.push_back(random_tensor(each, rng));
    const std::vector<Tensor> expected = reference(op, operands);
    ASSERT_EQ(maps.size(), expected.size());
    for (size_t r = 0; r < maps.size(); ++r) {
      std::vector<Fp> got(maps[r].elements());
      const Fp* second = operands.size() == 2 ? operands[1].data<Fp>().data() : nullptr;
      maps[r].run(operands[0].data<Fp>().data(), second, got.data());
      EXPECT_EQ(maps[r].dims(), expected[r].dims());
      EXPECT_TRUE(std::ranges::equal(got, expected[r].data<Fp>())) << print_term(op.results[r]);
    }
  }
}

// Tests every operator of the built-in universes, on all operands that occur within two steps.
TEST(FieldMap, ComputesWhatTheReferenceKernelComputes) {
  for (const char* name : {"matrix", "convolution"}) {
    const Universe universe = load_universe(name).value()[0];
    TermBank bank = TermBank::make(universe).value();
    bank.types().compile();
    bank.types().compile();
    const auto types = static_cast<TypeId>(std::min<size_t>(bank.types().size(), 16));
    for (const UniverseOp& op : universe.ops) {
      for (TypeId a = 0; a < types; ++a) {
        if (op.operands.size() == 1) expect_like_reference(op, {bank.types().dims(a)});
        for (TypeId b = 0; op.operands.size() == 2 && b < types; ++b)
          expect_like_reference(op, {bank.types().dims(a), bank.types().dims(b)});
      }
    }
  }
}

TEST(FieldMap, RecognizesKinds) {
  const auto kind = [](const std::string& term, const std::vector<Ints>& dims) {
    const Universe universe = parse_universe("inputs ?a [1]\noperator " + term).value();
    const auto maps = FieldMap::compile(universe.ops[0], dims).value();
    EXPECT_EQ(maps.size(), 1U) << term;
    return maps[0].kind();
  };
  EXPECT_EQ(kind("(Transpose perm=[1, 0] ?x)", {{2, 3}}), FieldMap::Kind::Move);
  EXPECT_EQ(kind("(Concat axis=0 ?x ?y)", {{2, 3}, {1, 3}}), FieldMap::Kind::Move);
  EXPECT_EQ(kind("(Sub ?x ?y)", {{2, 3}, {2, 3}}), FieldMap::Kind::Linear);
  EXPECT_EQ(kind("(MatMul ?x ?y)", {{2, 3}, {3, 2}}), FieldMap::Kind::Bilinear);
  EXPECT_EQ(kind("(Mul 3.0 (MatMul ?x ?y))", {{2, 3}, {3, 2}}), FieldMap::Kind::Bilinear);
  EXPECT_EQ(kind("(Relu ?x)", {{2, 3}}), FieldMap::Kind::Kernel);
  EXPECT_EQ(kind("(Add 1.0 ?x)", {{2, 3}}), FieldMap::Kind::Kernel) << "affine, not linear";
  EXPECT_EQ(kind("(Mul ?x ?x)", {{2, 3}}), FieldMap::Kind::Kernel);
}

TEST(FieldMap, LeavesOutWhatIsIllTyped) {
  const Universe universe = parse_universe("inputs ?a [1]\noperator (MatMul ?x ?y)").value();
  EXPECT_TRUE(FieldMap::compile(universe.ops[0], std::vector<Ints>{{2, 3}, {2, 3}}).value().empty());
}

TEST(FieldMap, TellsWhichOperatorDoesNotComputeInTheField) {
  const Universe universe = parse_universe("inputs ?a [1]\noperator (DFT ?x)").value();
  const auto maps = FieldMap::compile(universe.ops[0], std::vector<Ints>{{2, 2}});
  ASSERT_FALSE(maps.has_value());
  EXPECT_NE(maps.error().message.find("DFT"), std::string::npos) << maps.error().message;
}

TEST(FieldMap, EvaluatesConstantsExactly) {
  const Universe universe = parse_universe("inputs ?a [1]\nconstant ?c (Div 1.0 9.0)\noperator (Relu ?x)").value();
  const Tensor ninth = FieldMap::constant(*universe.inputs[1].constant).value();
  EXPECT_EQ(ninth.data<Fp>()[0] * Fp(9), Fp(1));
}

}  // namespace
}  // namespace isomer
