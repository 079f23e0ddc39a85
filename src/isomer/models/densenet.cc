// DenseNet-121, as torchvision defines it.

#include "isomer/models/networks.h"

namespace isomer {
namespace {

constexpr int64_t kGrowth = 32;

ValueId norm_relu_conv(Net& net, const std::string& prefix, const std::string& suffix, ValueId x,
                       const ConvLayer& layer) {
  x = net.relu(net.batch_norm(prefix + "norm" + suffix, x));
  return net.conv(prefix + "conv" + suffix, x, layer);
}

ValueId dense_block(Net& net, const std::string& name, ValueId x, int layers) {
  std::vector<ValueId> features{x};
  for (int i = 1; i <= layers; ++i) {
    const std::string prefix = name + ".denselayer" + std::to_string(i) + ".";
    ValueId y = features.size() == 1 ? x : net.concat(features);
    y = norm_relu_conv(net, prefix, "1", y, {.out = 4 * kGrowth});
    features.push_back(norm_relu_conv(net, prefix, "2", y, {.out = kGrowth, .kernel = 3, .pad = 1}));
  }
  return net.concat(features);
}

void densenet121(Net& net, int64_t) {
  ValueId x = net.input("input", {net.batch(), 3, 224, 224});
  x = net.conv("features.conv0", x, {.out = 64, .kernel = 7, .stride = 2, .pad = 3});
  x = net.max_pool(net.relu(net.batch_norm("features.norm0", x)), {.kernel = 3, .stride = 2, .pad = 1});
  const std::vector<int> depths{6, 12, 24, 16};
  for (size_t i = 0; i < depths.size(); ++i) {
    x = dense_block(net, "features.denseblock" + std::to_string(i + 1), x, depths[i]);
    if (i + 1 == depths.size()) break;
    const std::string prefix = "features.transition" + std::to_string(i + 1) + ".";
    x = norm_relu_conv(net, prefix, "", x, {.out = net.channels(x) / 2});
    x = net.average_pool(x, {.kernel = 2, .stride = 2});
  }
  x = net.relu(net.batch_norm("features.norm5", x));
  net.output(net.linear("classifier", net.pooled_features(x), 1000), "output");
}

}  // namespace

std::vector<Network> densenet_networks() {
  return {{"densenet121", "DenseNet-121 (Huang et al. 2016), 3x224x224", densenet121}};
}

}  // namespace isomer
