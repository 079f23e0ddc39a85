#include "isomer/engine/onednn/strides.h"

#include <algorithm>
#include <numeric>

#include "isomer/engine/onednn/views.h"

namespace isomer::onednn {
namespace {

Ints all_axes(const Shape& extents) {
  Ints axes(extents.size());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

}  // namespace

Strides packed(const Shape& extents, std::span<const int64_t> order) {
  Strides strides(extents.size(), 1);
  Dim stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto axis = static_cast<size_t>(order[i]);
    strides[axis] = stride;
    stride = stride * extents[axis];
  }
  return strides;
}

Strides row_major(const Shape& extents) { return packed(extents, all_axes(extents)); }

Strides innermost(const Shape& extents, size_t axis) {
  Ints order = all_axes(extents);
  std::rotate(order.begin() + static_cast<ptrdiff_t>(axis), order.begin() + static_cast<ptrdiff_t>(axis) + 1,
              order.end());
  return packed(extents, order);
}

Ints order_of(const Strides& strides) {
  // Strides are products of extents, which only differ in their factors: any extents order them.
  const auto size = [&](int64_t axis) {
    return strides[static_cast<size_t>(axis)].evaluate([](const std::string&) { return 97; }).value_or(0);
  };
  Ints order = all_axes(strides);
  std::ranges::stable_sort(order, std::greater<>(), size);
  return order;
}

bool same_places(const Shape& extents, const Strides& a, const Strides& b) {
  for (size_t axis = 0; axis < extents.size(); ++axis)
    if (!extents[axis].is(1) && !(a[axis] == b[axis])) return false;
  return true;
}

bool has_rows(const Shape& extents, const Strides& strides) {
  for (size_t axis = extents.size(); axis-- > 0;)
    if (!extents[axis].is(1)) return strides[axis].is(1);
  return true;
}

bool is_packed(const Shape& extents, const Strides& strides) {
  Dim last = 0;  // the place of the last element
  for (size_t axis = 0; axis < extents.size(); ++axis) last = last + (extents[axis] - 1) * strides[axis];
  return last + 1 == element_count(extents);
}

Strides viewed(const Node& view, Strides strides) {
  if (view.op->has(Trait::Permutation)) {
    const Strides before = strides;
    const Ints& perm = view.attrs.ints("perm");
    for (size_t i = 0; i < perm.size(); ++i) strides[i] = before[static_cast<size_t>(perm[i])];
  } else if (picks_elements(view)) {
    const Ints& steps = view.attrs.ints("strides");
    for (size_t i = 0; i < steps.size(); ++i) strides[i + 2] = strides[i + 2] * steps[i];
  } else if (view.attrs.has("steps")) {
    const Ints& axes = view.attrs.ints("axes");
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t axis = axes[i] < 0 ? axes[i] + static_cast<int64_t>(strides.size()) : axes[i];
      strides[static_cast<size_t>(axis)] = strides[static_cast<size_t>(axis)] * view.attrs.ints("steps")[i];
    }
  }
  return strides;
}

}  // namespace isomer::onednn
