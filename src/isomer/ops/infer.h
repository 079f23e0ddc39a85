#pragma once
// Building blocks of type inference shared by the operator families.

#include <functional>

#include "isomer/ir/op.h"

namespace isomer {

/// `axis` counted from the front, or an Error when it is not in [-rank, rank).
Result<size_t> normal_axis(int64_t axis, size_t rank);
/// As above for many; refuses duplicates.
Result<std::vector<size_t>> normal_axes(const Ints& axes, size_t rank);

/// NumPy broadcasting of two shapes. A symbolic extent against 1 is itself, and one that is known to be above 1 wins
/// against any other; different integers above 1 are refused. Either of two other extents may be 1 at run time: they
/// give a symbol of their own that is named by all that were joined, "broadcast(M,N)", in whatever order they were.
Result<Shape> broadcast(const Shape& a, const Shape& b);

/// The smaller of two extents, which are not negative; where neither is known to be, a symbol such as "min(512,N)".
Dim min_extent(const Dim& a, const Dim& b);

/// The integer that a symbol of broadcast or min_extent stands for, for given values of the symbols in its name;
/// nothing for other symbols, and where a value is missing.
std::optional<int64_t> extent_value(const std::string& symbol,
                                    const std::function<std::optional<int64_t>(const std::string&)>& value_of);

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
