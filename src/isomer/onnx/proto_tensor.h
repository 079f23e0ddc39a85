#pragma once
// TensorProto to Tensor and back, for every element type and every field that may hold the elements.

#include <cstdint>
#include <span>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/tensor.h"
#include "isomer/onnx/external_data.h"
#include "onnx-ml.pb.h"

namespace isomer {

/// Bytes of a dense tensor; fails on negative extents and on sizes that no machine can address.
Result<size_t> checked_byte_size(DType dtype, std::span<const int64_t> dims);

/// The tensor that `proto` holds. Raw data is taken out of `proto`, not copied; external data is viewed in its mapping,
/// where it is aligned. Nothing is allocated before the elements are known to be there.
Result<Tensor> take_tensor(onnx::TensorProto& proto, ExternalData& external);
/// As take_tensor, but leaves `proto` as it is.
Result<Tensor> read_tensor(const onnx::TensorProto& proto, ExternalData& external);

/// Element type and extents of `tensor`, and strings; no other elements.
onnx::TensorProto tensor_header(const Tensor& tensor);
/// The whole tensor.
onnx::TensorProto tensor_proto(const Tensor& tensor);

}  // namespace isomer
