#include <cmath>
#include <limits>

#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

Attrs axes(Ints list, int64_t keep = 1) { return {{"axes", std::move(list)}, {"keepdims", keep}}; }

TEST(Reduce, Infers) {
  EXPECT_EQ(infer("ReduceSum", axes({1}), {f32({kN, 3, 4})}), "f32[N,1,4]");
  EXPECT_EQ(infer("ReduceMax", axes({0, 2}, 0), {i64({kN, 3, 4})}), "i64[3]");
  EXPECT_EQ(infer("ReduceMean", axes({}), {f32({kN, 3})}), "f32[N,3]");
  EXPECT_TRUE(refused("ReduceSum", axes({3}), {f32({kN, 3, 4})}));
  EXPECT_TRUE(refused("ReduceSum", axes({1, -2}), {f32({kN, 3, 4})}));
}

TEST(Reduce, Values) {
  const Tensor x = Tensor::floats({2, 2}, {1, -2, 3, 4});
  const auto over = [&](const char* name, Ints list) { return run_to<float>(name, axes(std::move(list)), {x}); };
  EXPECT_EQ(over("ReduceSum", {0}), (std::vector<float>{4, 2}));
  EXPECT_EQ(over("ReduceMean", {0, 1}), (std::vector<float>{1.5F}));
  EXPECT_EQ(over("ReduceProd", {1}), (std::vector<float>{-2, 12}));
  EXPECT_EQ(over("ReduceMax", {1}), (std::vector<float>{1, 4}));
  EXPECT_EQ(over("ReduceMin", {0}), (std::vector<float>{1, -2}));
  EXPECT_EQ(over("ReduceL1", {0}), (std::vector<float>{4, 6}));
  EXPECT_EQ(over("ReduceL2", {1}), (std::vector<float>{std::sqrt(5.0F), 5}));
  EXPECT_EQ(over("ReduceSumSquare", {}), (std::vector<float>{1, 4, 9, 16}));
  EXPECT_EQ(over("ReduceLogSum", {0}), (std::vector<float>{std::log(4.0F), std::log(2.0F)}));
  EXPECT_EQ(run_to<float>("ReduceLogSumExp", axes({0}), {Tensor::floats({2}, {1000, 1000})}),
            (std::vector<float>{static_cast<float>(1000 + std::log(2.0))}));
}

TEST(Reduce, EmptySets) {
  const Tensor none = Tensor::floats({1, 0}, {});
  const float infinity = std::numeric_limits<float>::infinity();
  const auto of = [&](const char* name) { return run_to<float>(name, axes({1}), {none}).at(0); };
  EXPECT_EQ(of("ReduceSum"), 0);
  EXPECT_EQ(of("ReduceProd"), 1);
  EXPECT_EQ(of("ReduceMax"), -infinity);
  EXPECT_EQ(of("ReduceMin"), infinity);
  EXPECT_EQ(of("ReduceLogSum"), -infinity);
  EXPECT_EQ(of("ReduceLogSumExp"), -infinity);
}

TEST(Reduce, NormalizesAxes) {
  const std::vector<TensorType> operands{f32({kN, 3, 4})};
  const auto form = [&](const char* name, int opset, std::map<std::string, AttrValue> attrs) {
    return normalized({.op_type = name, .opset = opset, .attrs = std::move(attrs), .operands = operands});
  };
  EXPECT_EQ(form("ReduceMean", 11, {{"axes", Ints{-1, 0}}}), "ReduceMean {axes=[0,2], keepdims=1}");
  EXPECT_EQ(form("ReduceMean", 18, {}), "ReduceMean {axes=[0,1,2], keepdims=1}");
  EXPECT_EQ(form("ReduceSum", 13, {{"noop_with_empty_axes", int64_t{1}}}), "ReduceSum {axes=[], keepdims=1}");
  Written runtime{.op_type = "ReduceSum", .opset = 13, .operands = {f32({kN, 3}), i64({1})}};
  EXPECT_EQ(normalized(runtime), "opaque: its parameter 'axes' is computed at run time");
  runtime.constants[1] = Tensor::ints({1}, {-1});
  EXPECT_EQ(normalized(runtime), "ReduceSum {axes=[1], keepdims=1}");
}

TEST(Reduce, WritesAxesAsTheOpsetWants) {
  const ValueId x = 0;
  const auto write = [&](const char* name, Ints list, int opset) {
    return *denormalize(op(name), axes(std::move(list)), std::span(&x, 1), 1, opset);
  };
  EXPECT_EQ(*write("ReduceMean", {1}, 17).get<Ints>("axes"), Ints{1});
  const OnnxForm form = write("ReduceMean", {1}, 18);
  ASSERT_EQ(form.operands.size(), 2U);
  EXPECT_EQ(form.operands[1].constant, Tensor::ints({1}, {1}));
  EXPECT_EQ(*write("ReduceMean", {}, 18).get<int64_t>("noop_with_empty_axes"), 1);
  EXPECT_FALSE(write("ReduceMean", {}, 17).obstacle.empty());
}

TEST(Order, Values) {
  const Tensor x = Tensor::floats({2, 3}, {1, 3, 3, 2, 2, 0});
  EXPECT_EQ(run_to<int64_t>("ArgMax", {{"axis", int64_t{1}}}, {x}), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(run_to<int64_t>("ArgMax", {{"axis", int64_t{1}}, {"select_last_index", int64_t{1}}}, {x}),
            (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(run_to<int64_t>("ArgMin", {{"axis", int64_t{0}}}, {x}), (std::vector<int64_t>{0, 1, 1}));
  const auto top = run("TopK", {{"k", int64_t{2}}, {"axis", int64_t{1}}}, {x}, 2);
  ASSERT_TRUE(top);
  EXPECT_EQ((*top)[0], Tensor::floats({2, 2}, {3, 3, 2, 2}));
  EXPECT_EQ((*top)[1], Tensor::ints({2, 2}, {1, 2, 0, 1}));
  EXPECT_EQ(infer("TopK", {{"k", int64_t{2}}}, {f32({3, kN})}), "f32[3,2] i64[3,2]");
  EXPECT_EQ(infer("ArgMax", {{"keepdims", int64_t{0}}}, {f32({3, kN})}), "i64[N]");
  EXPECT_TRUE(refused("TopK", {{"k", int64_t{5}}}, {f32({3, 4})}));
  EXPECT_TRUE(refused("TopK", {{"k", int64_t{-1}}}, {f32({3, 4})}));
  EXPECT_TRUE(refused("ArgMax", {{"axis", int64_t{2}}}, {f32({3, 4})}));
  EXPECT_TRUE(refused("ArgMax", {}, {f32({0, 4})}));
}

TEST(Order, SortsNaNFirst) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto top = run("TopK", {{"k", int64_t{3}}}, {Tensor::floats({3}, {1, nan, 2})}, 2);
  ASSERT_TRUE(top);
  EXPECT_EQ((*top)[1], Tensor::ints({3}, {1, 2, 0}));
}

TEST(Cumulative, Values) {
  const Tensor x = Tensor::ints({3}, {2, 3, 4});
  const Attrs forward{{"axis", int64_t{0}}};
  EXPECT_EQ(run_to<int64_t>("CumSum", forward, {x}), (std::vector<int64_t>{2, 5, 9}));
  EXPECT_EQ(run_to<int64_t>("CumSum", forward.with("exclusive", int64_t{1}).with("reverse", int64_t{1}), {x}),
            (std::vector<int64_t>{7, 4, 0}));
  EXPECT_EQ(run_to<int64_t>("CumProd", forward, {x}), (std::vector<int64_t>{2, 6, 24}));
  EXPECT_TRUE(refused("CumSum", {{"axis", int64_t{1}}}, {f32({3})}));
  Written node{.op_type = "CumSum", .opset = 11, .operands = {f32({kN, 3}), {DType::Int32, {}}}};
  EXPECT_EQ(normalized(node), "opaque: its parameter 'axis' is computed at run time");
  node.constants[1] = Tensor::of<int32_t>(DType::Int32, {}, {-1});
  EXPECT_EQ(normalized(node), "CumSum {axis=1, exclusive=0, reverse=0}");
}

}  // namespace
}  // namespace isomer::testing
