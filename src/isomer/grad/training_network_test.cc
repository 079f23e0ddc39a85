#include "isomer/grad/training_network.h"

#include <map>

#include "isomer/grad/testing.h"
#include "isomer/models/models.h"

namespace isomer::testing {
namespace {

/// Runs some steps on the same random batch. Returns the losses.
std::vector<float> train(const TrainingNetwork& network, int steps) {
  std::vector<Tensor> inputs = network.initial;
  std::map<std::string, size_t> by_name;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId input = network.graph.inputs()[i];
    by_name["new/" + network.graph.name(input)] = i;
    if (!inputs[i].empty()) continue;
    const TensorType& type = network.graph.type(input);
    inputs[i] = random_tensor(type.dtype, *concrete(*type.shape), i);
  }
  std::vector<float> losses;
  for (int step = 0; step < steps; ++step) {
    const std::vector<Tensor> outputs = run_or_throw(network.graph, inputs);
    losses.push_back(outputs[0].data<float>()[0]);
    for (size_t i = 1; i < outputs.size(); ++i) {
      const auto target = by_name.find(network.graph.name(network.graph.outputs()[i]));
      if (target == by_name.end()) {
        ADD_FAILURE() << network.graph.name(network.graph.outputs()[i]);
        continue;
      }
      inputs[target->second] = outputs[i];
    }
  }
  return losses;
}

TEST(TrainingNetworks, LearnABatch) {
  const std::vector<std::pair<std::string, Optimizer>> cases = {{"nasrnn", Sgd{.rate = 0.1}}, {"sru", Adam{}}};
  for (const auto& [name, optimizer] : cases) {
    SCOPED_TRACE(name);
    const auto network = training_network(name, 2, 0, optimizer);
    ASSERT_TRUE(network) << network.error().message;
    const std::vector<float> losses = train(*network, 3);
    EXPECT_LT(losses[1], losses[0]);
    EXPECT_LT(losses[2], losses[1]);
  }
}

class AllTrainingNetworks : public ::testing::TestWithParam<std::string> {};

/// Every new value replaces an input of the same type.
TEST_P(AllTrainingNetworks, ReplaceTheirInputs) {
  const auto network = training_network(GetParam(), 1, 0, Sgd{});
  ASSERT_TRUE(network) << network.error().message;
  const Graph& graph = network->graph;
  std::map<std::string, ValueId> inputs;
  size_t replaceable = 0;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    inputs["new/" + graph.name(graph.inputs()[i])] = graph.inputs()[i];
    replaceable += network->initial[i].empty() ? 0 : 1;
  }
  EXPECT_EQ(graph.outputs().size(), replaceable + 1);
  for (const ValueId output : graph.outputs().subspan(1)) {
    const auto input = inputs.find(graph.name(output));
    ASSERT_NE(input, inputs.end()) << graph.name(output);
    EXPECT_EQ(graph.type(output), graph.type(input->second));
  }
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const ModelEntry& entry : all_models()) names.push_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, AllTrainingNetworks, ::testing::ValuesIn(all_names()));

}  // namespace
}  // namespace isomer::testing
