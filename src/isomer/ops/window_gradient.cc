#include "isomer/ops/window_gradient.h"

#include <algorithm>

namespace isomer {
namespace {

Ints joined(const Ints& begin, const Ints& end) {
  Ints pads = begin;
  pads.insert(pads.end(), end.begin(), end.end());
  return pads;
}

/// The axes with the first two exchanged.
GraphValue channels_first(const GraphValue& x) {
  Ints perm = axis_range(0, x.rank());
  std::swap(perm[0], perm[1]);
  return transposed(x, std::move(perm));
}

/// [batch, groups * channels, ...] as [channels, groups * batch, ...].
GraphValue channels_of_groups_first(const GraphValue& x, int64_t group) {
  if (group == 1) return channels_first(x);
  const Dim batch(known_extent(x, 0));
  const Dim channels(known_extent(x, 1) / group);
  const Shape spatial(x.shape().begin() + 2, x.shape().end());
  const auto with = [&](Shape front) {
    front.insert(front.end(), spatial.begin(), spatial.end());
    return front;
  };
  Ints perm = axis_range(0, x.rank() + 1);
  perm[0] = 2;
  perm[1] = 1;
  perm[2] = 0;
  return reshaped(transposed(reshaped(x, with({batch, Dim(group), channels})), std::move(perm)),
                  with({channels, Dim(group) * batch}));
}

}  // namespace

Window known_window(const GraphValue& image, const Attrs& attrs, Ints kernel) {
  auto window = read_window(attrs, std::move(kernel));
  if (!window) image.node().refuse(window.error().message);
  Ints spatial;
  for (size_t i = 2; i < image.rank(); ++i) spatial.push_back(known_extent(image, i));
  resolve_pads(*window, spatial);
  return *window;
}

GraphValue image_gradient(const GraphValue& gradient, const GraphValue& filters, const Shape& image,
                          const Window& window, int64_t group) {
  Ints end = window.end;
  Ints extra(window.rank(), 0);
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t seen = (known_extent(gradient, 2 + i) - 1) * window.strides[i] + window.reach(i) - window.begin[i];
    // Elements after the last window have no gradient; a window over pads gives them to elements that do not exist.
    const int64_t rest = image[2 + i].value() - (seen - end[i]);
    extra[i] = std::max<int64_t>(rest, 0);
    end[i] += std::max<int64_t>(-rest, 0);
  }
  return gradient.node().call("ConvTranspose",
                              {{"strides", window.strides},
                               {"dilations", window.dilations},
                               {"pads", joined(window.begin, end)},
                               {"output_padding", extra},
                               {"group", group}},
                              {gradient, filters});
}

GraphValue filter_gradient(const GraphValue& image, const GraphValue& gradient, const Window& window, int64_t group) {
  GraphValue seen = image;
  Ints end = window.end;
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t last = (known_extent(gradient, 2 + i) - 1) * window.strides[i] + window.reach(i);
    const int64_t extent = known_extent(image, 2 + i);
    // Elements after the last window would make the result larger than the filters.
    const int64_t rest = window.begin[i] + extent + end[i] - last;
    end[i] -= std::min(rest, end[i]);
    if (rest > window.end[i]) seen = sliced(seen, 2 + i, 0, extent - (rest - window.end[i]));
  }
  // Batch and channels are exchanged. The gradient is the filter: its elements are as far apart as the windows were,
  // and it moves by the distance of the elements of a window.
  return channels_first(gradient.node().call("Conv",
                                             {{"strides", window.dilations},
                                              {"dilations", window.strides},
                                              {"pads", joined(window.begin, end)},
                                              {"group", group}},
                                             {channels_of_groups_first(seen, group), channels_first(gradient)}));
}

GraphValue bias_gradient(const GraphValue& gradient) {
  Ints axes = axis_range(1, gradient.rank());
  axes[0] = 0;
  return summed(gradient, axes, false);
}

}  // namespace isomer
