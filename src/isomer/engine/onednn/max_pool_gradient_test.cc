#include "isomer/engine/onednn/max_pool_gradient.h"

#include <fmt/ranges.h>

#include "isomer/base/rng.h"
#include "isomer/engine/onednn/testing.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

/// A graph with the gradient of a max pool. `made` makes the image `x` from the input `i`.
std::string gradient_of_pool(const std::vector<int64_t>& image, const std::vector<int64_t>& result,
                             const std::string& attrs, const std::string& made) {
  const auto list = [](const std::vector<int64_t>& extents) { return fmt::format("[{}]", fmt::join(extents, ",")); };
  int64_t elements = 1, results = 1;
  for (const int64_t extent : image) elements *= extent;
  for (const int64_t extent : result) results *= extent;
  return fmt::format(
      "input i: f32{0}\ninput g: f32{1}\n{2}q, p = MaxPool(x) {{{3}, storage_order=0}}\n"
      "z = ConstantOfShape() {{shape=[{4}], value=f32[1]{{0}}}}\nr = Reshape(p) {{shape=[{5}]}}\n"
      "f = Reshape(g) {{shape=[{5}]}}\ns = ScatterElements(z, r, f) {{axis=0, reduction=\"add\"}}\n"
      "y = Reshape(s) {{shape={0}}}\nt = Tanh(y)\nreturn t",
      list(image), list(result), made, attrs, elements, results);
}

class MaxPoolGradients : public testing::TestWithParam<int> {};

TEST_P(MaxPoolGradients, EqualScattering) {
  Rng rng(static_cast<uint64_t>(GetParam()));
  const auto spatial = static_cast<size_t>(rng.between(1, 3));
  const int64_t channels = std::array{1, 3, 16, 20, 32}[rng.below(5)];
  std::vector<int64_t> image = {rng.between(1, 3), channels}, result = image, kernel, strides, dilations,
                       pads(2 * spatial);
  for (size_t i = 0; i < spatial; ++i) {
    kernel.push_back(rng.between(1, 3));
    strides.push_back(rng.between(1, 3));
    dilations.push_back(rng.between(1, 2));
    const int64_t reach = (kernel[i] - 1) * dilations[i] + 1;
    pads[i] = rng.between(0, kernel[i] - 1);
    pads[spatial + i] = rng.between(0, kernel[i] - 1);
    image.push_back(reach + rng.between(0, 9));
    result.push_back((image.back() + pads[i] + pads[spatial + i] - reach) / strides[i] + 1);
  }
  const auto list = [](const std::vector<int64_t>& values) { return fmt::format("[{}]", fmt::join(values, ",")); };
  const std::string attrs = fmt::format("kernel_shape={}, strides={}, dilations={}, pads={}", list(kernel),
                                        list(strides), list(dilations), list(pads));
  // Few different elements, so that maxima are equal.
  std::string made = "a = Mul(i, i)\nx = Round(a)\n";
  if (rng.below(2) == 0) {
    std::vector<int64_t> filters = {channels, channels};
    filters.insert(filters.end(), spatial, 1);
    const std::vector<int64_t> ones(spatial, 1), zeros(2 * spatial, 0);
    made = fmt::format("w = f32{}{{seed 3}}\nc = Conv(i, w) {{strides={}, dilations={}, pads={}}}\nx = Relu(c)\n",
                       list(filters), list(ones), list(ones), list(zeros));
  }
  const std::string text = gradient_of_pool(image, result, attrs, made);
  const auto kernels = expect_as_reference(text);
  EXPECT_EQ(count_of(kernels, "gradient of MaxPool"), 1) << text;
  EXPECT_EQ(references(kernels), 0) << text;
  expect_as_reference(graph_of(text), inputs_of(graph_of(text)), {.threads = 2, .tune = false});
}

INSTANTIATE_TEST_SUITE_P(Random, MaxPoolGradients, testing::Range(0, 60));

constexpr const char* kAttrs = "kernel_shape=[2,2], strides=[2,2], dilations=[1,1], pads=[0,0,0,0]";

TEST(MaxPoolGradient, OfNoNumbersAndInfinities) {
  for (const int64_t channels : {3, 16}) {
    const Graph graph = graph_of(gradient_of_pool({1, channels, 4, 4}, {1, channels, 2, 2}, kAttrs, "x = Neg(i)\n"));
    std::vector<Tensor> inputs = inputs_of(graph);
    std::vector<float> image(static_cast<size_t>(16 * channels), INFINITY);
    for (size_t i = 0; i < image.size(); i += 5) image[i] = i % 2 == 0 ? NAN : -1;
    inputs[0] = Tensor::floats({1, channels, 4, 4}, image);
    const auto kernels = expect_as_reference(graph, inputs);
    EXPECT_EQ(count_of(kernels, "gradient of MaxPool"), 1);
  }
}

TEST(MaxPoolGradient, IsNotSeenIfOthersReadWhatIsBetween) {
  const std::string text = gradient_of_pool({1, 16, 4, 4}, {1, 16, 2, 2}, kAttrs, "x = Relu(i)\n");
  const auto kernels = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const size_t at = changed.find(from);
    changed.replace(at, from.size(), to);
    return count_of(expect_as_reference(changed), "gradient of MaxPool");
  };
  EXPECT_EQ(kernels("return t", "return t, x"), 1);
  EXPECT_EQ(kernels("return t", "return t, p"), 0);
  EXPECT_EQ(kernels("return t", "return t, q"), 0);
  EXPECT_EQ(kernels("return t", "return t, s"), 0);
  EXPECT_EQ(kernels("value=f32[1]{0}", "value=f32[1]{1}"), 0) << "adds to ones";
  EXPECT_EQ(kernels("return t", "e = Exp(f)\nreturn t, e"), 1) << "the gradient is read flat";
}

TEST(MaxPoolGradient, ReadsBlocksWithoutACopy) {
  const std::string convolution = "w = f32[32,32,1,1]{seed 3}\nc = Conv(i, w)\nx = Relu(c)\n";
  const Graph graph = graph_of(gradient_of_pool({1, 32, 8, 8}, {1, 32, 4, 4}, kAttrs, convolution));
  const auto kernels = expect_as_reference(graph, inputs_of(graph), {}, std::make_shared<Preferring>("channels in"));
  EXPECT_EQ(count_of(kernels, "gradient of MaxPool"), 1);
  EXPECT_EQ(count_of(kernels, "reorder"), 3) << "the inputs to blocks, the output back";
}

}  // namespace
}  // namespace isomer::onednn
