#include "isomer/eval/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "isomer/eval/random.h"
#include "isomer/ir/builder.h"
#include "isomer/ops/graph_testing.h"
#include "isomer/ops/half.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/kernel.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Status sum_kernel(KernelContext& context) {
  return for_numeric(context.operands[0].dtype(), [&]<class T>() -> Status {
    const auto a = context.operands[0].data<T>();
    const auto b = context.operands[1].data<T>();
    const auto y = new_result(context).mutable_data<T>();
    for (size_t i = 0; i < a.size(); ++i) y[i] = static_cast<T>(a[i] + b[i]);
    return {};
  });
}

/// Returns the even elements of a vector, so that the extent is known only at run time.
Status evens_kernel(KernelContext& context) {
  std::vector<int64_t> evens;
  for (const int64_t x : context.operands[0].data<int64_t>())
    if (x % 2 == 0) evens.push_back(x);
  context.results.push_back(Tensor::ints({static_cast<int64_t>(evens.size())}, evens));
  return {};
}

Result<std::vector<TensorType>> infer_evens(const OpView& view) {
  return std::vector<TensorType>{{view.dtype(0), {Dim::symbol("evens")}}};
}

/// Finds the operators of this test, which do not depend on changes to the families, and then those of the registry.
const OpDef* find_plus(std::string_view name, std::string_view domain) {
  static const OpDef kPlus{
      .name = "Plus", .min_operands = 2, .max_operands = 2, .infer = infer_broadcast, .kernel = sum_kernel};
  static const OpDef kEvens{.name = "Evens", .infer = infer_evens, .kernel = evens_kernel, .data_dependent = true};
  static const OpDef kBare{.name = "Bare", .infer = infer_same};
  for (const OpDef* def : {&kPlus, &kEvens, &kBare})
    if (name == def->name) return def;
  return find_op(name, domain);
}

Graph with_plus(std::string_view text) { return parsed(text, find_plus); }

Tensor run_one(std::string_view text, std::vector<Tensor> inputs) {
  const auto outputs = run_reference(with_plus(text), inputs);
  EXPECT_TRUE(outputs.has_value()) << (outputs ? "" : outputs.error().message);
  return outputs ? outputs->at(0) : Tensor();
}

std::string run_error(const Graph& graph, std::vector<Tensor> inputs) {
  const auto outputs = run_reference(graph, inputs);
  return outputs ? "" : outputs.error().message;
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
  return {tensor.data<T>().begin(), tensor.data<T>().end()};
}

TEST(Executor, RunsInOrderAndKeepsOutputsThatAreReadAgain) {
  const Graph graph = with_plus("input x: f32[2]\n a = Plus(x, x)\n b = Plus(a, x)\n return a, b, x");
  const auto outputs = run_reference(graph, std::vector{Tensor::floats({2}, {1, -2})});
  ASSERT_TRUE(outputs.has_value());
  EXPECT_THAT(values<float>((*outputs)[0]), ElementsAre(2, -4));
  EXPECT_THAT(values<float>((*outputs)[1]), ElementsAre(3, -6));
  EXPECT_THAT(values<float>((*outputs)[2]), ElementsAre(1, -2));
}

TEST(Executor, SmallIntegersWrapAround) {
  const Tensor x = Tensor::of<uint8_t>(DType::Uint8, {2}, {200, 3});
  EXPECT_THAT(values<uint8_t>(run_one("input x: u8[2]\n y = Plus(x, x)\n return y", {x})), ElementsAre(144, 6));
  const Tensor z = Tensor::of<int8_t>(DType::Int8, {2}, {100, -100});
  EXPECT_THAT(values<int8_t>(run_one("input x: i8[2]\n y = Plus(x, x)\n return y", {z})), ElementsAre(-56, 56));
}

TEST(Executor, FourBitIntegersArePackedAgain) {
  // 7, -1, -8 with low bits first; doubled modulo 16: -2, -2, 0.
  const Tensor x = Tensor::of<uint8_t>(DType::Int4, {3}, {0xf7, 0x08});
  EXPECT_THAT(values<uint8_t>(run_one("input x: i4[3]\n y = Plus(x, x)\n return y", {x})), ElementsAre(0xee, 0x00));
  EXPECT_THAT(values<uint8_t>(run_one("input x: i4[3]\n y = Reshape(x) {shape=[3,1]}\n return y", {x})),
              ElementsAre(0xf7, 0x08));
}

TEST(Executor, HalfIsRoundedToNearestEven) {
  // 2048 + 1 is halfway between 2048 and 2050 and is rounded to the even mantissa.
  const Tensor a = Tensor::of<Half>(DType::Half, {2}, {Half(2048.0F), Half(2050.0F)});
  const Tensor b = Tensor::of<Half>(DType::Half, {2}, {Half(1.0F), Half(1.0F)});
  const Tensor y = run_one("input a: f16[2]\n input b: f16[2]\n y = Plus(a, b)\n return y", {a, b});
  EXPECT_EQ(static_cast<float>(y.data<Half>()[0]), 2048.0F);
  EXPECT_EQ(static_cast<float>(y.data<Half>()[1]), 2052.0F);
}

TEST(Executor, FieldRunTakesRealConstantsAlong) {
  const std::string text = "input x: f32[2]\n c = f32[2]{0.5,-3}\n y = Plus(x, c)\n return y, c";
  const Tensor x = Tensor::of<Fp>(DType::Field, {2}, {Fp(1), Fp(1)});
  const auto outputs = run_reference(with_plus(text), std::vector{x});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  EXPECT_THAT(values<Fp>((*outputs)[0]), ElementsAre(Fp(3) / Fp(2), Fp(-2)));
  EXPECT_EQ((*outputs)[1].dtype(), DType::Field);
  const Graph infinite = with_plus("input x: f32[1]\n c = f32[1]{inf}\n y = Plus(x, c)\n return y");
  EXPECT_THAT(run_error(infinite, {Tensor::of<Fp>(DType::Field, {1}, {Fp(1)})}), HasSubstr("not in the prime field"));
}

TEST(Executor, ExtremesOfNothingAreOfTheStoredType) {
  const auto extreme = [](const std::string& type, const std::string& op) {
    const Graph graph = parsed("input x: " + type + "[1,0]\ny = " + op + "(x) {axes=[1], keepdims=0}\nreturn y");
    const TensorType& input = graph.type(graph.inputs()[0]);
    return run_reference(graph, std::vector{Tensor::zeros(input.dtype, {1, 0})})->front();
  };
  EXPECT_THAT(values<int32_t>(extreme("i32", "ReduceMax")), ElementsAre(INT32_MIN));
  EXPECT_THAT(values<int32_t>(extreme("i32", "ReduceMin")), ElementsAre(INT32_MAX));
  EXPECT_THAT(values<uint8_t>(extreme("u8", "ReduceMax")), ElementsAre(0));
  EXPECT_THAT(values<uint8_t>(extreme("u8", "ReduceMin")), ElementsAre(255));
  EXPECT_THAT(values<int64_t>(extreme("i64", "ReduceMax")), ElementsAre(INT64_MIN));
}

TEST(Executor, ResizedIntegersStayInTheRangeOfTheirType) {
  // Cubic interpolation overshoots.
  const std::string text =
      "input x: u8[4]\ny = Resize(x) {mode=\"cubic\", scales=[2.0], "
      "coordinate_transformation_mode=\"half_pixel\"}\nreturn y";
  const std::vector<uint8_t> steps{0, 0, 255, 255};
  const auto y = run_reference(parsed(text), std::vector{Tensor::of<uint8_t>(DType::Uint8, {4}, steps)});
  ASSERT_TRUE(y.has_value()) << y.error().message;
  const auto elements = values<uint8_t>(y->front());
  EXPECT_TRUE(std::ranges::is_sorted(elements)) << ::testing::PrintToString(elements);
}

TEST(Executor, DataDependentExtentsComeFromTheKernel) {
  const Tensor x = Tensor::ints({4}, {1, 2, 4, 5});
  const Tensor y = run_one("input x: i64[4]\n y = Evens(x)\n return y", {x});
  EXPECT_THAT(y.dims(), ElementsAre(2));
  EXPECT_THAT(values<int64_t>(y), ElementsAre(2, 4));
}

TEST(Executor, RefusesInputsThatDoNotFit) {
  const Graph graph = with_plus("input x: f32[2,N]\n y = Plus(x, x)\n return y");
  EXPECT_THAT(run_error(graph, {}), HasSubstr("1 inputs, got 0"));
  EXPECT_THAT(run_error(graph, {Tensor::ints({2, 1}, {1, 2})}), HasSubstr("input 0 is i64[2,1]"));
  EXPECT_THAT(run_error(graph, {Tensor::floats({1, 2}, {1, 2})}), HasSubstr("needs f32[2,N]"));
  EXPECT_THAT(run_error(graph, {Tensor()}), HasSubstr("input 0"));
  EXPECT_EQ(run_error(graph, {Tensor::floats({2, 1}, {1, 2})}), "");
}

TEST(Executor, NamesTheNodeThatCannotRun) {
  const Graph graph = with_plus("input x: f32[2]\n y = Bare(x)\n return y");
  EXPECT_THAT(run_error(graph, {Tensor::floats({2}, {1, 2})}),
              HasSubstr("node 'y' (Bare): there is no reference kernel"));
  const Status status = runnable(graph);
  ASSERT_FALSE(status.has_value());
  EXPECT_THAT(status.error().message, HasSubstr("Bare"));
}

/// Returns a graph with an opaque node over inputs of the given types.
Graph with_opaque(std::vector<TensorType> inputs, Attrs attrs) {
  GraphBuilder builder;
  std::vector<ValueId> operands;
  operands.reserve(inputs.size());
  for (TensorType& type : inputs) operands.push_back(builder.input(std::move(type)));
  const NodeId id = builder.opaque(std::move(attrs), operands, {TensorType()});
  return builder.finish(std::vector{builder.at(id).result()});
}

TEST(Executor, OpaqueNodesOfTheRegistryRunOnceTheirParametersAreKnown) {
  const Graph graph =
      with_opaque({{DType::Float, {2, 3}}, {DType::Int64, {1}}}, Attrs{{"@op_type", std::string("Reshape")},
                                                                       {"@domain", std::string()},
                                                                       {"@opset", int64_t{13}},
                                                                       {"@instance", int64_t{0}},
                                                                       {"allowzero", int64_t{0}}});
  EXPECT_TRUE(runnable(graph).has_value());
  const auto outputs =
      run_reference(graph, std::vector{Tensor::floats({2, 3}, {1, 2, 3, 4, 5, 6}), Tensor::ints({1}, {-1})});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  EXPECT_THAT(outputs->at(0).dims(), ElementsAre(6));
  EXPECT_THAT(run_error(graph, {Tensor::floats({2, 3}, {1, 2, 3, 4, 5, 6}), Tensor::ints({1}, {5})}),
              HasSubstr("node #2 (Reshape)"));
}

TEST(Executor, OtherOpaqueNodesAreErrors) {
  const Graph graph = with_opaque({{DType::Float, {2}}}, Attrs{{"@op_type", std::string("Fancy")},
                                                               {"@domain", std::string("com.example")},
                                                               {"@opset", int64_t{1}},
                                                               {"@instance", int64_t{0}}});
  EXPECT_FALSE(runnable(graph).has_value());
  EXPECT_THAT(run_error(graph, {Tensor::floats({2}, {1, 2})}),
              HasSubstr("node #1 (com.example.Fancy): it cannot be run: Isomer knows no operators of the domain"));
}

TEST(RandomTensor, SameSeedSameTensor) {
  for (const DType dtype : {DType::Float, DType::Half, DType::Int8, DType::Bool, DType::String, DType::Field,
                            DType::Uint4, DType::Float8E4M3FN, DType::Complex64}) {
    const Tensor a = random_tensor(dtype, {3, 5}, 7);
    EXPECT_TRUE(a == random_tensor(dtype, {3, 5}, 7)) << dtype_name(dtype);
    EXPECT_FALSE(a == random_tensor(dtype, {3, 5}, 8)) << dtype_name(dtype);
    EXPECT_EQ(a.element_count(), 15);
  }
  for (const int64_t x : values<int64_t>(random_tensor(DType::Int64, {100}, 1))) EXPECT_TRUE(x >= 0 && x < 8);
}

}  // namespace
}  // namespace isomer
