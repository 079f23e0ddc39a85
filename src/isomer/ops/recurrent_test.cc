#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

const Dim kT = symbol("T");
using Reals = std::vector<float>;

TEST(Recurrent, InfersBothLayouts) {
  const std::vector<TensorType> operands{f32({kT, kN, 3}), f32({1, 16, 3}), f32({1, 16, 4})};
  EXPECT_EQ(infer("LSTM", {}, operands, 3), "f32[T,1,N,4] f32[1,N,4] f32[1,N,4]");
  EXPECT_EQ(infer("GRU", {{"layout", int64_t{1}}, {"direction", "bidirectional"}},
                  {f32({kN, kT, 3}), f32({2, 12, 3}), f32({2, 12, 4}), f32({2, 24})}, 2),
            "f32[N,T,2,4] f32[N,2,4]");
  EXPECT_EQ(infer("RNN", {}, {f32({kT, kN, 3}), f32({1, 4, 3}), f32({1, 4, 4})}), "f32[T,1,N,4]");
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
  const std::vector<TensorType> operands{f32({5, 2, 3}), f32({1, 4, 3}), f32({1, 4, 4})};
  EXPECT_TRUE(refused("GRU", {}, operands));
  EXPECT_TRUE(infer("RNN", {}, operands, 3).starts_with("error: "));
  EXPECT_TRUE(refused("RNN", {{"hidden_size", int64_t{3}}}, operands));
  EXPECT_TRUE(refused("RNN", {{"direction", "sideways"}}, operands));
  EXPECT_TRUE(refused("RNN", {{"activations", Strings{"Nothing"}}}, operands));
  EXPECT_TRUE(refused("RNN", {{"direction", "bidirectional"}}, operands));
}

/// An RNN with hidden size 1 and the identity as activation: computes running sums.
Attrs sums(const std::string& direction) {
  const size_t n = direction == "bidirectional" ? 2 : 1;
  return {{"direction", direction}, {"activations", Strings(n, "Affine")}};
}

TEST(Rnn, RunsInEitherDirection) {
  const Tensor x = Tensor::floats({3, 1, 1}, {1, 2, 3});
  const Tensor one = Tensor::floats({1, 1, 1}, {1});
  const Tensor ones = Tensor::floats({2, 1, 1}, {1, 1});
  EXPECT_EQ(run_to<float>("RNN", sums("forward"), {x, one, one}), (Reals{1, 3, 6}));
  EXPECT_EQ(run_to<float>("RNN", sums("reverse"), {x, one, one}), (Reals{6, 5, 3}));
  EXPECT_EQ(run_to<float>("RNN", sums("bidirectional"), {x, ones, ones}), (Reals{1, 6, 3, 5, 6, 3}));
}

TEST(Rnn, StopsAtTheLengthOfEachSequence) {
  const Tensor x = Tensor::floats({3, 2, 1}, {1, 1, 2, 2, 3, 3});
  const Tensor one = Tensor::floats({1, 1, 1}, {1});
  const auto results = run("RNN", sums("reverse"), {x, one, one, Tensor(), Tensor::ints({2}, {2, 3})}, 2);
  ASSERT_TRUE(results.has_value()) << results.error().message;
  const auto y = (*results)[0].data<float>();
  const auto h = (*results)[1].data<float>();
  EXPECT_EQ(Reals(y.begin(), y.end()), (Reals{3, 6, 2, 5, 0, 3}));
  EXPECT_EQ(Reals(h.begin(), h.end()), (Reals{3, 6}));
}

TEST(Rnn, ClipsWhatTheActivationsSee) {
  const Tensor one = Tensor::floats({1, 1, 1}, {1});
  EXPECT_EQ(run_to<float>("RNN", sums("forward").with("clip", 2.0F), {Tensor::floats({2, 1, 1}, {-9, 9}), one, one}),
            (Reals{-2, 2}));
}

TEST(Rnn, AClipOfZeroLeavesNothing) {
  const Tensor one = Tensor::floats({1, 1, 1}, {1});
  EXPECT_EQ(run_to<float>("RNN", sums("forward").with("clip", 0.0F), {Tensor::floats({2, 1, 1}, {-9, 9}), one, one}),
            (Reals{0, 0}));
}

/// An LSTM with hidden size 1 whose gates are the identity, and whose weights read each gate from a separate input.
TEST(Lstm, ClipsTheGatesButNotTheCell) {
  const Attrs attrs{{"activations", Strings(3, "Affine")}, {"clip", 2.0F}};
  Tensor w = Tensor::zeros(DType::Float, {1, 4, 4});
  for (size_t gate = 0; gate < 4; ++gate) w.mutable_data<float>()[5 * gate] = 1;
  const Tensor r = Tensor::zeros(DType::Float, {1, 4, 1});
  // Input 9, output 9, forget 0, candidate 9: every gate is clipped to 2, the cell is 4, and the output 2 * 4.
  EXPECT_EQ(run_to<float>("LSTM", attrs, {Tensor::floats({1, 1, 4}, {9, 9, 0, 9}), w, r}), (Reals{8}));
}

TEST(Recurrent, AnEmptySequenceEndsWithZeros) {
  const Tensor x = Tensor::floats({1, 2, 1}, {1, 1});
  const Tensor weights = Tensor::zeros(DType::Float, {1, 4, 1});
  const Tensor state = Tensor::floats({1, 2, 1}, {5, 5});
  const Tensor lengths = Tensor::ints({2}, {0, 1});
  const auto results = run("LSTM", {}, {x, weights, weights, Tensor(), lengths, state, state}, 3);
  ASSERT_TRUE(results.has_value()) << results.error().message;
  EXPECT_EQ((*results)[1].data<float>()[0], 0);
  EXPECT_EQ((*results)[2].data<float>()[0], 0);
  EXPECT_NE((*results)[1].data<float>()[1], 0);
  EXPECT_NE((*results)[2].data<float>()[1], 0);
}

TEST(Rnn, NormalizationFillsTheHiddenSize) {
  EXPECT_EQ(normalized({.op_type = "RNN", .opset = 14, .operands = {f32({5, 2, 3}), f32({1, 4, 3}), f32({1, 4, 4})}}),
            "RNN {direction=\"forward\", hidden_size=4, layout=0}");
}

}  // namespace
}  // namespace isomer::testing
