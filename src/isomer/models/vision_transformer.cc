// ViT-B/16, as torchvision defines it.

#include "isomer/models/attention.h"
#include "isomer/models/networks.h"

namespace isomer {
namespace {

constexpr int64_t kImageWidth = 768;
constexpr int64_t kImageHeads = 12;
constexpr int64_t kPatch = 16;
constexpr int64_t kPatches = (224 / kPatch) * (224 / kPatch);
constexpr float kLayerEpsilon = 1e-6F;
constexpr double kImageGain = 0.5;  // of the last projection in a residual branch; keeps sums from growing

ValueId encoder_layer(Net& net, const std::string& name, ValueId x) {
  const std::string self = name + ".self_attention.";
  ValueId y = net.project(self + "in_proj", net.layer_norm(name + ".ln_1", x, kLayerEpsilon), 3 * kImageWidth);
  const auto qkv = net.add_many("Split", {{"axis", int64_t{-1}}, {"split", Ints(3, kImageWidth)}}, {y}, 3);
  y = attention(net, qkv[0], qkv[1], qkv[2], kImageHeads);
  x = net.sum(net.project(self + "out_proj", y, kImageWidth, kImageGain), x);
  y = net.gelu(net.project(name + ".mlp.0", net.layer_norm(name + ".ln_2", x, kLayerEpsilon), 4 * kImageWidth));
  return net.sum(x, net.project(name + ".mlp.3", y, kImageWidth, kImageGain));
}

void vit_b16(Net& net, int64_t) {
  const ValueId image = net.input("input", {net.batch(), 3, 224, 224});
  ValueId x =
      net.conv("conv_proj", image, {.out = kImageWidth, .kernel = kPatch, .stride = kPatch, .bias = true, .gain = 1});
  x = net.transpose(net.reshape(x, {net.batch(), kImageWidth, kPatches}), {0, 2, 1});
  ValueId token = net.uniform("class_token", {1, 1, kImageWidth}, 1);
  if (net.batch() > 1) token = net.add("Expand", {{"shape", Ints{net.batch(), 1, kImageWidth}}}, {token});
  x = net.sum(net.concat({token, x}), net.uniform("encoder.pos_embedding", {1, kPatches + 1, kImageWidth}, 0.1F));
  for (int i = 0; i < 12; ++i) x = encoder_layer(net, "encoder.layers.encoder_layer_" + std::to_string(i), x);
  x = net.layer_norm("encoder.ln", x, kLayerEpsilon);
  x = net.add("Gather", {{"axis", int64_t{1}}}, {x, net.constant(Tensor::ints({}, {0}))});
  net.output(net.linear("heads.head", x, 1000), "output");
}

}  // namespace

std::vector<Network> vision_transformer_networks() {
  return {{"vit-b16", "ViT-B/16 (Dosovitskiy et al. 2020), 3x224x224", vit_b16}};
}

}  // namespace isomer
