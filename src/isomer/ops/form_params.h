#pragma once
// Reads the parameters of a node in ONNX form, for the from_onnx hooks. The same code works for opsets with the
// parameter as an attribute and for opsets with the parameter as an operand.

#include "isomer/ops/onnx_form.h"

namespace isomer {

/// The shape of operand i; nullptr if its rank is not known.
const Shape* form_shape(const OnnxForm& form, size_t i);

/// The spatial extents of operand i (those after the first two); nullopt unless there are some and all are known.
std::optional<Ints> spatial_extents(const OnnxForm& form, size_t i);

/// Removes an integer parameter from the form and returns it: attribute `attr`, or operand `index` since opset `since`.
/// Returns nullopt if it is absent. If it is computed at run time, also returns nullopt and marks the form as opaque.
/// Fails for other types.
Result<std::optional<Ints>> take_ints(OnnxForm& form, const std::string& attr, size_t index, int since);

/// Makes operand i absent.
void drop_operand(OnnxForm& form, size_t i);

/// Converts the attribute `axis` to count from the front if the rank of operand 0 is known, so that equal nodes have
/// equal attributes. `extra` is the number of axes that the range of `axis` has in addition to those of operand 0 (the
/// result of Unsqueeze, the end for Flatten).
Status front_axis(OnnxForm& form, const std::string& attr, size_t extra = 0);

/// Hook for operators whose results have extents that depend on data: the node is opaque until its operands are known.
Status known_operands_from_onnx(OnnxForm& form);

/// A scalar of a real dtype; nullopt for other dtypes.
std::optional<Tensor> real_scalar(DType dtype, float value);
/// The first element of a real tensor, which must have one. Fails for other dtypes.
Result<double> real_element(const Tensor& tensor);

}  // namespace isomer
