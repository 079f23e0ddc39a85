// Gradients of convolutions, pools, products, normalizations and losses.

#include "isomer/base/rng.h"
#include "isomer/grad/testing.h"

namespace isomer::testing {
namespace {

/// A random window, and the extents of an image over which it fits.
struct RandomWindow {
  Attrs attrs;
  std::vector<int64_t> kernel;
  std::vector<int64_t> image;
};

RandomWindow random_window(Rng& rng, size_t rank) {
  RandomWindow out;
  Ints strides;
  Ints dilations;
  Ints pads(2 * rank);
  for (size_t i = 0; i < rank; ++i) {
    out.kernel.push_back(rng.between(1, 3));
    strides.push_back(rng.between(1, 3));
    dilations.push_back(rng.between(1, 2));
    const int64_t reach = (out.kernel[i] - 1) * dilations[i] + 1;
    pads[i] = rng.between(0, (reach - 1) / 2);
    pads[rank + i] = rng.between(0, reach / 2);
    out.image.push_back(reach + rng.between(0, 4));
  }
  out.attrs = Attrs({{"strides", strides}, {"dilations", dilations}, {"pads", pads}});
  return out;
}

std::vector<int64_t> joined(std::vector<int64_t> front, const std::vector<int64_t>& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

TEST(Convolutions, FormalDerivatives) {
  Rng rng(11);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const RandomWindow window = random_window(rng, 1 + static_cast<size_t>(trial % 3));
    const int64_t group = rng.between(1, 3);
    const int64_t channels = rng.between(1, 2);
    const int64_t outputs = group * rng.between(1, 2);
    const auto test =
        operator_case("Conv", window.attrs.with("group", group),
                      {uniform_tensor(joined({2, group * channels}, window.image), 1),
                       uniform_tensor(joined({outputs, channels}, window.kernel), 2), uniform_tensor({outputs}, 3)});
    ASSERT_TRUE(test) << test.error().message;
    expect_formal_derivative(*test);
    if (trial < 6) expect_finite_differences(*test);
  }
}

TEST(Convolutions, WithComputedPads) {
  for (const char* pad : {"SAME_UPPER", "SAME_LOWER"}) {
    const auto test = operator_case("Conv",
                                    {{"strides", Ints{2, 2}},
                                     {"dilations", Ints{1, 1}},
                                     {"pads", Ints{0, 0, 0, 0}},
                                     {"auto_pad", std::string(pad)}},
                                    {uniform_tensor({1, 2, 6, 5}, 1), uniform_tensor({2, 2, 3, 3}, 2)});
    ASSERT_TRUE(test) << test.error().message;
    expect_formal_derivative(*test);
  }
}

TEST(Convolutions, TransposedFormalDerivatives) {
  Rng rng(12);
  for (int trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    const RandomWindow window = random_window(rng, 1 + static_cast<size_t>(trial % 2));
    const int64_t group = rng.between(1, 2);
    Ints extra;
    for (const int64_t stride : window.attrs.ints("strides")) extra.push_back(rng.between(0, stride - 1));
    const auto test =
        operator_case("ConvTranspose", window.attrs.with("group", group).with("output_padding", extra),
                      {uniform_tensor(joined({2, group * 2}, std::vector<int64_t>(window.kernel.size(), 3)), 1),
                       uniform_tensor(joined({group * 2, 2}, window.kernel), 2), uniform_tensor({group * 2}, 3)});
    ASSERT_TRUE(test) << test.error().message;
    expect_formal_derivative(*test);
  }
}

TEST(Pools, Averages) {
  Rng rng(13);
  for (int trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    const RandomWindow window = random_window(rng, 1 + static_cast<size_t>(trial % 3));
    const Attrs attrs = window.attrs.with("kernel_shape", window.kernel)
                            .with("ceil_mode", rng.between(0, 1))
                            .with("count_include_pad", rng.between(0, 1));
    const auto test = operator_case("AveragePool", attrs, {uniform_tensor(joined({2, 2}, window.image), 1)});
    ASSERT_TRUE(test) << test.error().message;
    expect_formal_derivative(*test);
  }
}

TEST(Pools, Maxima) {
  Rng rng(14);
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(trial);
    const RandomWindow window = random_window(rng, 1 + static_cast<size_t>(trial % 3));
    const Attrs attrs = window.attrs.with("kernel_shape", window.kernel)
                            .with("ceil_mode", rng.between(0, 1))
                            .with("storage_order", rng.between(0, 1));
    const auto test = operator_case("MaxPool", attrs, {uniform_tensor(joined({2, 2}, window.image), 1)});
    ASSERT_TRUE(test) << test.error().message;
    expect_finite_differences(*test);
  }
}

TEST(Pools, OfWholeImages) {
  for (const char* name : {"GlobalAveragePool", "GlobalMaxPool"}) {
    const auto test = operator_case(name, {}, {uniform_tensor({2, 3, 2, 3}, 1)});
    expect_finite_differences(*test);
    if (std::string(name) == "GlobalAveragePool") expect_formal_derivative(*test);
  }
}

TEST(Products, FormalDerivatives) {
  const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> shapes = {
      {{3, 4}, {4, 2}},          {{2, 3, 4}, {4, 2}}, {{2, 2, 3, 4}, {4, 2}}, {{3, 4}, {2, 4, 2}},
      {{2, 1, 3, 4}, {5, 4, 2}}, {{4}, {4, 2}},       {{3, 4}, {4}},          {{4}, {4}},
      {{2, 3, 4}, {4}},          {{4}, {2, 4, 3}},    {{1, 3, 4}, {2, 4, 2}}};
  for (const auto& [a, b] : shapes) {
    const auto test = operator_case("MatMul", {}, {uniform_tensor(a, 1), uniform_tensor(b, 2)});
    ASSERT_TRUE(test) << test.error().message;
    expect_formal_derivative(*test);
    expect_finite_differences(*test);
  }
}

TEST(Products, OfGemm) {
  for (int64_t flips = 0; flips < 4; ++flips) {
    const bool flip_a = (flips & 1) != 0;
    const bool flip_b = (flips & 2) != 0;
    for (const std::vector<int64_t>& c : {std::vector<int64_t>{2}, {3, 1}, {3, 2}, {}}) {
      const auto test = operator_case(
          "Gemm", {{"alpha", 0.5F}, {"beta", 2.0F}, {"transA", int64_t{flip_a}}, {"transB", int64_t{flip_b}}},
          {uniform_tensor(flip_a ? std::vector<int64_t>{4, 3} : std::vector<int64_t>{3, 4}, 1),
           uniform_tensor(flip_b ? std::vector<int64_t>{2, 4} : std::vector<int64_t>{4, 2}, 2), uniform_tensor(c, 3)});
      ASSERT_TRUE(test) << test.error().message;
      expect_formal_derivative(*test);
    }
  }
}

TEST(Products, OfEinsum) {
  const std::vector<std::tuple<std::string, std::vector<int64_t>, std::vector<int64_t>>> cases = {
      {"ij,jk->ik", {2, 3}, {3, 2}},
      {"bij,bkj->bik", {2, 2, 3}, {2, 4, 3}},
      {"bhid,bhjd->bhij", {1, 2, 3, 2}, {1, 2, 3, 2}},
      {"i,j->ij", {2}, {3}},
      {"ij,ij->", {2, 3}, {2, 3}}};
  for (const auto& [equation, a, b] : cases) {
    SCOPED_TRACE(equation);
    const auto test = operator_case("Einsum", {{"equation", equation}}, {uniform_tensor(a, 1), uniform_tensor(b, 2)});
    ASSERT_TRUE(test) << test.error().message;
    expect_formal_derivative(*test);
  }
}

TEST(Normalizations, FiniteDifferences) {
  const Tensor image = uniform_tensor({2, 4, 2, 3}, 1);
  const auto vector = [](int64_t n, uint64_t seed) { return uniform_tensor({n}, seed, 0.5, 2); };
  const std::vector<std::tuple<std::string, Attrs, std::vector<Tensor>>> cases = {
      {"BatchNormalization", {}, {image, vector(4, 2), vector(4, 3), vector(4, 4), vector(4, 5)}},
      {"BatchNormalization", {}, {uniform_tensor({3, 2}, 1), vector(2, 2), vector(2, 3), vector(2, 4), vector(2, 5)}},
      {"InstanceNormalization", {}, {image, vector(4, 2), vector(4, 3)}},
      {"GroupNormalization", {{"num_groups", int64_t{2}}}, {image, vector(4, 2), vector(4, 3)}},
      {"GroupNormalization",
       {{"num_groups", int64_t{2}}, {"per_group", int64_t{1}}},
       {image, vector(2, 2), vector(2, 3)}},
      {"LayerNormalization", {}, {image, vector(3, 2), vector(3, 3)}},
      {"LayerNormalization", {{"axis", int64_t{2}}}, {image, uniform_tensor({2, 3}, 2), uniform_tensor({1, 3}, 3)}},
      {"LayerNormalization", {{"axis", int64_t{1}}}, {image, vector(1, 2)}},
      {"RMSNormalization", {{"axis", int64_t{-2}}}, {image, vector(3, 2)}},
      {"LRN", {{"size", int64_t{3}}, {"alpha", 0.5F}, {"beta", 0.75F}}, {image}},
      {"LRN", {{"size", int64_t{2}}, {"alpha", 0.5F}, {"beta", 0.5F}}, {image}},
  };
  for (const auto& [name, attrs, inputs] : cases) {
    SCOPED_TRACE(name);
    const auto test = operator_case(name, attrs, inputs);
    ASSERT_TRUE(test) << test.error().message;
    expect_finite_differences(*test);
  }
}

TEST(Losses, FiniteDifferences) {
  const Tensor labels = Tensor::ints({3}, {2, 0, 1});
  const Tensor weights = uniform_tensor({4}, 9, 0.5, 2);
  for (const char* name : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
    for (const char* reduction : {"none", "sum", "mean"}) {
      for (const bool ignores : {false, true}) {
        for (const bool weighted : {false, true}) {
          for (const bool logs : {false, true}) {
            if (logs && std::string(name) != "SoftmaxCrossEntropyLoss") continue;
            Attrs attrs{{"reduction", std::string(reduction)}};
            if (ignores) attrs = attrs.with("ignore_index", int64_t{0});
            GraphBuilder builder;
            const ValueId scores = builder.input({DType::Double, {3, 4}});
            std::vector<ValueId> operands{scores, builder.constant(labels)};
            if (weighted) operands.push_back(builder.constant(weights));
            const NodeId id = *builder.node(op(name), attrs, operands, logs ? 2 : 1);
            const bool each = std::string(reduction) == "none";
            ValueId loss =
                *builder.add(op("ReduceSumSquare"), {{"axes", each ? Ints{0} : Ints{}}, {"keepdims", int64_t{0}}},
                             {builder.at(id).result()});
            if (logs) {
              const ValueId more = *builder.add(op("ReduceSumSquare"), {{"axes", Ints{0, 1}}, {"keepdims", int64_t{0}}},
                                                {builder.at(id).result(1)});
              loss = *builder.add(op("Add"), {}, {loss, more});
            }
            GradientCase test{builder.finish({&loss, 1}), 0, {uniform_tensor({3, 4}, 1)}};
            test.loss = test.graph.outputs()[0];
            expect_finite_differences(test);
          }
        }
      }
    }
  }
}

TEST(Losses, OfPixels) {
  GraphBuilder builder;
  const ValueId scores = builder.input({DType::Double, {2, 3, 2}});
  const ValueId labels = builder.constant(Tensor::ints({2, 2}, {0, 1, 2, -1}));
  const ValueId loss = *builder.add(op("SoftmaxCrossEntropyLoss"), {{"ignore_index", int64_t{-1}}}, {scores, labels});
  GradientCase test{builder.finish({&loss, 1}), 0, {uniform_tensor({2, 3, 2}, 1)}};
  test.loss = test.graph.outputs()[0];
  expect_finite_differences(test);
}

TEST(Losses, OfASymbolicBatch) {
  for (const bool ignores : {false, true}) {
    GraphBuilder builder;
    const ValueId scores = builder.input({DType::Double, {Dim::symbol("N"), Dim(4)}});
    Attrs attrs;
    if (ignores) attrs = attrs.with("ignore_index", int64_t{0});
    const ValueId labels = builder.input({DType::Int64, {Dim::symbol("N")}});
    const ValueId loss = *builder.add(op("SoftmaxCrossEntropyLoss"), attrs, {scores, labels});
    GradientCase test{builder.finish({&loss, 1}), 0, {uniform_tensor({3, 4}, 1), Tensor::ints({3}, {2, 0, 1})}};
    test.loss = test.graph.outputs()[0];
    expect_finite_differences(test);
  }
}

}  // namespace
}  // namespace isomer::testing
