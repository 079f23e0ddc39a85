#include "isomer/ops/relabel.h"

#include <algorithm>
#include <optional>

namespace isomer {
namespace {

/// Axes of both shapes that contain the same elements.
struct AxisGroup {
  std::vector<size_t> from;
  std::vector<size_t> to;
};

std::vector<size_t> axes_above_one(const std::vector<Dim>& shape) {
  std::vector<size_t> axes;
  for (size_t i = 0; i < shape.size(); ++i)
    if (!shape[i].is(1)) axes.push_back(i);
  return axes;
}

/// The `n` axes from index `first` on.
std::vector<size_t> run(const std::vector<size_t>& axes, size_t first, size_t n) {
  const auto begin = axes.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(n)};
}

Dim product_over(const std::vector<Dim>& shape, const std::vector<size_t>& axes) {
  Dim product(1);
  for (const size_t axis : axes) product = product * shape[axis];
  return product;
}

class Grouping {
 public:
  Grouping(Scope& scope, const std::vector<Dim>& from, const std::vector<Dim>& to)
      : scope_(scope), from_(from), to_(to), left_(axes_above_one(from)), right_(axes_above_one(to)) {}

  std::vector<AxisGroup> groups() {
    while (i_ < left_.size() && j_ < right_.size()) {
      auto group = next(kMaxAxes, [](const Dim& a, const Dim& b) { return a == b; });
      if (!group) group = next(3, [&](const Dim& a, const Dim& b) { return scope_.implied(equal(a, b)); });
      if (!group) break;
      i_ += group->from.size();
      j_ += group->to.size();
      out_.push_back(std::move(*group));
    }
    if (i_ < left_.size() || j_ < right_.size())
      out_.push_back({run(left_, i_, left_.size() - i_), run(right_, j_, right_.size() - j_)});
    return out_;
  }

  /// Assumes that both shapes have equally many elements.
  void assume_alike() {
    Dim before(1);
    for (const AxisGroup& group : groups()) {
      const Formula alike = equal(product_over(from_, group.from), product_over(to_, group.to));
      scope_.agree(equal(before, 0) || alike);  // without elements, the other extents may be anything
      before = before * product_over(from_, group.from);
    }
  }

 private:
  static constexpr size_t kMaxAxes = SIZE_MAX;

  /// The next smallest group, of at max_axes `max_axes` axes in total.
  template <class Equal>
  std::optional<AxisGroup> next(size_t max_axes, Equal equal_products) const {
    const size_t max_from = left_.size() - i_;
    const size_t max_to = right_.size() - j_;
    for (size_t both = 2; both <= std::min(max_axes, max_from + max_to); ++both) {
      for (size_t n = 1; n < both; ++n) {
        if (n > max_from || both - n > max_to) continue;
        AxisGroup group{run(left_, i_, n), run(right_, j_, both - n)};
        if (equal_products(product_over(from_, group.from), product_over(to_, group.to))) return group;
      }
    }
    return std::nullopt;
  }

  Scope& scope_;
  const std::vector<Dim>& from_;
  const std::vector<Dim>& to_;
  const std::vector<size_t> left_;
  const std::vector<size_t> right_;
  size_t i_ = 0;
  size_t j_ = 0;
  std::vector<AxisGroup> out_;
};

}  // namespace

Dim product_of(const std::vector<Dim>& extents) {
  Dim product(1);
  for (const Dim& extent : extents) product = product * extent;
  return product;
}

std::shared_ptr<const SymbolicTensor> origin_of(const SymbolicTensor& x) {
  return x.reshaped ? x.reshaped : std::make_shared<const SymbolicTensor>(x);
}

SymbolicTensor relabeled(Scope& scope, const SymbolicTensor& given, std::vector<Dim> shape) {
  const std::shared_ptr<const SymbolicTensor> origin = origin_of(given);
  const SymbolicTensor& x = *origin;
  Grouping(scope, x.shape, shape).assume_alike();
  const auto from = [&scope, own = x.shape, shape](const SymbolicIndex& index) {
    SymbolicIndex at(own.size(), Dim(0));
    // Grouped again for each index, because more facts may be known by then.
    for (const AxisGroup& group : Grouping(scope, own, shape).groups()) {
      Dim flat(0);
      for (const size_t axis : group.to) flat = flat * shape[axis] + index[axis];
      for (size_t i = 0; i < group.from.size(); ++i) {
        const Dim run_length = product_over(own, run(group.from, i + 1, group.from.size() - i - 1));
        at[group.from[i]] = scope.quotient(flat, run_length);
        flat = flat - at[group.from[i]] * run_length;
      }
    }
    return at;
  };
  SymbolicTensor y = moved(x, std::move(shape), from);
  y.reshaped = origin;
  return y;
}

}  // namespace isomer
