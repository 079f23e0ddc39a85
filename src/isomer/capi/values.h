#pragma once
// Types and tensors of the C interface as Isomer's, and the other way round; whatever the caller gave is checked.

#include "isomer/base/result.h"
#include "isomer/capi/isomer.h"
#include "isomer/ir/tensor.h"

namespace isomer::capi {

/// A type for C. An Error where it has more axes than there is room for.
Result<isomer_type> c_type(const TensorType& type);

/// Bytes of a tensor of a concrete type. An Error where the type is none or does not cross the border.
Result<size_t> type_bytes(const isomer_type& type);

/// The caller's elements as a Tensor, which must not outlive them.
Result<Tensor> view_of(const isomer_input& input);

/// Whether a tensor can be given to the caller.
Status crosses(const Tensor& tensor);

/// Sets type and size of an output to those of a tensor that crosses, and copies the elements where they fit. Returns
/// whether they do.
bool store(const Tensor& tensor, isomer_output& output);

}  // namespace isomer::capi
