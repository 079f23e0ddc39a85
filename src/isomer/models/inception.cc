// Inception-v3 without its auxiliary classifier, as torchvision defines it, and separate InceptionE blocks.

#include "isomer/models/networks.h"

namespace isomer {
namespace {

/// One convolution of a module with its name.
struct Step {
  const char* name;
  ConvLayer layer;
};

/// Convolution, normalization and relu in Inception-v3; convolution and relu in separate blocks.
class Module {
 public:
  Module(Net& net, std::string name, bool norm = true) : net_(net), name_(std::move(name)), norm_(norm) {}

  ValueId conv(ValueId x, const Step& step) const {
    const std::string name = name_.empty() ? step.name : name_ + "." + step.name;
    if (!norm_) return net_.relu(net_.conv(name, x, step.layer));
    return net_.relu(net_.batch_norm(name + ".bn", net_.conv(name + ".conv", x, step.layer), 1, 1e-3F));
  }

  ValueId chain(ValueId x, const std::vector<Step>& steps) const {
    for (const Step& step : steps) x = conv(x, step);
    return x;
  }

 private:
  Net& net_;
  std::string name_;
  bool norm_;
};

const PoolLayer kAverage{.kernel = 3, .pad = 1};
const PoolLayer kHalf{.kernel = 3, .stride = 2};

ValueId module_a(Net& net, const std::string& name, ValueId x, int64_t pool) {
  const Module m(net, name);
  const ValueId a = m.conv(x, {"branch1x1", {.out = 64}});
  const ValueId b = m.chain(x, {{"branch5x5_1", {.out = 48}}, {"branch5x5_2", {.out = 64, .kernel = 5, .pad = 2}}});
  const ValueId c = m.chain(x, {{"branch3x3dbl_1", {.out = 64}},
                                {"branch3x3dbl_2", {.out = 96, .kernel = 3, .pad = 1}},
                                {"branch3x3dbl_3", {.out = 96, .kernel = 3, .pad = 1}}});
  const ValueId d = m.conv(net.average_pool(x, kAverage), {"branch_pool", {.out = pool}});
  return net.concat({a, b, c, d});
}

ValueId module_b(Net& net, const std::string& name, ValueId x) {
  const Module m(net, name);
  const ValueId a = m.conv(x, {"branch3x3", {.out = 384, .kernel = 3, .stride = 2}});
  const ValueId b = m.chain(x, {{"branch3x3dbl_1", {.out = 64}},
                                {"branch3x3dbl_2", {.out = 96, .kernel = 3, .pad = 1}},
                                {"branch3x3dbl_3", {.out = 96, .kernel = 3, .stride = 2}}});
  return net.concat({a, b, net.max_pool(x, kHalf)});
}

ConvLayer row(int64_t out) { return {.out = out, .kernel = {1, 7}, .pad = {0, 3}}; }
ConvLayer column(int64_t out) { return {.out = out, .kernel = {7, 1}, .pad = {3, 0}}; }

ValueId module_c(Net& net, const std::string& name, ValueId x, int64_t width) {
  const Module m(net, name);
  const ValueId a = m.conv(x, {"branch1x1", {.out = 192}});
  const ValueId b =
      m.chain(x, {{"branch7x7_1", {.out = width}}, {"branch7x7_2", row(width)}, {"branch7x7_3", column(192)}});
  const ValueId c = m.chain(x, {{"branch7x7dbl_1", {.out = width}},
                                {"branch7x7dbl_2", column(width)},
                                {"branch7x7dbl_3", row(width)},
                                {"branch7x7dbl_4", column(width)},
                                {"branch7x7dbl_5", row(192)}});
  const ValueId d = m.conv(net.average_pool(x, kAverage), {"branch_pool", {.out = 192}});
  return net.concat({a, b, c, d});
}

ValueId module_d(Net& net, const std::string& name, ValueId x) {
  const Module m(net, name);
  const ValueId a =
      m.chain(x, {{"branch3x3_1", {.out = 192}}, {"branch3x3_2", {.out = 320, .kernel = 3, .stride = 2}}});
  const ValueId b = m.chain(x, {{"branch7x7x3_1", {.out = 192}},
                                {"branch7x7x3_2", row(192)},
                                {"branch7x7x3_3", column(192)},
                                {"branch7x7x3_4", {.out = 192, .kernel = 3, .stride = 2}}});
  return net.concat({a, b, net.max_pool(x, kHalf)});
}

/// `pooled` is x after the module's pool: an average or (in separate blocks) a maximum.
ValueId module_e(Net& net, const Module& m, ValueId x, ValueId pooled) {
  const ConvLayer row3{.out = 384, .kernel = {1, 3}, .pad = {0, 1}};
  const ConvLayer column3{.out = 384, .kernel = {3, 1}, .pad = {1, 0}};
  const ValueId a = m.conv(x, {"branch1x1", {.out = 320}});
  const ValueId b = m.conv(x, {"branch3x3_1", {.out = 384}});
  const ValueId fork_b = net.concat({m.conv(b, {"branch3x3_2a", row3}), m.conv(b, {"branch3x3_2b", column3})});
  const ValueId c =
      m.chain(x, {{"branch3x3dbl_1", {.out = 448}}, {"branch3x3dbl_2", {.out = 384, .kernel = 3, .pad = 1}}});
  const ValueId fork_c = net.concat({m.conv(c, {"branch3x3dbl_3a", row3}), m.conv(c, {"branch3x3dbl_3b", column3})});
  return net.concat({a, fork_b, fork_c, m.conv(pooled, {"branch_pool", {.out = 192}})});
}

void inception_v3(Net& net, int64_t) {
  const Module stem(net, "");
  ValueId x = net.input("input", {net.batch(), 3, 299, 299});
  x = stem.chain(x, {{"Conv2d_1a_3x3", {.out = 32, .kernel = 3, .stride = 2}},
                     {"Conv2d_2a_3x3", {.out = 32, .kernel = 3}},
                     {"Conv2d_2b_3x3", {.out = 64, .kernel = 3, .pad = 1}}});
  x = stem.chain(net.max_pool(x, kHalf),
                 {{"Conv2d_3b_1x1", {.out = 80}}, {"Conv2d_4a_3x3", {.out = 192, .kernel = 3}}});
  x = module_a(net, "Mixed_5b", net.max_pool(x, kHalf), 32);
  x = module_a(net, "Mixed_5c", x, 64);
  x = module_a(net, "Mixed_5d", x, 64);
  x = module_b(net, "Mixed_6a", x);
  x = module_c(net, "Mixed_6b", x, 128);
  x = module_c(net, "Mixed_6c", x, 160);
  x = module_c(net, "Mixed_6d", x, 160);
  x = module_c(net, "Mixed_6e", x, 192);
  x = module_d(net, "Mixed_7a", x);
  for (const char* name : {"Mixed_7b", "Mixed_7c"})
    x = module_e(net, Module(net, name), x, net.average_pool(x, kAverage));
  net.output(net.linear("fc", net.pooled_features(x), 1000), "output");
}

void inception_e(Net& net, int64_t count) {
  ValueId x = net.input("input", {net.batch(), 1280, 8, 8});
  for (int64_t i = 0; i < count; ++i) {
    const Module m(net, "block" + std::to_string(i), false);
    x = module_e(net, m, x, net.max_pool(x, {.kernel = 3, .pad = 1}));
  }
  net.output(x, "output");
}

}  // namespace

std::vector<Network> inception_networks() {
  return {
      {"inception-v3", "Inception-v3 (Szegedy et al. 2015), 3x299x299", inception_v3},
      {"inception-e-", "InceptionE blocks of 13 operators, 1280x8x8", inception_e, {1, 2, 3, 4}, 64},
  };
}

}  // namespace isomer
