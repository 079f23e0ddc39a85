#include "isomer/ops/sample_gradient.h"

#include "isomer/ops/gradient_parts.h"

namespace isomer {
namespace {

/// One of the elements along one axis that the points read; all values are of [batch, points].
struct Neighbor {
  GraphValue index;       // i64, inside of the image
  GraphValue weight;      // 0 where the element is outside
  GraphValue derivative;  // of the weight by the coordinate in the grid
};

class GridSampleGradient {
 public:
  explicit GridSampleGradient(Backward& node)
      : node_(node),
        image_(node.operand(0)),
        linear_(node.attrs().text("mode") == "linear"),
        border_(node.attrs().text("padding_mode") == "border"),
        axes_(image_.rank() - 2) {
    constexpr size_t kMaxAxes = 4;  // a point reads 2^axes elements
    if (!linear_ && node.attrs().text("mode") != "nearest")
      node.refuse("there is no gradient in the mode '" + node.attrs().text("mode") + "'");
    if (!border_ && node.attrs().text("padding_mode") != "zeros")
      node.refuse("there is no gradient with the padding '" + node.attrs().text("padding_mode") + "'");
    if (axes_ > kMaxAxes) node.refuse("there is no gradient for so many axes");
    for (size_t i = 0; i < axes_; ++i) pixels_ *= known_extent(image_, 2 + i);
    for (size_t i = 1; i <= axes_; ++i) points_ *= known_extent(node.operand(1), i);
    if (known_extent(image_, 0) * known_extent(image_, 1) * pixels_ * points_ == 0) node.refuse("an extent is 0");
  }

  void run() {
    std::vector<std::vector<Neighbor>> neighbors;
    for (size_t axis = 0; axis < axes_; ++axis) neighbors.push_back(neighbors_along(axis));
    std::vector<GraphValue> indices, shares;
    std::vector<std::vector<GraphValue>> slopes(axes_);
    const size_t corners = size_t{1} << (linear_ ? axes_ : 0);
    for (size_t corner = 0; corner < corners; ++corner) {
      std::vector<Neighbor> chosen;
      for (size_t axis = 0; axis < axes_; ++axis) chosen.push_back(neighbors[axis][corner >> axis & 1]);
      const GraphValue index = expanded(unsqueezed(flat_index(chosen), {1}), {batch(), channels(), Dim(points_)});
      indices.push_back(index);
      if (node_.needs(0)) shares.push_back(unsqueezed(weight(chosen, axes_), {1}) * gradient());
      if (!node_.needs(1) || !linear_) continue;
      const GraphValue read = node_.call("GatherElements", {{"axis", int64_t{2}}}, {flat_image(), index});
      const GraphValue by_weight = summed(read * gradient(), {1}, false);
      for (size_t axis = 0; axis < axes_; ++axis) slopes[axis].push_back(by_weight * weight(chosen, axis));
    }
    if (node_.needs(0)) give_image(indices, shares);
    if (node_.needs(1) && linear_) give_grid(slopes);
  }

 private:
  const Dim& batch() const { return image_.shape()[0]; }
  const Dim& channels() const { return image_.shape()[1]; }
  GraphValue gradient() const { return reshaped(node_.gradient(), {batch(), channels(), Dim(points_)}); }
  GraphValue flat_image() const { return reshaped(image_, {batch(), channels(), Dim(pixels_)}); }

  /// The elements that the points read along an axis of the image: two for "linear", one for "nearest".
  std::vector<Neighbor> neighbors_along(size_t axis) const {
    const GraphValue& grid = node_.operand(1);
    const auto extent = static_cast<double>(image_.shape()[2 + axis].value());
    const auto place = static_cast<int64_t>(axes_ - 1 - axis);  // the grid lists the innermost axis first
    const GraphValue given = reshaped(sliced(grid, axes_ + 1, place, place + 1), {batch(), Dim(points_)});
    // 16 bits do not tell pixels apart.
    const GraphValue n = grid.dtype() == DType::Double ? given : converted(given, DType::Float);
    const bool align_corners = node_.attrs().integer("align_corners") != 0;
    GraphValue derivative = number(image_, (align_corners ? extent - 1 : extent) / 2);
    GraphValue x = align_corners ? (extent - 1) * ((n + 1.0) / 2.0) : (extent * (n + 1.0) - 1.0) / 2.0;
    if (!linear_) x = apply("Round", {x});
    if (border_) {
      // Beyond the border, all points read its elements.
      derivative = masked(apply("And", {above(x, 0), apply("Less", {x, number(x, extent - 1)})}), derivative);
      x = apply("Min", {apply("Max", {x, number(x, 0)}), number(x, extent - 1)});
    }
    if (!linear_) return {neighbor(x, number(image_, 1), number(image_, 0), extent)};
    const GraphValue low = apply("Floor", {x});
    const GraphValue share = converted(x - low, image_.dtype());
    return {neighbor(low, 1 - share, -derivative, extent), neighbor(low + 1.0, share, derivative, extent)};
  }

  Neighbor neighbor(const GraphValue& at, const GraphValue& weight, const GraphValue& derivative, double extent) const {
    const GraphValue exists = apply("And", {above(at, -1), apply("Less", {at, number(at, extent)})});
    return {converted(masked(exists, at), DType::Int64), masked(exists, weight), masked(exists, derivative)};
  }

  GraphValue flat_index(const std::vector<Neighbor>& chosen) const {
    GraphValue index = chosen[0].index;
    for (size_t axis = 1; axis < axes_; ++axis)
      index = index * number(index, static_cast<double>(image_.shape()[2 + axis].value())) + chosen[axis].index;
    return index;
  }

  /// The product of the weights, or its derivative by the coordinate of one axis.
  GraphValue weight(const std::vector<Neighbor>& chosen, size_t by) const {
    const auto factor = [&](size_t axis) { return axis == by ? chosen[axis].derivative : chosen[axis].weight; };
    GraphValue product = factor(0);
    for (size_t axis = 1; axis < axes_; ++axis) product = product * factor(axis);
    return product;
  }

  GraphValue joined(const std::vector<GraphValue>& parts, int64_t axis) const {
    return parts.size() == 1 ? parts[0] : node_.call("Concat", {{"axis", axis}}, parts);
  }

  void give_image(const std::vector<GraphValue>& indices, const std::vector<GraphValue>& shares) {
    const GraphValue none = zeros(node_, flat_image().type());
    const GraphValue sum = node_.call("ScatterElements", {{"axis", int64_t{2}}, {"reduction", std::string("add")}},
                                      {none, joined(indices, 2), joined(shares, 2)});
    node_.give(0, reshaped(sum, image_.shape()));
  }

  void give_grid(const std::vector<std::vector<GraphValue>>& slopes) {
    const GraphValue& grid = node_.operand(1);
    std::vector<GraphValue> coordinates;
    for (size_t axis = axes_; axis-- > 0;) {
      GraphValue sum = slopes[axis][0];
      for (size_t corner = 1; corner < slopes[axis].size(); ++corner) sum = sum + slopes[axis][corner];
      coordinates.push_back(unsqueezed(converted(sum, grid.dtype()), {2}));
    }
    node_.give(1, reshaped(joined(coordinates, 2), grid.shape()));
  }

  Backward& node_;
  const GraphValue image_;
  const bool linear_;
  const bool border_;
  const size_t axes_;
  int64_t pixels_ = 1;
  int64_t points_ = 1;
};

}  // namespace

void grid_sample_gradient(Backward& node) { GridSampleGradient(node).run(); }

}  // namespace isomer
