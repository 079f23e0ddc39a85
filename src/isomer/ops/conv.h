#pragma once
// Parts of the convolution family that are in separate files.

#include "isomer/ops/window.h"

namespace isomer {

/// Checks the requirements of every convolution on input X, weight W and groups: equal ranks of at least 3, and
/// matching channels. `W` has the extents [output channels, input channels / group, kernel...].
Status check_conv_operands(const OpView& view);
/// Fails unless operand i is absent, or a vector of `extent` elements with the dtype of operand 0.
Status check_bias(const OpView& view, size_t i, const Dim& extent);
/// Result type of a convolution of operand 0 with the weight in operand 1.
Result<std::vector<TensorType>> infer_conv(const OpView& view);
/// Two operations for each weight that contributes to a result element.
double flops_conv(const WorkView& view);
/// Hook: removes kernel_shape after checking it against the weight's extents, and completes the attributes of the
/// window.
Status conv_from_onnx(OnnxForm& form);

}  // namespace isomer
