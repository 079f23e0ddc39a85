#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

Attrs pool_window(Ints kernel, Ints strides, Ints dilations, Ints pads, int64_t ceil = 0) {
  return {{"kernel_shape", std::move(kernel)},
          {"strides", std::move(strides)},
          {"dilations", std::move(dilations)},
          {"pads", std::move(pads)},
          {"ceil_mode", ceil}};
}

TEST(Pool, InfersOverSymbols) {
  EXPECT_EQ(infer("MaxPool", pool_window({2, 3}, {1, 1}, {1, 1}, {0, 1, 1, 1}), {f32({kN, 3, kN, 8})}), "f32[N,3,N,8]");
  EXPECT_EQ(infer("MaxPool", pool_window({3}, {2}, {1}, {0, 0}, 1), {f32({1, 3, 4})}), "f32[1,3,2]");
  EXPECT_EQ(infer("MaxPool", pool_window({3}, {2}, {1}, {0, 0}), {f32({1, 3, 4})}), "f32[1,3,1]");
  // A last window that would start after the operand does not count.
  EXPECT_EQ(infer("AveragePool", pool_window({1}, {2}, {1}, {0, 0}, 1), {f32({1, 3, 2})}), "f32[1,3,1]");
  EXPECT_EQ(infer("MaxPool", pool_window({2}, {2}, {1}, {0, 0}), {f32({kN, 3, kN * Dim(2)})}), "f32[N,3,N]");
  EXPECT_EQ(infer("GlobalAveragePool", {}, {f32({kN, 3, 7, kN})}), "f32[N,3,1,1]");
  const Attrs two = pool_window({2}, {2}, {1}, {0, 0});
  EXPECT_EQ(infer("MaxPool", two, {{DType::Int8, {1, 1, 4}}}, 2), "i8[1,1,2] i64[1,1,2]");
}

TEST(Pool, Refuses) {
  EXPECT_TRUE(refused("MaxPool", pool_window({2, 2}, {1, 1}, {1, 1}, {0, 0, 0, 0}), {f32({1, 1, 4})}));
  EXPECT_TRUE(refused("MaxPool", pool_window({9}, {1}, {1}, {0, 0}), {f32({1, 1, 4})}));
  EXPECT_TRUE(refused("MaxPool", pool_window({0}, {1}, {1}, {0, 0}), {f32({1, 1, 4})}));
  EXPECT_TRUE(refused("MaxPool", pool_window({2}, {0}, {1}, {0, 0}), {f32({1, 1, 4})}));
  EXPECT_TRUE(refused("MaxPool", pool_window({INT64_MAX}, {1}, {INT64_MAX}, {0, 0}), {f32({1, 1, 4})}));
  EXPECT_TRUE(refused("GlobalMaxPool", {}, {f32({4})}));
}

TEST(MaxPool, Values) {
  const Tensor x = Tensor::floats({1, 1, 2, 3}, {1, 5, 2, 7, 3, 4});
  const auto results = run("MaxPool", pool_window({1, 2}, {1, 1}, {1, 1}, {0, 0, 0, 0}), {x}, 2);
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0], Tensor::floats({1, 1, 2, 2}, {5, 5, 7, 4}));
  EXPECT_EQ((*results)[1], Tensor::ints({1, 1, 2, 2}, {1, 1, 3, 5}));
  const auto columns =
      run("MaxPool", pool_window({1, 2}, {1, 1}, {1, 1}, {0, 0, 0, 0}).with("storage_order", int64_t{1}), {x}, 2);
  ASSERT_TRUE(columns);
  EXPECT_EQ((*columns)[1], Tensor::ints({1, 1, 2, 2}, {2, 2, 1, 5}));
  EXPECT_EQ(run_to<int64_t>("MaxPool", pool_window({2}, {1}, {2}, {1, 1}), {Tensor::ints({1, 1, 3}, {-5, -7, -9})}),
            (std::vector<int64_t>{-7, -5, -7}));
}

TEST(AveragePool, Counts) {
  const Tensor x = Tensor::floats({1, 1, 3}, {3, 6, 12});
  const Attrs attrs = pool_window({2}, {2}, {1}, {1, 1});
  EXPECT_EQ(run_to<float>("AveragePool", attrs, {x}), (std::vector<float>{3, 9}));
  EXPECT_EQ(run_to<float>("AveragePool", attrs.with("count_include_pad", int64_t{1}), {x}),
            (std::vector<float>{1.5F, 9}));
  EXPECT_EQ(run_to<float>("GlobalAveragePool", {}, {x}), (std::vector<float>{7}));
  EXPECT_EQ(run_to<float>("LpPool", pool_window({2}, {1}, {1}, {0, 0}).with("p", int64_t{1}), {x}),
            (std::vector<float>{9, 18}));
}

TEST(Pool, NormalizesAndWritesBack) {
  EXPECT_EQ(normalized(
                {.op_type = "MaxPool", .opset = 8, .attrs = {{"kernel_shape", Ints{2}}}, .operands = {f32({1, 1, 4})}}),
            "MaxPool {auto_pad=\"NOTSET\", ceil_mode=0, dilations=[1], kernel_shape=[2], pads=[0,0], storage_order=0, "
            "strides=[1]}");
  EXPECT_EQ(
      normalized({.op_type = "MaxPool",
                  .opset = 11,
                  .attrs = {{"kernel_shape", Ints{2}}, {"dilations", Ints{2}}, {"auto_pad", std::string("SAME_UPPER")}},
                  .operands = {f32({1, 1, 4})}}),
      "opaque: engines disagree on this window under SAME");
  const Attrs attrs = *complete_attrs(op("AveragePool"), pool_window({2}, {1}, {1}, {0, 0}));
  const ValueId x = 0;
  const auto old = denormalize(op("AveragePool"), attrs, std::span(&x, 1), 1, 7);
  ASSERT_TRUE(old);
  EXPECT_TRUE(old->obstacle.empty() && !old->attrs.contains("dilations"));
  const auto dilated = denormalize(op("AveragePool"), attrs.with("dilations", Ints{2}), std::span(&x, 1), 1, 18);
  ASSERT_TRUE(dilated);
  EXPECT_FALSE(dilated->obstacle.empty());
}

TEST(MaxUnpool, PutsElementsBack) {
  const Attrs attrs{{"kernel_shape", Ints{2}}, {"strides", Ints{2}}, {"pads", Ints{0, 0}}};
  const Tensor x = Tensor::floats({1, 1, 2}, {7, 9});
  EXPECT_EQ(infer("MaxUnpool", attrs, {f32({kN, 1, 2}), i64({kN, 1, 2})}), "f32[N,1,4]");
  EXPECT_EQ(run_to<float>("MaxUnpool", attrs, {x, Tensor::ints({1, 1, 2}, {1, 2})}), (std::vector<float>{0, 7, 9, 0}));
  EXPECT_FALSE(run("MaxUnpool", attrs, {x, Tensor::ints({1, 1, 2}, {1, 4})}));
  EXPECT_FALSE(run("MaxUnpool", attrs, {x, Tensor::ints({1, 1, 2}, {-1, 0})}));
}

TEST(Roi, PoolsRegions) {
  const Tensor x = Tensor::floats({1, 1, 2, 2}, {1, 2, 3, 4});
  const Attrs one{{"pooled_shape", Ints{1, 1}}};
  EXPECT_EQ(run_to<float>("MaxRoiPool", one, {x, Tensor::floats({1, 5}, {0, 0, 0, 0, 1})}), (std::vector<float>{3}));
  EXPECT_FALSE(run("MaxRoiPool", one, {x, Tensor::floats({1, 5}, {1, 0, 0, 0, 1})}));
  const Tensor batch = Tensor::ints({1}, {0});
  const Attrs align{{"sampling_ratio", int64_t{1}}};
  EXPECT_EQ(infer("RoiAlign", align, {f32({1, 3, 8, 8}), f32({kN, 4}), i64({kN})}), "f32[N,3,1,1]");
  EXPECT_EQ(run_to<float>("RoiAlign", align, {x, Tensor::floats({1, 4}, {0, 0, 2, 2}), batch}),
            (std::vector<float>{2.5F}));
  // A region without bounds has no samples.
  EXPECT_FALSE(run("RoiAlign", {}, {x, Tensor::floats({1, 4}, {0, 0, 1e30F, 1}), batch}));
  EXPECT_TRUE(refused("RoiAlign", {{"mode", std::string("min")}}, {f32({1, 3, 8, 8}), f32({1, 4}), i64({1})}));
}

}  // namespace
}  // namespace isomer::testing
