// NASNet-A in the form that TASO and OCGGS optimize: no normalization, plain separable convolutions.

#include "isomer/models/networks.h"

namespace isomer {
namespace {

/// One cell. Its operations are numbered, so that every separable convolution has its own weights.
class Cell {
 public:
  Cell(Net& net, std::string name, ValueId previous, ValueId current, int64_t channels)
      : net_(net), name_(std::move(name)), channels_(channels) {
    h_ = net_.relu(net_.conv(name_ + ".squeeze", current, {.out = channels_, .gain = kGain}));
    const ConvLayer half{.out = channels_, .kernel = 3, .stride = 2, .pad = 1, .gain = kGain};
    const bool larger = net_.extents(previous)[2] != net_.extents(current)[2];
    p_ = net_.relu(net_.conv(name_ + ".fit", previous, larger ? half : ConvLayer{.out = channels_, .gain = kGain}));
  }

  ValueId normal() {
    const ValueId a = net_.sum(separable(h_, 3, 1), h_);
    const ValueId b = net_.sum(separable(p_, 3, 1), separable(h_, 3, 1));
    const ValueId c = net_.sum(average(h_, 1), p_);
    const ValueId d = net_.sum(average(p_, 1), average(p_, 1));
    const ValueId e = net_.sum(separable(p_, 3, 1), separable(p_, 3, 1));
    return net_.concat({a, b, c, d, e});
  }

  ValueId reduction() {
    const ValueId a = net_.sum(separable(p_, 7, 2), separable(h_, 5, 2));
    const ValueId b = net_.sum(maximum(h_), separable(p_, 7, 2));
    const ValueId d = net_.sum(average(h_, 2), separable(p_, 5, 2));
    const ValueId e = net_.sum(maximum(h_), separable(a, 3, 1));
    const ValueId f = net_.sum(average(a, 1), b);
    return net_.concat({a, b, d, e, f});
  }

 private:
  static constexpr double kGain = 1.3;  // below 2, because the sums and pools of a cell increase its outputs

  ValueId separable(ValueId x, int64_t kernel, int64_t stride) {
    const std::string name = name_ + ".sep" + std::to_string(count_++);
    x = net_.conv(
        name + ".depthwise", x,
        {.out = channels_, .kernel = kernel, .stride = stride, .pad = kernel / 2, .group = channels_, .gain = 1});
    return net_.conv(name + ".pointwise", x, {.out = channels_, .gain = 1});
  }
  ValueId average(ValueId x, int64_t stride) { return net_.average_pool(x, {.kernel = 3, .stride = stride, .pad = 1}); }
  ValueId maximum(ValueId x) { return net_.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1}); }

  Net& net_;
  std::string name_;
  int64_t channels_;
  ValueId h_ = kNoValue;
  ValueId p_ = kNoValue;
  int count_ = 0;
};

void nasnet_a(Net& net, int64_t) {
  ValueId x = net.input("input", {net.batch(), 3, 224, 224});
  x = net.relu(net.conv("stem", x, {.out = 64, .kernel = 7, .stride = 2, .pad = 3}));
  x = net.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1});
  int64_t channels = 128;
  for (int stage = 0; stage < 3; ++stage) {
    const std::string prefix = "stage" + std::to_string(stage);
    ValueId previous = x;
    ValueId current = x;
    for (int i = 0; i < 5; ++i) {
      const ValueId next = Cell(net, prefix + ".cell" + std::to_string(i), previous, current, channels).normal();
      previous = current;
      current = next;
    }
    channels *= 2;
    x = Cell(net, prefix + ".reduction", previous, current, channels).reduction();
  }
  net.output(x, "output");
}

}  // namespace

std::vector<Network> nasnet_a_networks() {
  return {
      {"nasnet-a", "NASNet-A as TASO and OCGGS have it: 3 x (5 normal cells and a reduction), 3x224x224", nasnet_a}};
}

}  // namespace isomer
