#pragma once
// Reading the parameters of a node in ONNX form, for the from_onnx hooks: the same code for opsets that have a
// parameter as an attribute and those that have it as an operand.

#include "isomer/ops/onnx_form.h"

namespace isomer {

/// The shape of operand i; null where its rank is not known.
const Shape* form_shape(const OnnxForm& form, size_t i);

/// Takes the integers of a parameter out of the form: attribute `attr`, or operand `index` from opset `since` on.
/// Nothing when it is absent, and nothing, with the form marked opaque, when it is computed at run time. Fails on other
/// types.
Result<std::optional<Ints>> take_ints(OnnxForm& form, const std::string& attr, size_t index, int since);

/// Makes operand i absent.
void drop_operand(OnnxForm& form, size_t i);

/// Counts the attribute `axis` from the front where the rank of operand 0 is known, so that equal nodes look equal.
/// `extra` is how many axes more than operand 0 the axis counts over (the result of Unsqueeze, Flatten's end).
Status front_axis(OnnxForm& form, const std::string& attr, size_t extra = 0);

}  // namespace isomer
