// AlexNet, VGG-16 and SqueezeNet 1.1, as torchvision defines them; SqueezeNet with bypass.

#include "isomer/models/networks.h"

namespace isomer {
namespace {

ValueId conv_relu(Net& net, const std::string& name, ValueId x, ConvLayer layer) {
  layer.bias = true;
  return net.relu(net.conv(name, x, layer));
}

/// Two wide layers and one for the 1000 classes. At this size, the adaptive pool before them does nothing; exporters
/// write it as a pool over single pixels.
ValueId wide_classifier(Net& net, ValueId x, const std::string& first, const std::string& second,
                        const std::string& third) {
  x = net.flatten(net.average_pool(x, {.count_pad = false}));
  x = net.relu(net.linear(first, x, 4096, 2));
  x = net.relu(net.linear(second, x, 4096, 2));
  return net.linear(third, x, 1000);
}

void alexnet(Net& net, int64_t) {
  const PoolLayer half{.kernel = 3, .stride = 2};
  ValueId x = net.input("input", {net.batch(), 3, 224, 224});
  x = conv_relu(net, "features.0", x, {.out = 64, .kernel = 11, .stride = 4, .pad = 2});
  x = net.max_pool(x, half);
  x = conv_relu(net, "features.3", x, {.out = 192, .kernel = 5, .pad = 2});
  x = net.max_pool(x, half);
  x = conv_relu(net, "features.6", x, {.out = 384, .kernel = 3, .pad = 1});
  x = conv_relu(net, "features.8", x, {.out = 256, .kernel = 3, .pad = 1});
  x = conv_relu(net, "features.10", x, {.out = 256, .kernel = 3, .pad = 1});
  x = net.max_pool(x, half);
  net.output(wide_classifier(net, x, "classifier.1", "classifier.4", "classifier.6"), "output");
}

void vgg16(Net& net, int64_t) {
  ValueId x = net.input("input", {net.batch(), 3, 224, 224});
  int index = 0;
  const auto stage = [&](int convs, int64_t out) {
    for (int i = 0; i < convs; ++i, index += 2)
      x = conv_relu(net, "features." + std::to_string(index), x, {.out = out, .kernel = 3, .pad = 1});
    x = net.max_pool(x, {.kernel = 2, .stride = 2});
    ++index;
  };
  stage(2, 64);
  stage(2, 128);
  stage(3, 256);
  stage(3, 512);
  stage(3, 512);
  net.output(wide_classifier(net, x, "classifier.0", "classifier.3", "classifier.6"), "output");
}

ValueId fire(Net& net, int index, ValueId x, int64_t squeeze, int64_t expand) {
  const std::string name = "features." + std::to_string(index);
  x = conv_relu(net, name + ".squeeze", x, {.out = squeeze});
  const ValueId narrow = conv_relu(net, name + ".expand1x1", x, {.out = expand});
  const ValueId wide = conv_relu(net, name + ".expand3x3", x, {.out = expand, .kernel = 3, .pad = 1});
  return net.concat({narrow, wide});
}

void squeezenet(Net& net, int64_t) {
  const PoolLayer half{.kernel = 3, .stride = 2, .ceil = true};
  ValueId x = net.input("input", {net.batch(), 3, 224, 224});
  x = net.max_pool(conv_relu(net, "features.0", x, {.out = 64, .kernel = 3, .stride = 2}), half);
  x = fire(net, 3, x, 16, 64);
  x = net.max_pool(fire(net, 4, x, 16, 64), half);
  x = fire(net, 6, x, 32, 128);
  x = net.max_pool(fire(net, 7, x, 32, 128), half);
  x = fire(net, 9, x, 48, 192);
  x = fire(net, 10, x, 48, 192);
  x = fire(net, 11, x, 64, 256);
  x = fire(net, 12, x, 64, 256);
  net.output(net.pooled_features(conv_relu(net, "classifier.1", x, {.out = 1000})), "output");
}

/// A fire module whose result is added to its input. If the channels differ, a convolution changes those of the input.
ValueId fire_with_bypass(Net& net, int index, ValueId x, int64_t squeeze, int64_t expand) {
  const ValueId out = fire(net, index, x, squeeze, expand);
  if (net.channels(x) != 2 * expand)
    x = conv_relu(net, "features." + std::to_string(index) + ".bypass", x, {.out = 2 * expand});
  return net.sum(out, x);
}

/// The layers are those that result in MetaFlow's published FLOPs and kernels: the first convolution of SqueezeNet 1.1,
/// and pools after the second and the sixth module.
void squeezenet_bypass(Net& net, int64_t) {
  const PoolLayer half{.kernel = 3, .stride = 2};
  ValueId x = net.input("input", {net.batch(), 3, 224, 224});
  x = net.max_pool(conv_relu(net, "features.0", x, {.out = 64, .kernel = 3, .stride = 2}), half);
  x = fire_with_bypass(net, 2, x, 16, 64);
  x = net.max_pool(fire_with_bypass(net, 3, x, 16, 64), half);
  x = fire_with_bypass(net, 4, x, 32, 128);
  x = fire_with_bypass(net, 5, x, 32, 128);
  x = fire_with_bypass(net, 6, x, 48, 192);
  x = net.max_pool(fire_with_bypass(net, 7, x, 48, 192), half);
  x = fire_with_bypass(net, 8, x, 64, 256);
  x = fire_with_bypass(net, 9, x, 64, 256);
  net.output(net.pooled_features(conv_relu(net, "classifier.1", x, {.out = 1000})), "output");
}

}  // namespace

std::vector<Network> classic_networks() {
  return {
      {"squeezenet", "SqueezeNet 1.1 (Iandola et al. 2016), 3x224x224", squeezenet},
      {"squeezenet-bypass", "SqueezeNet with complex bypass, as in MetaFlow, 3x224x224", squeezenet_bypass},
      {"alexnet", "AlexNet (Krizhevsky 2014), 3x224x224", alexnet},
      {"vgg16", "VGG-16 (Simonyan and Zisserman 2014), 3x224x224", vgg16},
  };
}

}  // namespace isomer
