#include "isomer/grad/training_step.h"

#include "isomer/grad/testing.h"
#include "isomer/ops/graph_testing.h"

namespace isomer::testing {
namespace {

/// The mean of (w - x)^2, whose gradient for w is w - x.
Graph distance() {
  return parsed(R"(
    input x: f32[2]
    input w: f32[2]
    d = Sub(w, x)
    s = Mul(d, d)
    l = ReduceMean(s) {axes=[0], keepdims=0}
    return l)");
}

/// The values of w after some steps from w = 0 with x = (1, -3), and the losses before each step.
struct Training {
  std::vector<std::vector<float>> parameters;
  std::vector<float> losses;
};

Training train(const Optimizer& optimizer, int steps) {
  const Graph graph = distance();
  const ValueId w = graph.inputs()[1];
  const auto step = make_training_step(graph, graph.outputs()[0], {&w, 1}, optimizer);
  if (!step) throw std::runtime_error(step.error().message);
  EXPECT_EQ(step->parameters, std::vector<size_t>{1});
  EXPECT_EQ(step->first_state, 2U);
  std::vector<Tensor> inputs{Tensor::floats({2}, {1, -3}), Tensor::floats({2}, {0, 0})};
  for (size_t i = 2; i < step->graph.inputs().size(); ++i)
    inputs.push_back(Tensor::zeros(DType::Float, *concrete(*step->graph.type(step->graph.inputs()[i]).shape)));
  Training out;
  for (int i = 0; i < steps; ++i) {
    const std::vector<Tensor> outputs = run_or_throw(step->graph, inputs);
    std::copy(outputs.begin() + 1, outputs.end(), inputs.begin() + 1);
    out.losses.push_back(outputs[0].data<float>()[0]);
    out.parameters.emplace_back(outputs[1].data<float>().begin(), outputs[1].data<float>().end());
  }
  return out;
}

TEST(TrainingSteps, DescendAlongTheGradient) {
  const Training training = train(Sgd{.rate = 0.5, .momentum = 0}, 2);
  EXPECT_EQ(training.losses, (std::vector<float>{5, 1.25F}));
  EXPECT_EQ(training.parameters[0], (std::vector<float>{0.5F, -1.5F}));
  EXPECT_EQ(training.parameters[1], (std::vector<float>{0.75F, -2.25F}));
}

TEST(TrainingSteps, KeepTheirMomentum) {
  // b = (-1, 3), then 0.5 (-1, 3) + (-0.5, 1.5) = (-1, 3).
  const Training training = train(Sgd{.rate = 0.5, .momentum = 0.5}, 2);
  EXPECT_EQ(training.parameters[0], (std::vector<float>{0.5F, -1.5F}));
  EXPECT_EQ(training.parameters[1], (std::vector<float>{1, -3}));
}

TEST(TrainingSteps, OfAdamFollowItsDefinition) {
  const Adam adam{.rate = 0.1};
  const Training training = train(adam, 5);
  double w[2] = {0, 0};
  double mean[2] = {0, 0};
  double square[2] = {0, 0};
  const double x[2] = {1, -3};
  for (int step = 1; step <= 5; ++step) {
    for (int i = 0; i < 2; ++i) {
      const double gradient = w[i] - x[i];
      mean[i] = adam.beta1 * mean[i] + (1 - adam.beta1) * gradient;
      square[i] = adam.beta2 * square[i] + (1 - adam.beta2) * gradient * gradient;
      const double direction = mean[i] / (1 - std::pow(adam.beta1, step));
      w[i] -= adam.rate * direction / (std::sqrt(square[i] / (1 - std::pow(adam.beta2, step))) + adam.epsilon);
      EXPECT_NEAR(training.parameters[static_cast<size_t>(step - 1)][static_cast<size_t>(i)], w[i], 1e-5);
    }
  }
  EXPECT_LT(training.losses[4], training.losses[0]);
}

TEST(TrainingSteps, NameTheirState) {
  GraphBuilder builder;
  const ValueId w = builder.input({DType::Float, {2}});
  builder.name(w, "w");
  const ValueId loss = *builder.add(op("ReduceSumSquare"), {{"axes", Ints{0}}, {"keepdims", int64_t{0}}}, {w});
  const Graph graph = builder.finish({&loss, 1});
  const ValueId parameter = graph.inputs()[0];
  const auto step = make_training_step(graph, graph.outputs()[0], {&parameter, 1}, Adam{});
  ASSERT_TRUE(step) << step.error().message;
  std::vector<std::string> names;
  for (const ValueId input : step->graph.inputs()) names.push_back(step->graph.name(input));
  EXPECT_EQ(names, (std::vector<std::string>{"w", "steps", "mean/w", "square/w"}));
}

TEST(TrainingSteps, LeaveParametersThatDoNotMatter) {
  const Graph graph = parsed(R"(
    input x: f32[]
    input w: f32[]
    y = Exp(w)
    return y)");
  const auto step = make_training_step(graph, graph.outputs()[0], graph.inputs(), Sgd{});
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_EQ(step->parameters, std::vector<size_t>{1});
  EXPECT_EQ(step->graph.outputs().size(), 3U) << "the loss, the new parameter, and its momentum";
}

TEST(TrainingSteps, NeedParametersThatMatter) {
  const Graph graph = parsed(R"(
    input x: f32[]
    input w: f32[2]
    y = Exp(x)
    return y)");
  const ValueId w = graph.inputs()[1];
  const auto step = make_training_step(graph, graph.outputs()[0], {&w, 1}, Sgd{});
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().message, "the loss does not depend on a parameter");
}

TEST(TrainingSteps, NameAParameterThatAdamDoesNotTrain) {
  const Graph graph = parsed(R"(
    input w: f64[2]
    y = ReduceSumSquare(w) {axes=[0], keepdims=0}
    return y)");
  const auto step = make_training_step(graph, graph.outputs()[0], graph.inputs(), Adam{});
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().message, "Adam trains parameters of f32 only; 'w' is f64[2]");
}

TEST(TrainingStepOrder, UpdatesFollowTheirGradients) {
  const Graph network = parsed(
      "input x: f32[4,3]\ninput v: f32[3,3]\ninput w: f32[3,3]\na = MatMul(x, v)\nb = MatMul(a, w)\n"
      "c = Mul(b, b)\nl = ReduceSum(c) {axes=[0,1], keepdims=0}\nreturn l");
  const std::vector<ValueId> parameters = {network.inputs()[1], network.inputs()[2]};
  const TrainingStep step = make_training_step(network, network.outputs()[0], parameters, Sgd{}).value();
  std::vector<std::string> names;
  for (const ValueId input : step.graph.inputs()) names.push_back(step.graph.name(input));
  EXPECT_EQ(names, (std::vector<std::string>{"x", "v", "w", "momentum/v", "momentum/w"}));
  // The gradient for w is there before that for v.
  EXPECT_LT(step.graph.outputs()[2], step.graph.outputs()[1]);
  NodeId last_product = 0;
  for (NodeId id = 0; id < step.graph.nodes().size(); ++id)
    if (step.graph.node(id).op->name == "MatMul") last_product = id;
  EXPECT_LT(step.graph.producer(step.graph.outputs()[2]), last_product);
  // What an update computes from state alone is not there before it is needed.
  const auto readers = step.graph.consumers(step.graph.inputs()[3]);
  ASSERT_EQ(readers.size(), 1U);
  EXPECT_GT(readers[0], last_product);
}

}  // namespace
}  // namespace isomer::testing
