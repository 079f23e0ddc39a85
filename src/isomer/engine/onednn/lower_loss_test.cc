#include "isomer/base/rng.h"
#include "isomer/engine/onednn/desc.h"
#include "isomer/engine/onednn/testing.h"

namespace isomer::onednn {
namespace {

/// The kernels of a graph with the inputs x (scores) and i (labels), after comparisons in one thread and in three.
std::vector<PlanKernel> compared(const std::string& text, const std::vector<int64_t>& scores, const Tensor& labels) {
  const Graph graph = graph_of(text);
  const std::vector<Tensor> inputs = {random_tensor(DType::Float, scores, 1), labels};
  expect_as_reference(graph, inputs, {.threads = 3, .tune = false});
  return expect_as_reference(graph, inputs);
}

/// Labels of this shape, one of them `ignored`.
Tensor labels_of(const std::vector<int64_t>& dims, int64_t classes, int64_t ignored) {
  Rng rng(1);
  std::vector<int64_t> labels(static_cast<size_t>(element_count(dims)));
  for (int64_t& label : labels) label = rng.between(0, classes - 1);
  labels[labels.size() / 2] = ignored;
  return Tensor::ints(dims, labels);
}

void expect_losses_as_reference(const std::string& op) {
  for (const char* const reduction : {"mean", "sum", "none"})
    for (const int64_t classes : {1, 2, 40, 5000})
      for (const char* const weights : {"", ", w"})
        for (const int64_t ignored : {-1, 0, -100}) {  // -1: none
          const std::string ignores = ignored == -1 ? "" : fmt::format(", ignore_index={}", ignored);
          const int64_t label = ignored == -100 ? ignored : 0;
          const std::string tail = fmt::format("w = f32[{}]{{seed 3}}\ny = {}(x, i{}) {{reduction=\"{}\"{}}}\nreturn y",
                                               classes, op, weights, reduction, ignores);
          SCOPED_TRACE(tail);
          if (classes == 1 && ignored == 0) continue;  // all labels are ignored: 0 / 0
          const std::string row = fmt::format("input x: f32[6,{}]\ninput i: i64[6]\n", classes);
          EXPECT_EQ(references(compared(row + tail, {6, classes}, labels_of({6}, classes, label))), 0);
          const std::string image = fmt::format("input x: f32[2,{},19]\ninput i: i64[2,19]\n", classes);
          EXPECT_EQ(references(compared(image + tail, {2, classes, 19}, labels_of({2, 19}, classes, label))), 0);
        }
}

TEST(CrossEntropy, IsThatOfTheReference) { expect_losses_as_reference("SoftmaxCrossEntropyLoss"); }
TEST(LogLikelihood, IsThatOfTheReference) { expect_losses_as_reference("NegativeLogLikelihoodLoss"); }

const char* const kLossOfTwo = "input x: f32[1,2]\ninput i: i64[1]\ny = SoftmaxCrossEntropyLoss(x, i)\nreturn y";

// It is smaller than the distance of numbers of f32 near the scores.
TEST(CrossEntropy, KeepsSmallLosses) {
  const Graph graph = graph_of(kLossOfTwo);
  const std::vector<Tensor> inputs = {Tensor::floats({1, 2}, {130, 118}), Tensor::ints({1}, {0})};
  const auto got = plan_of(graph, inputs).run(inputs);
  ASSERT_TRUE(got.has_value());
  EXPECT_NEAR((*got)[0].data<float>()[0], 6.1441e-6, 1e-7);
}

TEST(CrossEntropy, RefusesOtherLabels) {
  const Graph graph = graph_of(kLossOfTwo);
  for (const int64_t label : {-1, 2}) {
    const std::vector<Tensor> inputs = {Tensor::floats({1, 2}, {1, 2}), Tensor::ints({1}, {label})};
    const auto got = plan_of(graph, inputs).run(inputs);
    ASSERT_FALSE(got.has_value());
    EXPECT_NE(got.error().message.find(fmt::format("label {} of 2 classes", label)), std::string::npos);
  }
}

/// A gradient of `classes` scores in 7 rows. `made` makes the scores `s` of x; `factor` makes y of the difference d.
std::string gradient_text(int64_t classes, const std::string& made, const std::string& factor) {
  return fmt::format(
      "input x: f32[7,{0}]\ninput i: i64[7]\n{1}v = f32[2]{{0,1}}\np = Softmax(s) {{axis=-1}}\n"
      "h = OneHot(i, v) {{depth={0}, axis=1}}\nd = Sub(p, h)\n{2}return y",
      classes, made, factor);
}

TEST(LossGradient, IsOneKernelThatEqualsTheReference) {
  const char* const factors[] = {"y = Identity(d)\n", "f = f32[]{-0.25}\ny = Mul(d, f)\n",
                                 "f = f32[1,1]{3}\ny = Mul(f, d)\n",
                                 "r = ReduceMax(x) {axes=[1]}\nf = Reshape(r) {shape=[7,1]}\ny = Mul(f, d)\n",
                                 "f = ReduceMax(x) {axes=[0,1]}\ny = Mul(d, f)\n"};
  for (const int64_t classes : {1, 2, 40, 5000})
    for (const char* const made : {"s = Identity(x)\n", "s = Tanh(x)\n"})
      for (const char* const factor : factors) {
        const std::string text = gradient_text(classes, made, factor);
        SCOPED_TRACE(text);
        // Some labels are counted from the back, some mark nothing.
        const auto kernels =
            compared(text, {7, classes}, Tensor::ints({7}, {0, classes - 1, -1, -classes, classes, -classes - 1, 0}));
        EXPECT_EQ(count_of(kernels, "gradient of cross entropy"), 1);
        EXPECT_EQ(count_of(kernels, "Softmax"), 0);
      }
}

TEST(LossGradient, IsSeveralKernelsIfMoreIsRead) {
  const char* const others[] = {"y = Add(d, p)\n", "y = Add(d, h)\n",
                                "f = f32[7,1]{seed 1}\nz = Mul(d, f)\ny = Add(z, d)\n"};
  for (const char* const other : others) {
    const std::string text = gradient_text(40, "s = Tanh(x)\n", other);
    SCOPED_TRACE(text);
    const auto kernels = compared(text, {7, 40}, Tensor::ints({7}, {0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(references(kernels), 0);
  }
  // The marks are other numbers, the classes another axis.
  for (const char* const tail : {"v = f32[2]{0,2}\np = Softmax(x) {axis=-1}\nh = OneHot(i, v) {depth=7, axis=1}\n",
                                 "v = f32[2]{0,1}\np = Softmax(x) {axis=0}\nh = OneHot(i, v) {depth=7, axis=0}\n",
                                 "v = f32[2]{0,1}\np = Softmax(x) {axis=1}\nh = OneHot(i, v) {depth=7, axis=0}\n"}) {
    const std::string text = fmt::format("input x: f32[7,7]\ninput i: i64[7]\n{}y = Sub(p, h)\nreturn y", tail);
    SCOPED_TRACE(text);
    EXPECT_EQ(count_of(compared(text, {7, 7}, Tensor::ints({7}, {0, 1, 2, 3, 4, 5, 6})), "gradient of cross entropy"),
              0);
  }
}

}  // namespace
}  // namespace isomer::onednn
