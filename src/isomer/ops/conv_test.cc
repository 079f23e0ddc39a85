#include "isomer/ir/field.h"
#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

const Dim kH = symbol("H");

Attrs conv_window(Ints strides, Ints dilations, Ints pads, int64_t group = 1) {
  return {{"strides", std::move(strides)},
          {"dilations", std::move(dilations)},
          {"pads", std::move(pads)},
          {"group", group}};
}
Attrs plain() { return conv_window({1, 1}, {1, 1}, {0, 0, 0, 0}); }

Tensor field(std::vector<int64_t> dims, uint64_t seed) {
  Tensor tensor = Tensor::zeros(DType::Field, std::move(dims));
  for (Fp& v : tensor.mutable_data<Fp>()) v = uninterpreted("seed", Fp(static_cast<int64_t>(seed++)));
  return tensor;
}

TEST(Conv, InfersOverSymbols) {
  EXPECT_EQ(
      infer("Conv", conv_window({1, 1}, {1, 1}, {1, 1, 1, 1}), {f32({kN, 3, kH, 8}), f32({4, 3, 3, 3}), f32({4})}),
      "f32[N,4,H,8]");
  EXPECT_EQ(infer("Conv", conv_window({2, 2}, {1, 1}, {0, 0, 0, 0}), {f32({kN, 3, kH * Dim(2), 8}), f32({4, 3, 2, 2})}),
            "f32[N,4,H,4]");
  EXPECT_EQ(infer("Conv", conv_window({1}, {2}, {0, 0}, 2), {f32({1, 4, 9}), f32({6, 2, 3})}), "f32[1,6,5]");
  EXPECT_EQ(infer("ConvTranspose", conv_window({2, 2}, {1, 1}, {0, 0, 0, 0}).with("output_padding", Ints{0, 1}),
                  {f32({kN, 4, kH, 3}), f32({4, 5, 2, 2})}),
            "f32[N,5,2*H,7]");
}

TEST(Conv, Refuses) {
  const TensorType x = f32({1, 4, 5, 5});
  EXPECT_TRUE(refused("Conv", plain(), {x, f32({2, 3, 3, 3})}));              // channels
  EXPECT_TRUE(refused("Conv", plain(), {x, f32({2, 4, 3})}));                 // rank
  EXPECT_TRUE(refused("Conv", plain(), {x, {DType::Double, {2, 4, 3, 3}}}));  // type
  EXPECT_TRUE(refused("Conv", plain(), {x, f32({2, 4, 3, 3}), f32({3})}));    // bias
  EXPECT_TRUE(refused("Conv", plain(), {x, f32({}), f32({2})}));              // a scalar with a bias
  EXPECT_TRUE(refused("Conv", plain(), {x, f32({2, 4, 9, 9})}));              // too large a kernel
  EXPECT_TRUE(refused("Conv", conv_window({0, 1}, {1, 1}, {0, 0, 0, 0}), {x, f32({2, 4, 3, 3})}));  // stride
  EXPECT_TRUE(refused("Conv", conv_window({1}, {1, 1}, {0, 0, 0, 0}), {x, f32({2, 4, 3, 3})}));
  EXPECT_TRUE(refused("Conv", conv_window({1, 1}, {1, 1}, {-1, 0, 0, 0}), {x, f32({2, 4, 3, 3})}));
  EXPECT_TRUE(refused("Conv", conv_window({1, 1}, {INT64_MAX, 1}, {0, 0, 0, 0}), {x, f32({2, 4, 3, 3})}));
  EXPECT_TRUE(refused("Conv", conv_window({1, 1}, {1, 1}, {0, INT64_MAX, 0, 0}), {x, f32({2, 4, 3, 3})}));
  EXPECT_TRUE(refused("Conv", conv_window({1, 1}, {1, 1}, {0, 0, 0, 0}, 3), {x, f32({2, 4, 3, 3})}));
  EXPECT_TRUE(refused("Conv", conv_window({1, 1}, {1, 1}, {0, 0, 0, 0}, 0), {x, f32({2, 4, 3, 3})}));
  EXPECT_TRUE(refused("Conv", Attrs(), {x, f32({2, 4, 3, 3})}));
}

TEST(Conv, Values) {
  const Tensor x = Tensor::floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor w = Tensor::floats({1, 1, 2, 2}, {1, 0, 0, 2});
  EXPECT_EQ(run_to<float>("Conv", plain(), {x, w, Tensor::floats({1}, {100})}),
            (std::vector<float>{111, 114, 120, 123}));
  EXPECT_EQ(run_to<float>("Conv", conv_window({2, 2}, {1, 1}, {1, 0, 0, 0}), {x, w}), (std::vector<float>{4, 20}));
  EXPECT_EQ(run_to<float>("Conv", conv_window({1, 1}, {2, 2}, {0, 0, 0, 0}), {x, w}), (std::vector<float>{19}));
  // Two groups, 1x1.
  EXPECT_EQ(run_to<float>("Conv", conv_window({1}, {1}, {0, 0}, 2),
                          {Tensor::floats({1, 2, 2}, {1, 2, 3, 4}), Tensor::floats({2, 1, 1}, {10, 100})}),
            (std::vector<float>{10, 20, 300, 400}));
  // The transposed convolution adds the kernel at the position of each element.
  EXPECT_EQ(run_to<float>("ConvTranspose", conv_window({2}, {1}, {0, 0}).with("output_padding", Ints{1}),
                          {Tensor::floats({1, 1, 2}, {1, 10}), Tensor::floats({1, 1, 3}, {1, 2, 3})}),
            (std::vector<float>{1, 2, 13, 20, 30, 0}));
}

TEST(Conv, IsLinearInTheField) {
  const Attrs attrs = conv_window({2, 1}, {1, 2}, {1, 0, 2, 1});
  const Tensor x = field({1, 2, 5, 6}, 1);
  const Tensor a = field({1, 2, 2, 3}, 100);
  const Tensor b = field({1, 2, 2, 3}, 200);
  Tensor sum = Tensor::zeros(DType::Field, {1, 2, 2, 3});
  for (size_t i = 0; i < 12; ++i) sum.mutable_data<Fp>()[i] = a.data<Fp>()[i] + b.data<Fp>()[i];
  const auto of_sum = run_to<Fp>("Conv", attrs, {x, sum});
  const auto of_a = run_to<Fp>("Conv", attrs, {x, a});
  const auto of_b = run_to<Fp>("Conv", attrs, {x, b});
  for (size_t i = 0; i < of_sum.size(); ++i) EXPECT_EQ(of_sum[i], of_a[i] + of_b[i]);
}

TEST(Conv, CountsMultiplyAdds) {
  const Attrs attrs = conv_window({1}, {1}, {0, 0}, 2);
  const std::vector<std::vector<int64_t>> operands{{1, 4, 9}, {6, 2, 3}};
  const std::vector<std::vector<int64_t>> results{{1, 6, 7}};
  EXPECT_EQ(op("Conv").flops({attrs, operands, results}), 2.0 * 6 * 7 * 2 * 3);
}

TEST(Conv, NormalizesWindows) {
  const std::vector<TensorType> operands{f32({kN, 3, 5, 5}), f32({4, 3, 3, 3})};
  EXPECT_EQ(normalized({.op_type = "Conv", .opset = 11, .operands = operands}),
            "Conv {auto_pad=\"NOTSET\", dilations=[1,1], group=1, pads=[0,0,0,0], strides=[1,1]}");
  const std::map<std::string, AttrValue> same{
      {"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"auto_pad", std::string("SAME_LOWER")}};
  EXPECT_EQ(normalized({.op_type = "Conv", .opset = 7, .attrs = same, .operands = operands}),
            "Conv {auto_pad=\"NOTSET\", dilations=[1,1], group=1, pads=[1,1,1,1], strides=[2,2]}");
  EXPECT_EQ(normalized({.op_type = "Conv", .opset = 7, .attrs = same, .operands = {f32({kN, 3, kH, 5}), operands[1]}}),
            "Conv {auto_pad=\"SAME_LOWER\", dilations=[1,1], group=1, pads=[0,0,0,0], strides=[2,2]}");
  // With a stride of 1, the pads do not depend on the extents.
  EXPECT_EQ(normalized({.op_type = "Conv",
                        .opset = 7,
                        .attrs = {{"auto_pad", std::string("SAME_UPPER")}},
                        .operands = {f32({kN, 3, kH, 5}), f32({4, 3, 2, 3})}}),
            "Conv {auto_pad=\"NOTSET\", dilations=[1,1], group=1, pads=[0,1,1,1], strides=[1,1]}");
  EXPECT_EQ(normalized({.op_type = "Conv", .opset = 7, .attrs = {{"kernel_shape", Ints{2, 3}}}, .operands = operands}),
            "error: kernel_shape differs from the extents of the weight");
  EXPECT_EQ(normalized({.op_type = "Conv", .opset = 7, .attrs = {{"strides", int64_t{2}}}, .operands = operands}),
            "error: attribute 'strides' must be integers");
}

TEST(ConvTranspose, ResolvesOutputShape) {
  const std::vector<TensorType> operands{f32({1, 1, 3, 3}), f32({1, 2, 3, 3})};
  EXPECT_EQ(normalized({.op_type = "ConvTranspose",
                        .opset = 11,
                        .attrs = {{"output_shape", Ints{10, 6}}, {"strides", Ints{3, 2}}},
                        .operands = operands}),
            "ConvTranspose {dilations=[1,1], group=1, output_padding=[1,0], pads=[0,1,0,0], strides=[3,2]}");
  EXPECT_EQ(normalized({.op_type = "ConvTranspose",
                        .opset = 11,
                        .attrs = {{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{2, 2}}},
                        .operands = {f32({kN, 1, kH, 3}), operands[1]}}),
            "ConvTranspose {dilations=[1,1], group=1, output_padding=[0,0], pads=[0,0,1,1], strides=[2,2]}");
}

}  // namespace
}  // namespace isomer::testing
