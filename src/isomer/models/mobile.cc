// MobileNetV2 and RegNetY-400MF, as torchvision defines them.

#include "isomer/models/networks.h"

namespace isomer {
namespace {

constexpr float kMobileScale = 0.5F;

ValueId conv_norm(Net& net, const std::string& name, ValueId x, const ConvLayer& layer, float scale = 1) {
  return net.batch_norm(name + ".1", net.conv(name + ".0", x, layer), scale);
}

ValueId inverted_residual(Net& net, const std::string& name, ValueId x, int64_t expand, int64_t out, int64_t stride) {
  const int64_t in = net.channels(x);
  const int64_t hidden = in * expand;
  const bool residual = stride == 1 && in == out;
  ValueId y = x;
  int index = 0;
  if (expand != 1) y = net.relu6(conv_norm(net, name + "." + std::to_string(index++), y, {.out = hidden}));
  y = net.relu6(conv_norm(net, name + "." + std::to_string(index++), y,
                          {.out = hidden, .kernel = 3, .stride = stride, .pad = 1, .group = hidden}));
  y = net.conv(name + "." + std::to_string(index), y, {.out = out, .gain = 1});
  y = net.batch_norm(name + "." + std::to_string(index + 1), y, residual ? kMobileScale : 1);
  return residual ? net.sum(x, y) : y;
}

void mobilenet_v2(Net& net, int64_t) {
  struct Stage {
    int64_t expand, out, count, stride;
  };
  ValueId x = net.input("input", {net.batch(), 3, 224, 224});
  x = net.relu6(conv_norm(net, "features.0", x, {.out = 32, .kernel = 3, .stride = 2, .pad = 1}));
  int index = 1;
  for (const Stage& s : {Stage{1, 16, 1, 1}, Stage{6, 24, 2, 2}, Stage{6, 32, 3, 2}, Stage{6, 64, 4, 2},
                         Stage{6, 96, 3, 1}, Stage{6, 160, 3, 2}, Stage{6, 320, 1, 1}}) {
    for (int64_t i = 0; i < s.count; ++i, ++index) {
      const std::string name = "features." + std::to_string(index) + ".conv";
      x = inverted_residual(net, name, x, s.expand, s.out, i == 0 ? s.stride : 1);
    }
  }
  x = net.relu6(conv_norm(net, "features." + std::to_string(index), x, {.out = 1280}));
  net.output(net.linear("classifier.1", net.pooled_features(x), 1000), "output");
}

ValueId squeeze_excite(Net& net, const std::string& name, ValueId x, int64_t squeeze) {
  ValueId gate = net.add("GlobalAveragePool", {}, {x});
  gate = net.relu(net.conv(name + ".fc1", gate, {.out = squeeze, .bias = true}));
  gate = net.sigmoid(net.conv(name + ".fc2", gate, {.out = net.channels(x), .bias = true, .gain = 1}));
  return net.product(gate, x);
}

ValueId regnet_block(Net& net, const std::string& name, ValueId x, int64_t width, int64_t stride) {
  const int64_t in = net.channels(x);
  ValueId shortcut = x;
  if (in != width || stride != 1)
    shortcut = conv_norm(net, name + ".proj", x, {.out = width, .stride = stride, .gain = 1});
  ValueId y = net.relu(conv_norm(net, name + ".f.a", x, {.out = width}));
  y = net.relu(
      conv_norm(net, name + ".f.b", y, {.out = width, .kernel = 3, .stride = stride, .pad = 1, .group = width / 8}));
  y = squeeze_excite(net, name + ".f.se", y, (in + 2) / 4);
  return net.relu(net.sum(shortcut, conv_norm(net, name + ".f.c", y, {.out = width, .gain = 4}, kMobileScale)));
}

void regnet_y_400mf(Net& net, int64_t) {
  const std::vector<int64_t> widths{48, 104, 208, 440};
  const std::vector<int> depths{1, 3, 6, 6};
  ValueId x = net.input("input", {net.batch(), 3, 224, 224});
  x = net.relu(conv_norm(net, "stem", x, {.out = 32, .kernel = 3, .stride = 2, .pad = 1}));
  for (size_t stage = 0; stage < widths.size(); ++stage) {
    for (int i = 0; i < depths[stage]; ++i) {
      const std::string name = fmt::format("trunk_output.block{0}.block{0}-{1}", stage + 1, i);
      x = regnet_block(net, name, x, widths[stage], i == 0 ? 2 : 1);
    }
  }
  net.output(net.linear("fc", net.pooled_features(x), 1000), "output");
}

}  // namespace

std::vector<Network> mobile_networks() {
  return {
      {"mobilenet-v2", "MobileNetV2 (Sandler et al. 2018), 3x224x224", mobilenet_v2},
      {"regnet-y-400mf", "RegNetY-400MF (Radosavovic et al. 2020), 3x224x224", regnet_y_400mf},
  };
}

}  // namespace isomer
