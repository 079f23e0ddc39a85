#include "isomer/engine/onednn/testing.h"

namespace isomer::onednn {
namespace {

struct Case {
  std::string text;
  Tensor labels;
};

/// A loss of scores [2,classes,...] in which every class has a label.
Case case_of(int64_t classes, const std::string& pixels, int64_t labels_per_image, const std::string& more) {
  std::vector<int64_t> labels(static_cast<size_t>(2 * labels_per_image));
  for (size_t n = 0; n < labels.size(); ++n) labels[n] = static_cast<int64_t>(7 * n) % classes;
  std::vector<int64_t> dims = {2};
  if (!pixels.empty()) dims.push_back(labels_per_image);
  return {fmt::format("input x: f32[2,{}{}]\ninput i: i64[2{}]\n{}return y", classes, pixels, pixels, more),
          Tensor::ints(dims, labels)};
}

int references_of(const Case& one) {
  const Graph graph = graph_of(one.text);
  const std::vector<Tensor> inputs = {inputs_of(graph)[0], one.labels};
  return references(expect_as_reference(graph, inputs));
}

void expect_losses_as_reference(const std::string& op) {
  for (const char* const reduction : {"mean", "sum", "none"})
    for (const int64_t classes : {1, 2, 40, 1000})
      for (const char* const weights : {"", ", w"})
        for (const char* const ignored : {"", ", ignore_index=0", ", ignore_index=-100"}) {
          const bool only_ignored = classes == 1 && std::string(ignored) == ", ignore_index=0";
          if (only_ignored && std::string(reduction) == "mean") continue;  // 0 / 0
          const std::string text = fmt::format("w = f32[{}]{{seed 3}}\ny = {}(x, i{}) {{reduction=\"{}\"{}}}\n",
                                               classes, op, weights, reduction, ignored);
          EXPECT_EQ(references_of(case_of(classes, "", 1, text)), 0) << text;
          EXPECT_EQ(references_of(case_of(classes, ",19", 19, text)), 0) << text;
        }
}

TEST(CrossEntropy, IsThatOfTheReference) { expect_losses_as_reference("SoftmaxCrossEntropyLoss"); }
TEST(LogLikelihood, IsThatOfTheReference) { expect_losses_as_reference("NegativeLogLikelihoodLoss"); }

// Of a label whose score leads by far, the loss is small, but not lost in rounding.
TEST(CrossEntropy, KeepsSmallLosses) {
  const Graph graph = graph_of("input x: f32[1,2]\ninput i: i64[1]\ny = SoftmaxCrossEntropyLoss(x, i)\nreturn y");
  const std::vector<Tensor> inputs = {Tensor::floats({1, 2}, {130, 118}), Tensor::ints({1}, {0})};
  const auto plan = plan_of(graph, inputs, {.tune = false});
  const auto got = plan.run(inputs);
  ASSERT_TRUE(got.has_value());
  EXPECT_NEAR((*got)[0].data<float>()[0], 6.1441e-6, 1e-7);
}

TEST(CrossEntropy, RefusesOtherLabels) {
  const Graph graph = graph_of("input x: f32[1,2]\ninput i: i64[1]\ny = SoftmaxCrossEntropyLoss(x, i)\nreturn y");
  for (const int64_t label : {-1, 2}) {
    const std::vector<Tensor> inputs = {Tensor::floats({1, 2}, {1, 2}), Tensor::ints({1}, {label})};
    const auto got = plan_of(graph, inputs, {.tune = false}).run(inputs);
    ASSERT_FALSE(got.has_value());
    EXPECT_NE(got.error().message.find(fmt::format("label {} of 2 classes", label)), std::string::npos);
  }
}

}  // namespace
}  // namespace isomer::onednn
