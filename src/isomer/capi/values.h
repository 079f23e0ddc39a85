#pragma once
// Converts types and tensors between Isomer and the C interface, and checks those that the caller gives.

#include "isomer/base/result.h"
#include "isomer/capi/isomer.h"
#include "isomer/ir/tensor.h"

namespace isomer::capi {

/// Returns a type for C. An Error if it has more axes than the struct can hold.
Result<isomer_type> c_type(const TensorType& type);

/// Returns the size of a tensor of a concrete type. An Error if there is no such type or it cannot cross the border.
Result<size_t> type_bytes(const isomer_type& type);

/// Returns a Tensor over the caller's elements, which must live longer.
Result<Tensor> view_of(const isomer_input& input);

/// Returns whether a tensor can be given to the caller.
Status crosses(const Tensor& tensor);

/// Sets type and size of an output to those of a tensor, and copies the elements if they fit. Returns whether they fit.
bool store(const Tensor& tensor, isomer_output& output);

}  // namespace isomer::capi
