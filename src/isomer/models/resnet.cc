// ResNet and ResNeXt, as torchvision defines them, and separate residual blocks.

#include "isomer/models/networks.h"
#include "isomer/models/weights.h"

namespace isomer {
namespace {

constexpr float kResidualScale = 0.5F;  // of the last normalization in a residual branch; keeps sums from growing

struct Resnet {
  std::vector<int> depths;
  bool bottleneck = true;
  int64_t groups = 1;
  int64_t group_width = 64;
  bool branches = false;  // grouped convolutions as one convolution for each group
};

/// A grouped convolution as separate convolutions on slices of the input, with the same weights.
ValueId conv_branches(Net& net, const std::string& name, ValueId x, ConvLayer layer) {
  const int64_t in = net.channels(x) / layer.group;
  const int64_t out = layer.out / layer.group;
  const Ints dims{out, in, layer.kernel.height, layer.kernel.width};
  const int64_t fan_in = in * layer.kernel.height * layer.kernel.width;
  const Tensor whole = seeded_weight(name + ".weight", {layer.out, in, layer.kernel.height, layer.kernel.width}, 0,
                                     fan_in_radius(fan_in, layer.gain), net.seed());
  const auto all = whole.data<float>();
  const auto groups = static_cast<size_t>(layer.group);
  layer.group = 1;
  const auto slices = net.add_many("Split", {{"axis", int64_t{1}}, {"split", Ints(groups, in)}}, {x}, groups);
  const size_t part = all.size() / groups;
  std::vector<ValueId> results;
  for (size_t i = 0; i < groups; ++i) {
    const auto elements = all.subspan(i * part, part);
    const ValueId weight = net.constant(Tensor::floats(dims, {elements.begin(), elements.end()}),
                                        name + "." + std::to_string(i) + ".weight");
    results.push_back(net.conv_with(slices[i], weight, layer));
  }
  return net.concat(results);
}

ValueId middle(Net& net, const std::string& name, ValueId x, const ConvLayer& layer, bool branches) {
  return branches ? conv_branches(net, name, x, layer) : net.conv(name, x, layer);
}

ValueId block(Net& net, const std::string& name, ValueId x, const Resnet& resnet, int64_t planes, int64_t stride) {
  const int64_t out = resnet.bottleneck ? 4 * planes : planes;
  ValueId y = x;
  if (resnet.bottleneck) {
    const int64_t width = planes * resnet.group_width / 64 * resnet.groups;
    y = net.relu(net.batch_norm(name + ".bn1", net.conv(name + ".conv1", y, {.out = width})));
    y = middle(net, name + ".conv2", y, {.out = width, .kernel = 3, .stride = stride, .pad = 1, .group = resnet.groups},
               resnet.branches);
    y = net.relu(net.batch_norm(name + ".bn2", y));
    y = net.batch_norm(name + ".bn3", net.conv(name + ".conv3", y, {.out = out}), kResidualScale);
  } else {
    y = net.conv(name + ".conv1", y, {.out = out, .kernel = 3, .stride = stride, .pad = 1});
    y = net.relu(net.batch_norm(name + ".bn1", y));
    y = net.conv(name + ".conv2", y, {.out = out, .kernel = 3, .pad = 1});
    y = net.batch_norm(name + ".bn2", y, kResidualScale);
  }
  if (stride != 1 || net.channels(x) != out) {
    x = net.conv(name + ".downsample.0", x, {.out = out, .stride = stride, .gain = 1});
    x = net.batch_norm(name + ".downsample.1", x);
  }
  return net.relu(net.sum(y, x));
}

void build_resnet(Net& net, const Resnet& resnet) {
  ValueId x = net.input("input", {net.batch(), 3, 224, 224});
  x = net.conv("conv1", x, {.out = 64, .kernel = 7, .stride = 2, .pad = 3});
  x = net.max_pool(net.relu(net.batch_norm("bn1", x)), {.kernel = 3, .stride = 2, .pad = 1});
  for (size_t stage = 0; stage < resnet.depths.size(); ++stage) {
    for (int i = 0; i < resnet.depths[stage]; ++i) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
      x = block(net, name, x, resnet, int64_t{64} << stage, i == 0 && stage > 0 ? 2 : 1);
    }
  }
  net.output(net.linear("fc", net.pooled_features(x), 1000), "output");
}

void resnet18(Net& net, int64_t) { build_resnet(net, {.depths = {2, 2, 2, 2}, .bottleneck = false}); }
void resnet50(Net& net, int64_t) { build_resnet(net, {.depths = {3, 4, 6, 3}}); }
void resnext50(Net& net, int64_t) { build_resnet(net, {.depths = {3, 4, 6, 3}, .groups = 32, .group_width = 4}); }
void resnext50_branches(Net& net, int64_t) {
  build_resnet(net, {.depths = {3, 4, 6, 3}, .groups = 32, .group_width = 4, .branches = true});
}

void resnet_blocks(Net& net, int64_t count) {
  ValueId x = net.input("input", {net.batch(), 256, 14, 14});
  for (int64_t i = 0; i < count; ++i) {
    const std::string name = "block" + std::to_string(i);
    const ConvLayer wide{.out = 256, .kernel = 3, .pad = 1};
    const ValueId a = net.relu(net.conv(name + ".conv1", x, wide));
    const ValueId b = net.conv(name + ".conv2", a, {.out = 256, .kernel = 3, .pad = 1, .gain = 1});
    const ValueId c = net.relu(net.conv(name + ".shortcut", x, {.out = 256}));
    x = net.relu(net.sum(b, c));
  }
  net.output(x, "output");
}

}  // namespace

std::vector<Network> resnet_networks() {
  return {
      {"resnet18", "ResNet-18 (He et al. 2015), 3x224x224", resnet18},
      {"resnet50", "ResNet-50 (He et al. 2015), 3x224x224", resnet50},
      {"resnext50", "ResNeXt-50 32x4d (Xie et al. 2016) with grouped convolutions, 3x224x224", resnext50},
      {"resnext50-branches", "ResNeXt-50 32x4d with 32 separate convolutions for each grouped one, 3x224x224",
       resnext50_branches},
      {"resnet-blocks-", "residual blocks of 5 operators, 256x14x14", resnet_blocks, {2, 4, 6, 8}, 64},
  };
}

}  // namespace isomer
