#include "isomer/engine/onednn/filter_gradient.h"

#include <fmt/ranges.h>

#include <numeric>

#include "isomer/base/rng.h"
#include "isomer/engine/onednn/testing.h"

namespace isomer::onednn {
namespace {

/// A convolution of `image`, the gradient of its result, and the gradient for the filters.
struct FilterProblem {
  std::vector<int64_t> image, gradient, strides, dilations, pads;
  std::vector<int64_t> perm;
  int64_t groups = 1;

  static FilterProblem draw(uint64_t seed) {
    Rng rng(seed);
    const auto of = [&](std::initializer_list<int64_t> values) { return *(values.begin() + rng.below(values.size())); };
    const auto spatial = static_cast<size_t>(of({1, 2, 2, 2, 3}));
    FilterProblem out;
    out.image = {rng.between(1, 3), of({1, 3, 16, 20, 32})};
    out.gradient = {out.image[0], of({1, 5, 16, 32})};
    out.groups = of({1, 1, 1, 2, 16, 32});
    if (out.groups > 2) out.image[1] = of({1, 1, 2}), out.gradient[1] = of({1, 1, 2});
    out.image[1] *= out.groups;
    out.gradient[1] *= out.groups;
    out.pads.resize(2 * spatial);
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t kernel = rng.between(1, 4), stride = rng.between(1, 3), dilation = of({1, 1, 2});
      const int64_t reach = (kernel - 1) * dilation + 1;
      const int64_t result = rng.between(1, 7), begin = rng.between(0, 2), end = rng.between(0, 2);
      // Just as many elements as the windows need.
      const int64_t extent = (result - 1) * stride + reach - begin - end;
      const bool fits = extent > 0;
      out.image.push_back(fits ? extent : extent + begin + end);
      out.pads[i] = fits ? begin : 0;
      out.pads[spatial + i] = fits ? end : 0;
      out.gradient.push_back(result);
      out.strides.push_back(dilation);
      out.dilations.push_back(stride);
    }
    out.perm.resize(spatial + 2);
    std::iota(out.perm.begin(), out.perm.end(), 0);
    std::swap(out.perm[0], out.perm[1]);
    return out;
  }

  /// `a`: the image with batch and channels exchanged, those of each group if there are several.
  std::string exchanged_image(const std::string& x) const {
    if (groups == 1) return fmt::format("a = Transpose({}) {{perm=[{}]}}\n", x, fmt::join(perm, ","));
    const int64_t channels = image[1] / groups;
    const std::vector<int64_t> pixels(image.begin() + 2, image.end());
    std::vector<int64_t> order(image.size() + 1);
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[0], order[2]);
    return fmt::format(
        "s1 = Reshape({}) {{shape=[{},{},{},{}]}}\ns2 = Transpose(s1) {{perm=[{}]}}\na = Reshape(s2) "
        "{{shape=[{},{},{}]}}\n",
        x, image[0], groups, channels, fmt::join(pixels, ","), fmt::join(order, ","), channels, groups * image[0],
        fmt::join(pixels, ","));
  }

  /// With `blocked`, image and gradient come from convolutions.
  std::string text(bool blocked) const {
    const auto list = [](const std::vector<int64_t>& values) { return fmt::format("[{}]", fmt::join(values, ",")); };
    std::string lines = fmt::format("input x: f32{}\ninput g: f32{}\n", list(image), list(gradient));
    const auto made = [&](const std::string& name, int64_t channels) {
      if (!blocked) return name;
      std::vector<int64_t> filters(image.size(), 1);
      filters[0] = filters[1] = channels;
      const std::vector<int64_t> ones(image.size() - 2, 1), zeros(2 * ones.size(), 0);
      lines += fmt::format("w{0} = f32{1}{{seed 7}}\nc{0} = Conv({0}, w{0}) {{strides={2}, dilations={2}, pads={3}}}\n",
                           name, list(filters), list(ones), list(zeros));
      lines += fmt::format("r{0} = Relu(c{0})\n", name);
      return "r" + name;
    };
    const std::string of_image = made("x", image[1]), of_gradient = made("g", gradient[1]);
    lines += exchanged_image(of_image);
    lines += fmt::format("b = Transpose({}) {{perm={}}}\n", of_gradient, list(perm));
    lines +=
        fmt::format("f = Conv(a, b) {{strides={}, dilations={}, pads={}, group={}}}\ny = Transpose(f) {{perm={}}}\n",
                    list(strides), list(dilations), list(pads), groups, list(perm));
    // The image is read once more, after the gradient.
    return lines + "z = Add(y, y)\ns = Sigmoid(" + of_image + ")\nreturn z, s";
  }
};

class FilterGradients : public testing::TestWithParam<int> {};

TEST_P(FilterGradients, EqualTheConvolution) {
  const auto problem = FilterProblem::draw(static_cast<uint64_t>(GetParam()));
  for (const bool blocked : {false, true}) {
    const std::string text = problem.text(blocked);
    const auto kernels = expect_as_reference(text);
    EXPECT_EQ(count_of(kernels, "filters of Conv"), 1) << text;
    EXPECT_EQ(references(kernels), 0) << text;
    expect_as_reference(graph_of(text), inputs_of(graph_of(text)), {.tune = true});
  }
}

INSTANTIATE_TEST_SUITE_P(Random, FilterGradients, testing::Range(0, 100));

/// The gradient for filters of `side` x `side`, between blocked convolutions.
std::vector<PlanKernel> kernels_in_blocks(int64_t side) {
  const Graph graph = graph_of(fmt::format(
      "input x: f32[2,32,9,9]\nw = f32[32,32,{0},{0}]{{seed 1}}\nc = Conv(x, w) {{pads=[{1},{1},{1},{1}]}}\n"
      "r = Relu(c)\nd = Conv(r, w) {{pads=[{1},{1},{1},{1}]}}\na = Transpose(r) {{perm=[1,0,2,3]}}\n"
      "b = Transpose(d) {{perm=[1,0,2,3]}}\nf = Conv(a, b) {{pads=[{1},{1},{1},{1}]}}\n"
      "y = Transpose(f) {{perm=[1,0,2,3]}}\nreturn y",
      side, side / 2));
  auto kernels = expect_as_reference(graph, inputs_of(graph), {}, std::make_shared<Preferring>("channels in"));
  EXPECT_EQ(count_of(kernels, "filters of Conv"), 1);
  return kernels;
}

std::string implementation_of_filters(const std::vector<PlanKernel>& kernels) {
  return std::ranges::find(kernels, "filters of Conv", &PlanKernel::name)->implementation;
}

TEST(FilterGradient, ReadsBlocksWithoutACopy) {
  const auto kernels = kernels_in_blocks(5);
  if (implementation_of_filters(kernels).find("gemm") == std::string::npos) {  // SSE has no other kernel
    EXPECT_EQ(count_of(kernels, "reorder"), 2) << "x to blocks, the filters to row-major order";
  }
}

TEST(FilterGradient, IsRowMajorByWinogradsAlgorithm) {
  const auto kernels = kernels_in_blocks(3);
  EXPECT_TRUE(implementation_of_filters(kernels).ends_with(":winograd")) << implementation_of_filters(kernels);
  EXPECT_EQ(count_of(kernels, "reorder"), 1) << "x to blocks";
}

TEST(FilterGradient, IsOnlySeenWhereBothAreExchanged) {
  const auto found = [](const std::string& a, const std::string& b, const std::string& more = "") {
    const Graph graph = graph_of("input x: f32[4,4,5,5]\ninput g: f32[4,4,3,3]\ninput q: f32[4]\n" + a + b +
                                 "f = Conv(a, b" + more + ") {}\nreturn f");
    return filter_gradient(graph, graph.producer_node(graph.outputs()[0])).has_value();
  };
  const std::string a = "a = Transpose(x) {perm=[1,0,2,3]}\n", b = "b = Transpose(g) {perm=[1,0,2,3]}\n";
  EXPECT_TRUE(found(a, b));
  EXPECT_FALSE(found(a, b, ", q")) << "a bias";
  EXPECT_FALSE(found("a = Transpose(x) {perm=[0,1,3,2]}\n", b));
  EXPECT_FALSE(found("a = Relu(x)\n", b));
  EXPECT_FALSE(found(a, "b = Relu(g)\n"));
  EXPECT_FALSE(found(a, "v = f32[4,4,3,3]{seed 1}\nb = Transpose(v) {perm=[1,0,2,3]}\n")) << "a weight";
}

TEST(FilterGradient, OfGroupsIsOnlySeenWhereEachIsExchanged) {
  const auto found = [](const std::string& shape, const std::string& perm, const std::string& joined) {
    const Graph graph = graph_of(fmt::format(
        "input x: f32[2,8,5,5]\ninput g: f32[2,8,3,3]\ns = Reshape(x) {{shape={}}}\nt = Transpose(s) {{perm={}}}\n"
        "a = Reshape(t) {{shape={}}}\nb = Transpose(g) {{perm=[1,0,2,3]}}\nf = Conv(a, b) {{group=4}}\nreturn f",
        shape, perm, joined));
    expect_as_reference(graph, inputs_of(graph));
    return filter_gradient(graph, graph.producer_node(graph.outputs()[0])).has_value();
  };
  EXPECT_TRUE(found("[2,4,2,5,5]", "[2,1,0,3,4]", "[2,8,5,5]"));
  EXPECT_FALSE(found("[2,2,4,5,5]", "[2,1,0,3,4]", "[2,8,5,5]")) << "other groups";
  EXPECT_FALSE(found("[2,4,2,5,5]", "[0,1,2,3,4]", "[2,8,5,5]"));
  EXPECT_FALSE(found("[2,4,2,5,5]", "[2,1,0,4,3]", "[2,8,5,5]"));
  EXPECT_FALSE(found("[2,4,2,25]", "[2,1,0,3]", "[2,8,5,5]")) << "pixels in a row";
}

// Rows after the last window: no convolution of the image has a result like the gradient and filters like the result.
TEST(FilterGradient, OfGroupsNeedsTheExtentsOfAConvolution) {
  const auto kernels = expect_as_reference(
      "input x: f32[1,32,10,10]\ninput g: f32[1,32,3,3]\ns = Reshape(x) {shape=[1,16,2,10,10]}\n"
      "t = Transpose(s) {perm=[2,1,0,3,4]}\na = Reshape(t) {shape=[2,16,10,10]}\nb = Transpose(g) {perm=[1,0,2,3]}\n"
      "f = Conv(a, b) {strides=[2,2], group=16}\nreturn f");
  EXPECT_EQ(count_of(kernels, "filters of Conv"), 0);
}

// What exchanges the axes has another reader, which needs its elements.
TEST(FilterGradient, LeavesTheExchangeOfGroupsToOthers) {
  const std::string text =
      "input x: f32[2,32,9,9]\nw = f32[32,32,3,3]{seed 1}\nc = Conv(x, w) {pads=[1,1,1,1]}\nr = Relu(c)\n"
      "s = Reshape(r) {shape=[2,32,1,9,9]}\nt = Transpose(s) {perm=[2,1,0,3,4]}\na = Reshape(t) {shape=[1,64,9,9]}\n"
      "b = Transpose(r) {perm=[1,0,2,3]}\nf = Conv(a, b) {pads=[1,1,1,1], group=32}\n";
  expect_as_reference(text + "return f");
  for (const char* other : {"s", "t", "a"}) expect_as_reference(text + fmt::format("y = Tanh({})\nreturn f, y", other));
  expect_as_reference(text + "return f, a");
  // The gradient is not changed in place, whatever follows it.
  EXPECT_EQ(count_of(expect_as_reference(text + "input q: f32[1,32,3,3]\ny = Relu(f)\nz = Add(y, q)\nreturn z"),
                     "filters of Conv"),
            1);
}

// The copy of the image in blocks is needed until the gradient is made.
TEST(FilterGradient, KeepsWhatItReads) {
  const std::string head =
      "input x: f32[2,32,9,9]\ninput g: f32[2,32,9,9]\ninput s: f32[1,32,1,1]\nw = f32[32,32,3,3]{seed 1}\n"
      "a = Transpose(x) {perm=[1,0,2,3]}\nb = Transpose(g) {perm=[1,0,2,3]}\nc = Conv(x, w) {pads=[1,1,1,1]}\n"
      "d = Conv(g, w) {pads=[1,1,1,1]}\n";
  const std::string tail = "f = Conv(a, b) {pads=[1,1,1,1]}\ny = Transpose(f) {perm=[1,0,2,3]}\nreturn y, h, k";
  for (const char* between :
       {"h = Add(c, x)\nk = Add(d, g)\n", "i = Add(x, s)\nh = Mul(i, c)\nj = Add(g, s)\nk = Mul(j, d)\n",
        "h = Tanh(x)\nk = Tanh(g)\n"}) {
    const Graph graph = graph_of(std::string(head).append(between).append(tail));
    const auto kernels = expect_as_reference(graph, inputs_of(graph), {}, std::make_shared<Preferring>("channels in"));
    EXPECT_EQ(count_of(kernels, "filters of Conv"), 1);
    expect_as_reference(graph, inputs_of(graph));
  }
}

// The transposition has another reader, which needs its elements.
TEST(FilterGradient, LeavesTheTranspositionToOthers) {
  expect_as_reference(
      "input x: f32[2,32,9,9]\nw = f32[32,32,3,3]{seed 1}\nc = Conv(x, w) {pads=[1,1,1,1]}\n"
      "a = Transpose(c) {perm=[1,0,2,3]}\nf = Conv(a, a) {pads=[1,1,1,1]}\ny = Softmax(a) {axis=1}\nreturn f, y");
}

}  // namespace
}  // namespace isomer::onednn
