// Gradients of attention.

#include <gmock/gmock.h>

#include <limits>

#include "isomer/grad/testing.h"

namespace isomer::testing {
namespace {

using ::testing::HasSubstr;
using Extents = std::vector<int64_t>;

/// Attention of 3 queries over 4 keys, 4 heads over `kv_heads` ones.
Result<GradientCase> attention_case(const Attrs& attrs, int64_t kv_heads = 4, const Tensor& mask = {}) {
  std::vector<Tensor> inputs{uniform_tensor({2, 4, 3, 2}, 1), uniform_tensor({2, kv_heads, 4, 2}, 2),
                             uniform_tensor({2, kv_heads, 4, 5}, 3)};
  if (!mask.empty()) inputs.push_back(mask);
  return operator_case("Attention", attrs, std::move(inputs));
}

void expect_right(const Result<GradientCase>& test) {
  ASSERT_TRUE(test) << test.error().message;
  expect_finite_differences(*test);
}

Tensor random_flags(const Extents& dims, uint64_t seed) {
  const Tensor numbers = uniform_tensor(dims, seed);
  std::vector<uint8_t> flags;
  for (const double x : numbers.data<double>()) flags.push_back(x > -0.5 ? 1 : 0);
  return Tensor::of<uint8_t>(DType::Bool, dims, flags);
}

TEST(AttentionGradients, OfHeads) {
  for (const int64_t kv_heads : {4, 2, 1}) {
    SCOPED_TRACE(kv_heads);
    expect_right(attention_case({}, kv_heads));
    expect_right(attention_case({{"scale", 0.3F}}, kv_heads));
    expect_right(attention_case({{"is_causal", int64_t{1}}}, kv_heads));
  }
}

TEST(AttentionGradients, OfMasks) {
  for (const int64_t kv_heads : {4, 2})
    for (const int64_t causal : {0, 1}) {
      SCOPED_TRACE(fmt::format("{} {}", kv_heads, causal));
      const Attrs attrs({{"is_causal", causal}});
      for (const Extents& dims : {Extents{3, 4}, Extents{2, 1, 3, 4}, Extents{4, 1, 4}}) {
        expect_right(attention_case(attrs, kv_heads, uniform_tensor(dims, 5)));
        expect_right(attention_case(attrs, kv_heads, random_flags(dims, 6)));
      }
    }
}

TEST(AttentionGradients, OfQueriesThatSeeNothing) {
  std::vector<uint8_t> flags(12, 1);
  std::fill_n(flags.begin() + 4, 4, uint8_t{0});
  expect_right(attention_case({}, 4, Tensor::of<uint8_t>(DType::Bool, {3, 4}, flags)));
}

/// Only infinities hide keys: a query whose visible keys all have very low masks gets the mean of their values.
TEST(AttentionGradients, OfQueriesWithLowMasks) {
  std::vector<double> mask(12, 0);
  std::fill_n(mask.begin() + 4, 8, -3.3e38);
  std::fill_n(mask.begin() + 8, 2, -std::numeric_limits<double>::infinity());
  GraphBuilder builder;
  // Scores are rounded away, so there are no finite differences for queries and keys.
  const ValueId q = builder.constant(uniform_tensor({1, 1, 3, 2}, 1)),
                k = builder.constant(uniform_tensor({1, 1, 4, 2}, 2));
  Tensor values = uniform_tensor({1, 1, 4, 2}, 3);
  const ValueId v = builder.input(values.type());
  const auto y =
      builder.add(op("Attention"), {}, {q, k, v, builder.constant(Tensor::of<double>(DType::Double, {3, 4}, mask))});
  ASSERT_TRUE(y) << y.error().message;
  const auto loss = builder.add(op("ReduceSumSquare"), {{"axes", Ints{0, 1, 2, 3}}, {"keepdims", int64_t{0}}}, {*y});
  ASSERT_TRUE(loss) << loss.error().message;
  Graph graph = builder.finish({&*loss, 1});
  const ValueId output = graph.outputs()[0];
  expect_finite_differences({std::move(graph), output, {std::move(values)}});
}

TEST(AttentionGradients, OfHeadsInRows) {
  for (const int64_t kv_heads : {2, 1}) {
    const Attrs attrs({{"q_num_heads", int64_t{2}}, {"kv_num_heads", kv_heads}});
    expect_right(operator_case("Attention", attrs,
                               {uniform_tensor({2, 3, 6}, 1), uniform_tensor({2, 4, 3 * kv_heads}, 2),
                                uniform_tensor({2, 4, 2 * kv_heads}, 3)}));
  }
}

TEST(AttentionGradients, RefusesWhatHasNone) {
  const auto refusal = [](const Result<GradientCase>& test) -> std::string {
    const auto gradients = with_gradients(test->graph, test->loss, {test->graph.inputs().begin(), 1});
    return gradients ? "" : gradients.error().message;
  };
  EXPECT_THAT(refusal(attention_case({{"softcap", 2.0F}})),
              HasSubstr("(Attention): no gradient: attention with a softcap"));
  EXPECT_THAT(refusal(attention_case({{"left_window_size", int64_t{1}}})), HasSubstr("in windows"));
  EXPECT_THAT(refusal(attention_case({}, 4, uniform_tensor({3, 2}, 5))), HasSubstr("a mask of other keys"));
}

}  // namespace
}  // namespace isomer::testing
