// Gradients of whole networks.

#include "isomer/grad/testing.h"
#include "isomer/ir/copy.h"
#include "isomer/models/models.h"

namespace isomer::testing {
namespace {

/// Builds small networks in double precision. Their weights are inputs, too.
class SmallNet {
 public:
  ValueId input(const std::vector<int64_t>& dims, double low = -1, double high = 1) {
    inputs_.push_back(uniform_tensor(dims, inputs_.size() + 1, low, high));
    return builder_.input(inputs_.back().type());
  }
  ValueId add(const char* name, const Attrs& attrs, std::initializer_list<ValueId> operands) {
    const auto value = builder_.add(op(name), attrs, operands);
    EXPECT_TRUE(value.has_value()) << name << ": " << (value ? "" : value.error().message);
    return *value;
  }
  ValueId add(const char* name, std::initializer_list<ValueId> operands) { return add(name, {}, operands); }
  ValueId number(double value) { return builder_.constant(Tensor::of<double>(DType::Double, {}, {value})); }
  ValueId constant(Tensor tensor) { return builder_.constant(std::move(tensor)); }
  std::vector<ValueId> split(ValueId x, int64_t axis, const Ints& parts) {
    const NodeId id = *builder_.node(op("Split"), {{"axis", axis}, {"split", parts}}, {&x, 1}, parts.size());
    std::vector<ValueId> out;
    for (uint32_t i = 0; i < parts.size(); ++i) out.push_back(builder_.at(id).result(i));
    return out;
  }

  GradientCase finish(ValueId loss) {
    Graph graph = builder_.finish({&loss, 1});
    const ValueId output = graph.outputs()[0];
    return {std::move(graph), output, std::move(inputs_)};
  }

 private:
  GraphBuilder builder_;
  std::vector<Tensor> inputs_;
};

Attrs window(int64_t kernel, int64_t stride, int64_t pad) {
  return {{"kernel_shape", Ints{kernel, kernel}},
          {"strides", Ints{stride, stride}},
          {"dilations", Ints{1, 1}},
          {"pads", Ints{pad, pad, pad, pad}}};
}

TEST(SmallNetworks, Convolutional) {
  SmallNet net;
  const ValueId image = net.input({2, 2, 7, 7});
  ValueId y = net.add("Conv", window(3, 1, 1).without("kernel_shape"), {image, net.input({4, 2, 3, 3})});
  y = net.add("BatchNormalization",
              {y, net.input({4}, 0.5, 2), net.input({4}), net.input({4}), net.input({4}, 0.5, 2)});
  y = net.add("Relu", {y});
  const ValueId shortcut = net.add("MaxPool", window(3, 2, 1), {y});
  y = net.add("Conv", window(3, 2, 1).without("kernel_shape").with("group", int64_t{2}),
              {y, net.input({4, 2, 3, 3}), net.input({4})});
  y = net.add("Add", {net.add("Sigmoid", {y}), shortcut});
  y = net.add("Flatten", {net.add("AveragePool", window(2, 2, 0), {y})});
  y = net.add("Gemm", {{"transB", int64_t{1}}}, {y, net.input({3, 16}), net.input({3})});
  expect_finite_differences(
      net.finish(net.add("SoftmaxCrossEntropyLoss", {y, net.constant(Tensor::ints({2}, {2, 0}))})), 1e-5);
}

TEST(SmallNetworks, Recurrent) {
  SmallNet net;
  const ValueId w = net.input({3, 16});
  const ValueId r = net.input({4, 16});
  const ValueId bias = net.input({16});
  ValueId h = net.input({2, 4});
  ValueId c = net.input({2, 4});
  for (int step = 0; step < 3; ++step) {
    const ValueId sum = net.add("Add", {net.add("MatMul", {net.input({2, 3}), w}), net.add("MatMul", {h, r})});
    const auto gates = net.split(net.add("Add", {sum, bias}), 1, {4, 4, 4, 4});
    const ValueId candidate = net.add("Mul", {net.add("Sigmoid", {gates[0]}), net.add("Tanh", {gates[1]})});
    c = net.add("Add", {net.add("Mul", {net.add("Sigmoid", {gates[2]}), c}), candidate});
    h = net.add("Mul", {net.add("Sigmoid", {gates[3]}), net.add("Tanh", {c})});
  }
  expect_finite_differences(
      net.finish(net.add("ReduceSumSquare", {{"axes", Ints{0, 1}}, {"keepdims", int64_t{0}}}, {h})), 1e-5);
}

TEST(SmallNetworks, Transformer) {
  SmallNet net;
  const ValueId table = net.input({7, 8});
  const ValueId x = net.add("Gather", {table, net.constant(Tensor::ints({2, 3}, {1, 2, 6, 2, 2, 0}))});
  const auto heads = [&](ValueId weight, const Ints& perm) {
    const ValueId y = net.add("Reshape", {{"shape", Ints{2, 3, 2, 4}}}, {net.add("MatMul", {x, weight})});
    return net.add("Transpose", {{"perm", perm}}, {y});
  };
  const ValueId q = heads(net.input({8, 8}), {0, 2, 1, 3});
  const ValueId k = heads(net.input({8, 8}), {0, 2, 3, 1});
  const ValueId v = heads(net.input({8, 8}), {0, 2, 1, 3});
  const ValueId scores = net.add("Div", {net.add("MatMul", {q, k}), net.number(2)});
  ValueId y = net.add("MatMul", {net.add("Softmax", {scores}), v});
  y = net.add("Reshape", {{"shape", Ints{2, 3, 8}}}, {net.add("Transpose", {{"perm", Ints{0, 2, 1, 3}}}, {y})});
  y = net.add("LayerNormalization", {net.add("Add", {x, y}), net.input({8}, 0.5, 2), net.input({8})});
  const ValueId hidden = net.add("Gelu", {net.add("Add", {net.add("MatMul", {y, net.input({8, 6})}), net.input({6})})});
  y = net.add("Add", {y, net.add("MatMul", {hidden, net.input({6, 8})})});
  const ValueId logits = net.add("MatMul", {y, net.add("Transpose", {{"perm", Ints{1, 0}}}, {table})});
  const ValueId flat = net.add("Reshape", {{"shape", Ints{6, 7}}}, {logits});
  expect_finite_differences(
      net.finish(net.add("SoftmaxCrossEntropyLoss", {flat, net.constant(Tensor::ints({6}, {0, 1, 2, 3, 4, 5}))})),
      1e-5);
}

class BenchmarkNetworks : public ::testing::TestWithParam<std::string> {};

/// A loss over all outputs, and its gradient for every weight.
TEST_P(BenchmarkNetworks, HaveGradients) {
  const auto built = build_model(GetParam());
  ASSERT_TRUE(built) << built.error().message;
  GraphBuilder builder;
  std::vector<ValueId> weights;
  const auto copies =
      copy_values(builder, *built, [&](ValueId input) -> Result<ValueId> { return builder.input(built->type(input)); });
  ASSERT_TRUE(copies) << copies.error().message;
  for (const Node& node : built->nodes())
    if (node.is_constant() && is_real(built->type(node.result()).dtype)) weights.push_back((*copies)[node.result()]);
  ValueId loss = builder.constant(Tensor::floats({}, {0}));
  for (const ValueId output : built->outputs()) {
    const ValueId y = (*copies)[output];
    Ints axes;
    for (size_t i = 0; i < builder.type(y).rank(); ++i) axes.push_back(static_cast<int64_t>(i));
    const ValueId sum = *builder.add(op("ReduceMean"), {{"axes", axes}, {"keepdims", int64_t{0}}}, {y});
    loss = *builder.add(op("Add"), {}, {loss, sum});
  }
  const auto gradients = add_gradients(builder, loss, weights);
  ASSERT_TRUE(gradients) << gradients.error().message;
  EXPECT_TRUE(std::ranges::any_of(*gradients, [](ValueId gradient) { return gradient != kNoValue; }));
  for (size_t i = 0; i < weights.size(); ++i) {
    if ((*gradients)[i] == kNoValue) continue;
    EXPECT_EQ(builder.type((*gradients)[i]), builder.type(weights[i]));
  }
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const ModelEntry& entry : all_models()) names.push_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, BenchmarkNetworks, ::testing::ValuesIn(network_names()),
                         [](const ::testing::TestParamInfo<std::string>& network) {
                           std::string name = network.param;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace isomer::testing
