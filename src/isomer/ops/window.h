#pragma once
// The arithmetic of sliding windows, shared by convolutions and pools: strides, dilations, pads, auto_pad, ceil_mode.
//
// In normalized form, `strides`, `dilations` and `pads` are always complete. `auto_pad` is resolved to pads if the
// extents determine them. Otherwise (SAME_UPPER or SAME_LOWER with a symbolic extent) the attribute is kept, and pads
// are 0.

#include <array>

#include "isomer/ops/onnx_form.h"

namespace isomer {

/// A window over the spatial axes of an operand (those after batch and channel).
struct Window {
  Ints kernel;
  Ints strides;
  Ints dilations;
  Ints begin;  ///< pads before
  Ints end;    ///< pads after
  std::string auto_pad;
  bool ceil = false;

  size_t rank() const { return kernel.size(); }
  bool same() const { return auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER"; }
  /// The distance from the first to the last input position of one window along an axis, both included.
  int64_t reach(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

/// The window of a normalized node. Fails if attributes have the wrong length or sign, or are so large that arithmetic
/// on them could overflow.
Result<Window> read_window(const Attrs& attrs, Ints kernel);
/// The kernel extents of a weight: its spatial extents, which must be integers.
Result<Ints> weight_kernel(const Shape& weight);

/// The number of windows along an axis. Fails if the window does not fit.
Result<Dim> window_count(const Window& window, size_t axis, const Dim& input);
/// Sets `begin` and `end` from `auto_pad` for concrete extents, so that kernels only need pads.
void resolve_pads(Window& window, std::span<const int64_t> spatial);

/// A window with its extents for kernels, padded at the front to three spatial axes.
struct Window3 {
  using Triple = std::array<int64_t, 3>;
  Triple input, output, kernel, stride, dilation, begin, end;

  int64_t input_size() const { return input[0] * input[1] * input[2]; }
  int64_t output_size() const { return output[0] * output[1] * output[2]; }
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
  /// The outputs o in [first, second) for which position k of the window falls inside the input.
  std::pair<int64_t, int64_t> outputs_at(size_t axis, int64_t k) const;
  /// The window positions k in [first, second) that fall inside the input for output o.
  std::pair<int64_t, int64_t> positions_at(size_t axis, int64_t o) const;
  /// The input index at position k of window o.
  int64_t at(size_t axis, int64_t o, int64_t k) const { return o * stride[axis] + k * dilation[axis] - begin[axis]; }
};
/// Fails for more than three spatial axes. `input` and `output` are complete extents with batch and channel.
Result<Window3> window3(const Window& window, const std::vector<int64_t>& input, const std::vector<int64_t>& output);

/// Declarations of the attributes `strides`, `dilations`, `pads` and `auto_pad`.
std::vector<AttrDef> window_attrs();
/// Hook: completes the attributes of a window over `kernel` (extents, or empty if they are not known) in a form whose
/// operand 0 has `spatial` spatial axes.
Status normalize_window(OnnxForm& form, size_t spatial, const Ints& kernel);
/// Hook: writes these attributes. Dilations other than 1 need opset `dilations_since`.
Status write_window(OnnxForm& form, int dilations_since = 1);
/// The number of spatial axes according to the types or attributes of a form; 0 if it is not known.
size_t spatial_rank(const OnnxForm& form);

}  // namespace isomer
