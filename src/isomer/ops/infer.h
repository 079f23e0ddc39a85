#pragma once
// Building blocks of type inference shared by the operator families.

#include "isomer/ir/op.h"

namespace isomer {

/// `axis` counted from the front, or an Error when it is not in [-rank, rank).
Result<size_t> normal_axis(int64_t axis, size_t rank);
/// As above for many; refuses duplicates.
Result<std::vector<size_t>> normal_axes(const Ints& axes, size_t rank);

/// NumPy broadcasting of two shapes. A symbolic extent against 1 is itself; two different symbolic extents are refused
/// only when they cannot be equal, and otherwise give the first (ONNX models with unnamed dimensions rely on it) unless
/// the other is a known integer above 1, which wins.
Result<Shape> broadcast(const Shape& a, const Shape& b);

/// Inference of element-wise operators: operands broadcast, result of the first operand's dtype.
Result<std::vector<TensorType>> infer_same(const OpView& view);       // one operand, same type
Result<std::vector<TensorType>> infer_broadcast(const OpView& view);  // all operands of one dtype
Result<std::vector<TensorType>> infer_compare(const OpView& view);    // likewise, result bool

/// Fails unless operands i and j have the same dtype.
Status same_dtype(const OpView& view, size_t i, size_t j);
/// Fails unless operand i has this rank.
Status want_rank(const OpView& view, size_t i, size_t rank);

/// FLOPs of one (or `n`) operations per result element.
double flops_per_element(const WorkView& view);
double flops_none(const WorkView& view);

/// Number of elements.
double count(const std::vector<int64_t>& dims);

}  // namespace isomer
