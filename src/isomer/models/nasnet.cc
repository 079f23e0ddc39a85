// The published NASNet-A (Zoph et al. 2017): 4 @ 1056 for mobile devices and 6 @ 4032.

#include "isomer/models/networks.h"

namespace isomer {
namespace {

constexpr float kCellEpsilon = 1e-3F;
constexpr float kCellScale = 0.75F;  // two branches are summed at a time; keeps the sum from growing

struct Variant {
  int64_t extent;       // of the input image
  int64_t stem;         // channels of the first convolution
  int64_t filters;      // channels of the first cells
  int cells;            // normal cells in each of the three groups
  bool skip_reduction;  // the cell after a reduction uses the reduction's second input as its own
};

class Nasnet {
 public:
  Nasnet(Net& net, const Variant& variant) : net_(net), v_(variant) {}

  void build() {
    const ValueId image = net_.input("input", {net_.batch(), 3, v_.extent, v_.extent});
    const ValueId conv0 =
        norm("conv0.bn", net_.conv("conv0.conv", image, {.out = v_.stem, .kernel = 3, .stride = 2, .gain = 1}));
    const ValueId stem0 = first_stem_cell(conv0);
    const ValueId stem1 = reduction("cell_stem_1", project("cell_stem_1.conv_1x1", stem0, v_.filters / 2),
                                    factorized("cell_stem_1", conv0, v_.filters / 2), v_.filters / 2);
    ValueId previous = stem0;
    ValueId current = stem1;
    for (int group = 0; group < 3; ++group) {
      const int64_t filters = v_.filters << group;
      if (group > 0) {
        const std::string name = "reduction_cell_" + std::to_string(group - 1);
        const ValueId reduced = reduction(name, project(name + ".conv_1x1", current, filters),
                                          project(name + ".conv_prev_1x1", previous, filters), filters);
        if (!v_.skip_reduction) previous = current;
        current = reduced;
      }
      normal_cells(group, filters, current, previous);
    }
    net_.output(net_.linear("last_linear", net_.pooled_features(net_.relu(current)), 1000), "output");
  }

 private:
  ValueId norm(const std::string& name, ValueId x, float scale = 1) {
    return net_.batch_norm(name, x, scale, kCellEpsilon);
  }

  /// Relu, 1x1 convolution, normalization: changes a cell's input to its number of channels.
  ValueId project(const std::string& name, ValueId x, int64_t out) {
    return norm(name + ".bn", net_.conv(name + ".conv", net_.relu(x), {.out = out}));
  }

  /// The same at half the extent: concatenates every second pixel of the image and of the image shifted by one.
  ValueId factorized(const std::string& name, ValueId x, int64_t out) {
    x = net_.relu(x);
    const PoolLayer second_pixels{.kernel = 1, .stride = 2, .count_pad = false};
    const ValueId a = net_.conv(name + ".path_1.conv", net_.average_pool(x, second_pixels), {.out = out / 2});
    ValueId moved = net_.add("Pad", {{"pads", Ints{0, 0, 0, 0, 0, 0, 1, 1}}}, {x});
    const Ints end = net_.extents(moved);
    moved = net_.add(
        "Slice", {{"starts", Ints{1, 1}}, {"ends", Ints{end[2], end[3]}}, {"axes", Ints{2, 3}}, {"steps", Ints{1, 1}}},
        {moved});
    const ValueId b = net_.conv(name + ".path_2.conv", net_.average_pool(moved, second_pixels), {.out = out / 2});
    return norm(name + ".final_path_bn", net_.concat({a, b}));
  }

  ValueId separable(const std::string& name, ValueId x, int64_t out, int64_t kernel, int64_t stride) {
    x = net_.conv(
        name + ".depthwise_conv2d", net_.relu(x),
        {.out = net_.channels(x), .kernel = kernel, .stride = stride, .same = true, .group = net_.channels(x)});
    return net_.conv(name + ".pointwise_conv2d", x, {.out = out, .gain = 1});
  }

  /// Two separable convolutions; the first has the stride.
  ValueId branch(const std::string& name, ValueId x, int64_t out, int64_t kernel, int64_t stride = 1) {
    x = norm(name + ".bn_sep_1", separable(name + ".separable_1", x, out, kernel, stride));
    return norm(name + ".bn_sep_2", separable(name + ".separable_2", x, out, kernel, 1), kCellScale);
  }

  ValueId average(ValueId x, int64_t stride = 1) {
    return net_.average_pool(x, {.kernel = 3, .stride = stride, .same = true, .count_pad = false});
  }
  ValueId maximum(ValueId x) { return net_.max_pool(x, {.kernel = 3, .stride = 2, .same = true}); }

  /// The first stem cell: a reduction whose second input is unchanged.
  ValueId first_stem_cell(ValueId conv0) {
    const int64_t filters = v_.filters / 4;
    return reduction("cell_stem_0", project("cell_stem_0.conv_1x1", conv0, filters), conv0, filters);
  }

  ValueId reduction(const std::string& name, ValueId x, ValueId previous, int64_t filters) {
    const std::string comb = name + ".comb_iter_";
    const ValueId a =
        net_.sum(branch(comb + "0_left", x, filters, 5, 2), branch(comb + "0_right", previous, filters, 7, 2));
    const ValueId b = net_.sum(maximum(x), branch(comb + "1_right", previous, filters, 7, 2));
    const ValueId c = net_.sum(average(x, 2), branch(comb + "2_right", previous, filters, 5, 2));
    const ValueId d = net_.sum(average(a), b);
    const ValueId e = net_.sum(branch(comb + "4_left", a, filters, 3), maximum(x));
    return net_.concat({b, c, d, e});
  }

  ValueId normal(const std::string& name, ValueId x, ValueId previous, int64_t filters) {
    const std::string comb = name + ".comb_iter_";
    const ValueId a = net_.sum(branch(comb + "0_left", x, filters, 5), branch(comb + "0_right", previous, filters, 3));
    const ValueId b =
        net_.sum(branch(comb + "1_left", previous, filters, 5), branch(comb + "1_right", previous, filters, 3));
    const ValueId c = net_.sum(average(x), previous);
    const ValueId d = net_.sum(average(previous), average(previous));
    const ValueId e = net_.sum(branch(comb + "4_left", x, filters, 3), x);
    return net_.concat({previous, a, b, c, d, e});
  }

  void normal_cells(int group, int64_t filters, ValueId& current, ValueId& previous) {
    for (int i = 0; i < v_.cells; ++i) {
      const std::string name = "cell_" + std::to_string(6 * group + i);
      const ValueId x = project(name + ".conv_1x1", current, filters);
      const bool larger = net_.extents(previous)[2] != net_.extents(current)[2];
      const ValueId p =
          larger ? factorized(name, previous, filters) : project(name + ".conv_prev_1x1", previous, filters);
      previous = current;
      current = normal(name, x, p, filters);
    }
  }

  Net& net_;
  Variant v_;
};

void nasnet_mobile(Net& net, int64_t) {
  Nasnet(net, {.extent = 224, .stem = 32, .filters = 44, .cells = 4, .skip_reduction = false}).build();
}

void nasnet_large(Net& net, int64_t) {
  Nasnet(net, {.extent = 331, .stem = 96, .filters = 168, .cells = 6, .skip_reduction = true}).build();
}

}  // namespace

std::vector<Network> nasnet_networks() {
  return {
      {"nasnet-mobile", "NASNet-A 4 @ 1056 (Zoph et al. 2017), 3x224x224", nasnet_mobile},
      {"nasnet-large", "NASNet-A 6 @ 4032 (Zoph et al. 2017), 3x331x331", nasnet_large},
  };
}

}  // namespace isomer
