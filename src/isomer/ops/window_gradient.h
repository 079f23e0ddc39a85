#pragma once
// Gradients of what slides windows over images. Those of convolutions are convolutions, too.

#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/window.h"

namespace isomer {

/// The window of a node over an image, with its pads resolved; refuses the gradient if it is not known.
Window known_window(const GraphValue& image, const Attrs& attrs, Ints kernel);

/// The adjoint of a convolution of an image of this shape: from the gradient of its result, the one of the image.
GraphValue image_gradient(const GraphValue& gradient, const GraphValue& filters, const Shape& image,
                          const Window& window, int64_t group);

/// The gradient for the filters of a convolution of `image`, whose result has this gradient.
GraphValue filter_gradient(const GraphValue& image, const GraphValue& gradient, const Window& window, int64_t group);

/// The sum over all axes but the channels.
GraphValue bias_gradient(const GraphValue& gradient);

}  // namespace isomer
