#include "isomer/models/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "isomer/ir/verify_testing.h"

namespace isomer {
namespace {

using ::testing::HasSubstr;

/// The number of learned parameters as frameworks count them, without statistics of normalizations and scalar
/// constants.
int64_t parameters(const Graph& graph) {
  std::set<ValueId> statistics;
  for (const Node& node : graph.nodes()) {
    if (node.op->name != "BatchNormalization") continue;
    statistics.insert(graph.operands(node)[3]);
    statistics.insert(graph.operands(node)[4]);
  }
  int64_t total = 0;
  for (const Node& node : graph.nodes()) {
    if (!node.is_constant() || statistics.contains(node.result())) continue;
    const Tensor& data = node.attrs.tensor("value");
    if (data.dtype() == DType::Float && !data.dims().empty()) total += data.element_count();
  }
  return total;
}

std::vector<int64_t> extents(const Graph& graph, ValueId value) { return *concrete(*graph.type(value).shape); }

/// Billions of multiply-adds in convolutions and products, as in published figures.
double giga_macs(const Graph& graph) {
  double flops = 0;
  for (const Node& node : graph.nodes()) {
    if (node.op->name != "Conv" && node.op->name != "Gemm" && node.op->name != "MatMul") continue;
    std::vector<std::vector<int64_t>> operands;
    for (const ValueId operand : graph.operands(node)) operands.push_back(extents(graph, operand));
    const std::vector<std::vector<int64_t>> results{extents(graph, node.result())};
    flops += node.op->flops(WorkView{node.attrs, operands, results});
  }
  return flops / 2e9;
}

/// The number of operators by name, without inputs and constants.
std::map<std::string, int> operators(const Graph& graph) {
  std::map<std::string, int> counts;
  for (const Node& node : graph.nodes())
    if (!node.is_input() && !node.is_constant()) ++counts[node.op->name];
  return counts;
}

int operator_count(const Graph& graph) {
  int total = 0;
  for (const auto& [name, count] : operators(graph)) total += count;
  return total;
}

Graph built(const std::string& name, int batch = 1, uint64_t seed = 0) {
  auto graph = build_model(name, batch, seed);
  EXPECT_TRUE(graph.has_value()) << graph.error().message;
  return graph ? std::move(*graph) : Graph();
}

// Every network. ---------------------------------------------------------------------------------------------------

class EveryModel : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryModel, IsWellFormed) {
  const Graph graph = built(GetParam());
  const Status status = verify_graph(graph);
  EXPECT_TRUE(status.has_value()) << status.error().message;
  for (const ValueId input : graph.inputs()) EXPECT_FALSE(graph.name(input).empty());
  for (const ValueId output : graph.outputs()) EXPECT_FALSE(graph.is_constant_derived(output));
  for (const Node& node : graph.nodes()) {
    if (!node.is_constant() || node.attrs.tensor("value").element_count() <= 1) continue;
    EXPECT_FALSE(graph.name(node.result()).empty()) << "a weight has no name";
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const ModelEntry& entry : all_models()) all.push_back(entry.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, ::testing::ValuesIn(names()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Published figures. -----------------------------------------------------------------------------------------------

struct Published {
  std::string name;
  int64_t parameters;
  double giga_macs;
};

class PublishedModel : public ::testing::TestWithParam<Published> {};

TEST_P(PublishedModel, HasThePublishedSize) {
  const Graph graph = built(GetParam().name);
  EXPECT_EQ(parameters(graph), GetParam().parameters);
  EXPECT_NEAR(giga_macs(graph), GetParam().giga_macs, 0.01 * GetParam().giga_macs);
  EXPECT_EQ(extents(graph, graph.outputs()[0]), (std::vector<int64_t>{1, 1000}));
}

// From torchvision's documentation of its weights. The count there for Inception-v3 includes the auxiliary classifier,
// which is subtracted here. For NASNet-A: the parameters of ports of the published weights, and the paper's
// multiply-adds.
INSTANTIATE_TEST_SUITE_P(
    Models, PublishedModel,
    ::testing::Values(Published{"squeezenet", 1235496, 0.349}, Published{"alexnet", 61100840, 0.714},
                      Published{"vgg16", 138357544, 15.47}, Published{"resnet18", 11689512, 1.814},
                      Published{"resnet50", 25557032, 4.089}, Published{"resnext50", 25028904, 4.23},
                      Published{"resnext50-branches", 25028904, 4.23}, Published{"inception-v3", 23834568, 5.713},
                      Published{"googlenet", 6624904, 1.498}, Published{"densenet121", 7978856, 2.834},
                      Published{"mobilenet-v2", 3504872, 0.301}, Published{"regnet-y-400mf", 4344144, 0.402},
                      Published{"vit-b16", 86567656, 17.564}, Published{"nasnet-mobile", 5289978, 0.564},
                      Published{"nasnet-large", 88753150, 23.8}),
    [](const auto& test) {
      std::string name = test.param.name;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

// Networks defined here. -------------------------------------------------------------------------------------------

TEST(Models, CountsOperatorsOfDefinedNetworks) {
  EXPECT_EQ(operator_count(built("nasrnn")), 230);
  EXPECT_EQ(operator_count(built("nasrnn-untied")), 230);
  EXPECT_EQ(operator_count(built("sru-11")), 11);
  EXPECT_EQ(operator_count(built("sru")), 15);
  EXPECT_EQ(operator_count(built("rnntc")), 10 * 15);
  EXPECT_EQ(operator_count(built("nmt")), 40 * 15);
  EXPECT_EQ(operator_count(built("bert-8")), 113);
  // These counts combine a convolution with its Relu, which is a separate node here.
  EXPECT_EQ(operator_count(built("inception-e-1")), 13 + 9);
  EXPECT_EQ(operator_count(built("resnet-blocks-4")), 4 * (5 + 2));
}

/// Work as MetaFlow counts it: a multiply-add is one operation, and so are each bias and relu of a convolution, each
/// element under a pool's window and each sum.
double metaflow_flops(const Graph& graph) {
  double elements = 0;
  for (const Node& node : graph.nodes()) {
    const auto result = extents(graph, node.result());
    const double size = std::accumulate(result.begin(), result.end(), 1.0, std::multiplies<>());
    if (node.op->name == "Conv" || node.op->name == "Relu" || node.op->name == "Add") elements += size;
    if (node.op->name == "MaxPool") elements += 9 * size;
    if (node.op->name == "GlobalAveragePool") elements += 13.0 * 13 * size;
  }
  return 1e9 * giga_macs(graph) + elements;
}

TEST(Models, SqueezenetWithBypassIsMetaflows) {
  const Graph graph = built("squeezenet-bypass");
  EXPECT_NEAR(metaflow_flops(graph), 0.6364e9, 0.00005e9);  // MetaFlow's Figure 11, as are the 50 launches
  const auto counts = operators(graph);
  EXPECT_EQ(counts.at("Conv") + counts.at("Concat") + counts.at("Add") + counts.at("MaxPool") +
                counts.at("GlobalAveragePool"),
            50);
  EXPECT_EQ(extents(graph, graph.outputs()[0]), (std::vector<int64_t>{1, 1000}));
}

TEST(Models, TiesWeightsOverSteps) {
  EXPECT_EQ(parameters(built("nasrnn")), 16 * 512 * 512 + 512);
  EXPECT_EQ(parameters(built("nasrnn-untied")), 5 * 16 * 512 * 512 + 512);
  EXPECT_EQ(parameters(built("rnntc")), parameters(built("sru")));
  EXPECT_EQ(parameters(built("sru")), 3 * 1024 * 1024 + 2 * 1024);
  EXPECT_EQ(parameters(built("lstm")), 2 * 8 * (512 * 512 + 512) + 513 * 1000);
}

TEST(Models, CountsParametersOfTransformers) {
  EXPECT_EQ(parameters(built("bert-base")), 12 * 7087872);
  EXPECT_EQ(parameters(built("gpt2-4")), 4 * 7087872);
  EXPECT_EQ(parameters(built("bert-8")), 8 * 4 * 1024 * 1024);
}

TEST(Models, NasnetAHasItsCells) {
  const Graph graph = built("nasnet-a");
  EXPECT_EQ(extents(graph, graph.outputs()[0]), (std::vector<int64_t>{1, 5120, 7, 7}));
  const auto counts = operators(graph);
  // A normal cell has two equal average pools, which are shared.
  EXPECT_EQ(counts.at("AveragePool"), 15 * 2 + 3 * 2);
  EXPECT_EQ(counts.at("Conv"), 1 + 15 * (2 + 5 * 2) + 3 * (2 + 5 * 2));
}

TEST(Models, GroupsAndBranchesHaveTheSameWeights) {
  const Graph groups = built("resnext50");
  const Graph branches = built("resnext50-branches");
  EXPECT_EQ(operators(groups).at("Conv"), 53);
  EXPECT_EQ(operators(branches).at("Conv"), 53 - 16 + 16 * 32);
  const auto find = [](const Graph& graph, const std::string& name) -> const Tensor* {
    for (const Node& node : graph.nodes())
      if (node.is_constant() && graph.name(node.result()) == name) return graph.constant(node.result());
    return nullptr;
  };
  const Tensor* whole = find(groups, "layer1.0.conv2.weight");
  const Tensor* second = find(branches, "layer1.0.conv2.1.weight");
  ASSERT_TRUE(whole != nullptr && second != nullptr);
  constexpr size_t kGroup = 144;  // 4 x 4 channels, 3 x 3
  const auto part = whole->data<float>().subspan(kGroup, kGroup);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), second->data<float>().begin()));
}

// Options. ---------------------------------------------------------------------------------------------------------

TEST(Models, SameSeedSameGraph) {
  for (const char* name : {"squeezenet", "sru", "nasrnn", "inception-e-1", "bert-8"}) {
    const uint64_t hash = built(name).hash();
    EXPECT_EQ(built(name).hash(), hash) << name;
    EXPECT_NE(built(name, 1, 1).hash(), hash) << name;
  }
}

TEST(Models, TakeABatch) {
  for (const char* name :
       {"squeezenet", "mobilenet-v2", "nasnet-mobile", "nasnet-a", "nasrnn", "sru", "resnet-blocks-2"}) {
    const Graph graph = built(name, 4);
    EXPECT_TRUE(verify_graph(graph)) << name;
    EXPECT_EQ(extents(graph, graph.inputs()[0])[0], 4) << name;
    EXPECT_EQ(extents(graph, graph.outputs()[0])[0], 4) << name;
  }
  const Graph bert = built("bert-8", 16);
  EXPECT_EQ(extents(bert, bert.inputs()[0]), (std::vector<int64_t>{16, 64, 1024}));
  EXPECT_EQ(operator_count(bert), 113);
  const Graph gpt = built("gpt2-4", 3);
  EXPECT_EQ(extents(gpt, gpt.outputs()[0]), (std::vector<int64_t>{3, 128, 768}));
  const Graph vit = built("vit-b16", 2);
  EXPECT_EQ(extents(vit, vit.outputs()[0]), (std::vector<int64_t>{2, 1000}));
}

TEST(Models, ReadsNumbersInNames) {
  const Graph sru = built("sru-m10");
  EXPECT_EQ(extents(sru, sru.inputs()[0]), (std::vector<int64_t>{10, 1024}));
  const Graph bert = built("bert-base-128");
  EXPECT_EQ(extents(bert, bert.inputs()[0]), (std::vector<int64_t>{128, 768}));
  EXPECT_EQ(operators(built("resnet-blocks-3")).at("Conv"), 9);
}

TEST(Models, RefusesWhatIsNotThere) {
  const auto message = [](const std::string& name, int batch = 1) {
    const auto graph = build_model(name, batch);
    return graph ? std::string() : graph.error().message;
  };
  EXPECT_THAT(message("resnet51"), HasSubstr("did you mean resnet50, resnet18 or resnext50?"));
  EXPECT_THAT(message("nasnet"), HasSubstr("nasnet-a"));
  EXPECT_EQ(message("qqqqqqqqqq"), "there is no network 'qqqqqqqqqq'");
  EXPECT_THAT(message(""), HasSubstr("there is no network ''"));
  EXPECT_THAT(message("resnet-blocks-0"), HasSubstr("there is no network"));
  EXPECT_THAT(message("resnet-blocks-99"), HasSubstr("from 1 to 64"));
  EXPECT_THAT(message("resnet-blocks-99999999999999999999"), HasSubstr("there is no network"));
  EXPECT_THAT(message("squeezenet", 0), HasSubstr("batch"));
  EXPECT_THAT(message("squeezenet", -3), HasSubstr("batch"));
}

}  // namespace
}  // namespace isomer
