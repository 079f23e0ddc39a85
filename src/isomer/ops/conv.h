#pragma once
// Parts of the convolution family that stand in files of their own.

#include "isomer/ops/window.h"

namespace isomer {

OpDef conv_transpose_op();  // conv_transpose.cc
OpDef deform_conv_op();     // deform_conv.cc

/// Checks what every convolution asks of input X, weight W and its groups: equal ranks of at least 3, channels that
/// agree. `W` has the extents [output channels, input channels / group, kernel...].
Status check_conv_operands(const OpView& view);
/// Fails unless operand i, when present, is a vector of `extent` elements of the dtype of operand 0.
Status check_bias(const OpView& view, size_t i, const Dim& extent);
/// Result type of a convolution of operand 0 with the weight of operand 1.
Result<std::vector<TensorType>> infer_conv(const OpView& view);
/// Two operations for each weight that each result element meets.
double flops_conv(const WorkView& view);
/// Hook: removes kernel_shape once it is known to agree with the weight's extents, and fills the window's attributes.
Status conv_from_onnx(OnnxForm& form);

}  // namespace isomer
