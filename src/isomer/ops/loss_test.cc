#include <cmath>

#include "isomer/ops/testing.h"

namespace isomer::testing {
namespace {

TEST(Loss, Infers) {
  const TensorType scores = f32({kN, 5, 7});
  const TensorType labels = i64({kN, 7});
  EXPECT_EQ(infer("NegativeLogLikelihoodLoss", {}, {scores, labels}), "f32[]");
  const Attrs none{{"reduction", std::string("none")}};
  EXPECT_EQ(infer("NegativeLogLikelihoodLoss", none, {scores, labels, f32({5})}), "f32[N,7]");
  EXPECT_EQ(infer("SoftmaxCrossEntropyLoss", {}, {scores, labels}, 2), "f32[] f32[N,5,7]");
  EXPECT_TRUE(refused("NegativeLogLikelihoodLoss", {}, {scores, i64({kN, 6})}));
  EXPECT_TRUE(refused("NegativeLogLikelihoodLoss", {}, {scores, labels, f32({4})}));
  EXPECT_TRUE(refused("NegativeLogLikelihoodLoss", {}, {scores, f32({kN, 7})}));
  EXPECT_TRUE(refused("NegativeLogLikelihoodLoss", {{"reduction", std::string("max")}}, {scores, labels}));
}

TEST(Loss, Values) {
  const Tensor scores = Tensor::floats({2, 2}, {-1, -2, -3, -4});
  const Tensor labels = Tensor::ints({2}, {0, 1});
  EXPECT_EQ(run_to<float>("NegativeLogLikelihoodLoss", {}, {scores, labels}), (std::vector<float>{2.5F}));
  EXPECT_EQ(run_to<float>("NegativeLogLikelihoodLoss", {}, {scores, labels, Tensor::floats({2}, {3, 1})}),
            (std::vector<float>{7.0F / 4}));
  EXPECT_EQ(run_to<float>("NegativeLogLikelihoodLoss", {{"ignore_index", int64_t{1}}}, {scores, labels}),
            (std::vector<float>{1}));
  EXPECT_FALSE(run("NegativeLogLikelihoodLoss", {}, {scores, Tensor::ints({2}, {0, 2})}));
  const auto results =
      run("SoftmaxCrossEntropyLoss", {}, {Tensor::floats({1, 2}, {1000, 1000}), Tensor::ints({1}, {0})}, 2);
  ASSERT_TRUE(results);
  EXPECT_FLOAT_EQ((*results)[0].data<float>()[0], std::log(2.0F));
  EXPECT_FLOAT_EQ((*results)[1].data<float>()[1], -std::log(2.0F));
}

}  // namespace
}  // namespace isomer::testing
