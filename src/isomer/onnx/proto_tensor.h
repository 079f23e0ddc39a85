#pragma once
// Converts TensorProto to Tensor and back, for every element type and every field that may contain the elements.

#include <cstdint>
#include <span>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/tensor.h"
#include "isomer/onnx/external_data.h"
#include "onnx-ml.pb.h"

namespace isomer {

/// The size of a dense tensor in bytes. Fails for negative extents and sizes that cannot be addressed.
Result<size_t> checked_byte_size(DType dtype, std::span<const int64_t> dims);

/// The tensor in `proto`. Raw data is moved out of `proto`, not copied. External data is a view of the mapped file if
/// it is aligned. Allocates memory only after checking that the elements exist.
Result<Tensor> take_tensor(onnx::TensorProto& proto, ExternalData& external);
/// As take_tensor, but does not change `proto`.
Result<Tensor> read_tensor(const onnx::TensorProto& proto, ExternalData& external);

/// The element type and extents of `tensor`, and its elements only if they are strings.
onnx::TensorProto tensor_header(const Tensor& tensor);
/// The whole tensor.
onnx::TensorProto tensor_proto(const Tensor& tensor);

}  // namespace isomer
