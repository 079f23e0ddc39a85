#pragma once
// The arithmetic of sliding windows, shared by convolutions and pools: strides, dilations, pads, auto_pad, ceil_mode.
//
// In normalized form `strides`, `dilations` and `pads` are always given in full. `auto_pad` is resolved to pads
// wherever the extents decide it; what remains (SAME_UPPER or SAME_LOWER over a symbolic extent) keeps the attribute,
// with pads of 0.

#include <array>

#include "isomer/ops/onnx_form.h"

namespace isomer {

/// A window over the spatial axes of an operand (those behind batch and channel).
struct Window {
  Ints kernel;
  Ints strides;
  Ints dilations;
  Ints begin;  ///< pads in front
  Ints end;    ///< pads behind
  std::string auto_pad;
  bool ceil = false;

  size_t rank() const { return kernel.size(); }
  bool same() const { return auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER"; }
  /// Input positions from the first to the last that one window sees along an axis.
  int64_t reach(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

/// The window of a normalized node. Fails on attributes of the wrong length or sign, and on ones so large that
/// arithmetic on them could overflow.
Result<Window> read_window(const Attrs& attrs, Ints kernel);
/// The kernel extents of a weight: its spatial ones, which must be integers.
Result<Ints> weight_kernel(const Shape& weight);

/// Number of windows along an axis. Fails when the window does not fit.
Result<Dim> window_count(const Window& window, size_t axis, const Dim& input);
/// Sets `begin` and `end` from `auto_pad` for concrete extents, so that kernels see pads alone.
void resolve_pads(Window& window, std::span<const int64_t> spatial);

/// A window with its extents, filled up in front to three spatial axes, for kernels.
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
  /// Input index that position k of window o sees.
  int64_t at(size_t axis, int64_t o, int64_t k) const { return o * stride[axis] + k * dilation[axis] - begin[axis]; }
};
/// Fails above three spatial axes. `input` and `output` are whole extents, batch and channel included.
Result<Window3> window3(const Window& window, const std::vector<int64_t>& input, const std::vector<int64_t>& output);

/// `strides`, `dilations`, `pads` and `auto_pad` as attributes of a declaration.
std::vector<AttrDef> window_attrs();
/// Hook: fills the attributes of a window over `kernel` (extents, or empty where they are not known) of a form whose
/// operand 0 has `spatial` spatial axes.
Status normalize_window(OnnxForm& form, size_t spatial, const Ints& kernel);
/// Hook: writes them; dilations other than 1 need opset `dilations_since`.
Status write_window(OnnxForm& form, int dilations_since = 1);
/// Number of spatial axes that the types or attributes of a form tell; 0 when they do not.
size_t spatial_rank(const OnnxForm& form);

}  // namespace isomer
