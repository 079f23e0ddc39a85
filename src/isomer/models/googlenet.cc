// GoogLeNet without its auxiliary classifiers, as torchvision defines it.

#include "isomer/models/networks.h"

namespace isomer {
namespace {

ValueId conv(Net& net, const std::string& name, ValueId x, const ConvLayer& layer) {
  return net.relu(net.batch_norm(name + ".bn", net.conv(name + ".conv", x, layer), 1, 1e-3F));
}

struct Widths {
  int64_t one, reduce3, three, reduce5, five, pool;
};

/// The third branch has a 3x3 kernel instead of the paper's 5x5, as in torchvision, whose published figures are for
/// this variant.
ValueId module(Net& net, const std::string& name, ValueId x, const Widths& w) {
  const ValueId a = conv(net, name + ".branch1", x, {.out = w.one});
  ValueId b = conv(net, name + ".branch2.0", x, {.out = w.reduce3});
  b = conv(net, name + ".branch2.1", b, {.out = w.three, .kernel = 3, .pad = 1});
  ValueId c = conv(net, name + ".branch3.0", x, {.out = w.reduce5});
  c = conv(net, name + ".branch3.1", c, {.out = w.five, .kernel = 3, .pad = 1});
  ValueId d = net.max_pool(x, {.kernel = 3, .pad = 1, .ceil = true});
  d = conv(net, name + ".branch4.1", d, {.out = w.pool});
  return net.concat({a, b, c, d});
}

void googlenet(Net& net, int64_t) {
  const PoolLayer half{.kernel = 3, .stride = 2, .ceil = true};
  ValueId x = net.input("input", {net.batch(), 3, 224, 224});
  x = conv(net, "conv1", x, {.out = 64, .kernel = 7, .stride = 2, .pad = 3});
  x = conv(net, "conv2", net.max_pool(x, half), {.out = 64});
  x = conv(net, "conv3", x, {.out = 192, .kernel = 3, .pad = 1});
  x = module(net, "inception3a", net.max_pool(x, half), {64, 96, 128, 16, 32, 32});
  x = module(net, "inception3b", x, {128, 128, 192, 32, 96, 64});
  x = module(net, "inception4a", net.max_pool(x, half), {192, 96, 208, 16, 48, 64});
  x = module(net, "inception4b", x, {160, 112, 224, 24, 64, 64});
  x = module(net, "inception4c", x, {128, 128, 256, 24, 64, 64});
  x = module(net, "inception4d", x, {112, 144, 288, 32, 64, 64});
  x = module(net, "inception4e", x, {256, 160, 320, 32, 128, 128});
  x = net.max_pool(x, {.kernel = 2, .stride = 2, .ceil = true});
  x = module(net, "inception5a", x, {256, 160, 320, 32, 128, 128});
  x = module(net, "inception5b", x, {384, 192, 384, 48, 128, 128});
  net.output(net.linear("fc", net.pooled_features(x), 1000), "output");
}

}  // namespace

std::vector<Network> googlenet_networks() {
  return {{"googlenet", "GoogLeNet (Szegedy et al. 2014) with batch normalization, 3x224x224", googlenet}};
}

}  // namespace isomer
