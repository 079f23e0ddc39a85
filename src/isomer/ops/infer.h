#pragma once
// Building blocks of type inference shared by the operator families.

#include <functional>

#include "isomer/ir/op.h"

namespace isomer {

/// `axis` counted from the front. Fails if it is not in [-rank, rank).
Result<size_t> normal_axis(int64_t axis, size_t rank);
/// The same for several axes. Fails on duplicates.
Result<std::vector<size_t>> normal_axes(const Ints& axes, size_t rank);

/// NumPy broadcasting of two shapes. A symbolic extent and 1 give the symbolic extent. An extent known to be above 1
/// takes precedence over any other; different integers above 1 are refused. In all other cases, either extent may be 1
/// at run time. The result is then a new symbol named after all extents involved, "broadcast(M,N)", independently of
/// their order.
Result<Shape> broadcast(const Shape& a, const Shape& b);

/// Whether two extents are different integers.
bool unequal(const Dim& a, const Dim& b);
/// Whether two extents differ for all values of their symbols, as far as their difference shows it.
bool differ(const Dim& a, const Dim& b);

/// The smaller of two nonnegative extents. If neither is known to be smaller, a symbol such as "min(512,N)".
Dim min_extent(const Dim& a, const Dim& b);

/// The integer for a symbol made by broadcast or min_extent, given values for the symbols in its name. Returns nullopt
/// for other symbols, and if a value is missing.
std::optional<int64_t> extent_value(const std::string& symbol,
                                    const std::function<std::optional<int64_t>(const std::string&)>& value_of);

/// The type of a result whose extents depend on the data. They must not be symbols, because equal symbols mean equal
/// extents.
TensorType unknown_shape(DType dtype);

/// Inference of elementwise operators: operands broadcast, and the result has the dtype of the first operand.
Result<std::vector<TensorType>> infer_same(const OpView& view);       // one operand, same type
Result<std::vector<TensorType>> infer_broadcast(const OpView& view);  // all operands of one dtype
Result<std::vector<TensorType>> infer_compare(const OpView& view);    // likewise, result bool

/// Fails unless operands i and j have the same dtype.
Status same_dtype(const OpView& view, size_t i, size_t j);
/// Fails unless operand i has this rank.
Status want_rank(const OpView& view, size_t i, size_t rank);
/// Fails unless operand i is a vector that may have `extent` elements.
Status want_vector(const OpView& view, size_t i, const Dim& extent);

/// FLOPs of one (or `n`) operations per result element.
double flops_per_element(const WorkView& view);

/// Number of elements.
double count(const std::vector<int64_t>& dims);

}  // namespace isomer
