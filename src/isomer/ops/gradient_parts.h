#pragma once
// Arithmetic and movements of GraphValues, of which gradients consist.

#include "isomer/ops/backward.h"

namespace isomer {

/// The result of an operator without attributes.
GraphValue apply(std::string_view op, std::initializer_list<GraphValue> operands);

/// A number as the one element of a tensor.
Tensor number_of(DType dtype, double value, const std::vector<int64_t>& dims = {});
/// A number as a scalar of the element type of `like`.
GraphValue number(const GraphValue& like, double value);

GraphValue operator+(const GraphValue& a, const GraphValue& b);
GraphValue operator-(const GraphValue& a, const GraphValue& b);
GraphValue operator*(const GraphValue& a, const GraphValue& b);
GraphValue operator/(const GraphValue& a, const GraphValue& b);
GraphValue operator-(const GraphValue& a);
inline GraphValue operator+(double a, const GraphValue& b) { return number(b, a) + b; }
inline GraphValue operator-(double a, const GraphValue& b) { return number(b, a) - b; }
inline GraphValue operator*(double a, const GraphValue& b) { return a == 1 ? b : number(b, a) * b; }
inline GraphValue operator/(double a, const GraphValue& b) { return number(b, a) / b; }
inline GraphValue operator+(const GraphValue& a, double b) { return a + number(a, b); }
inline GraphValue operator-(const GraphValue& a, double b) { return a - number(a, b); }
inline GraphValue operator/(const GraphValue& a, double b) { return b == 1 ? a : a / number(a, b); }

inline GraphValue exp(const GraphValue& x) { return apply("Exp", {x}); }
inline GraphValue sigmoid(const GraphValue& x) { return apply("Sigmoid", {x}); }
inline GraphValue square(const GraphValue& x) { return x * x; }
/// x > bound
GraphValue above(const GraphValue& x, double bound);
/// Whether real numbers are equal, for all opsets: the operator Equal takes them since opset 11.
GraphValue equal(const GraphValue& a, const GraphValue& b);
/// `x` where the condition holds, 0 elsewhere.
GraphValue masked(const GraphValue& condition, const GraphValue& x);
GraphValue where(const GraphValue& condition, const GraphValue& x, const GraphValue& y);
/// The elements converted to this real element type.
GraphValue converted(const GraphValue& x, DType dtype);

/// The sum or mean over these axes.
GraphValue summed(const GraphValue& x, const Ints& axes, bool keepdims);
GraphValue averaged(const GraphValue& x, const Ints& axes);
/// The elements in another shape with as many elements. Symbolic extents may only move as far as Reshape can express
/// it.
GraphValue reshaped(const GraphValue& x, const Shape& shape);
/// Broadcast to a shape, of which the extents that x does not have must be known.
GraphValue expanded(const GraphValue& x, const Shape& shape);
GraphValue transposed(const GraphValue& x, Ints perm);
GraphValue unsqueezed(const GraphValue& x, Ints axes);
/// The elements from `start` to `end` along an axis.
GraphValue sliced(const GraphValue& x, size_t axis, int64_t start, int64_t end);
/// Pads with zeros; negative numbers crop.
GraphValue padded(const GraphValue& x, Ints pads);
/// Zeros of a type with known extents.
GraphValue zeros(NodeWriter& node, const TensorType& type);
/// A vector with one number per channel (axis 1), of rank `rank` so that it broadcasts to images.
GraphValue per_channel(const GraphValue& vector, size_t rank);

/// `gradient`, of the shape of `extreme`, for those elements of `x` that are equal to their extreme (which broadcasts
/// to x), in equal shares if several are. `axes` are those over which the extreme was taken.
GraphValue shared_by_equals(const GraphValue& x, const GraphValue& extreme, const GraphValue& gradient,
                            const Ints& axes);

/// The axes from `first` to `end`.
Ints axis_range(size_t first, size_t end);
/// The integer of a known extent; refuses the gradient otherwise.
int64_t known_extent(const GraphValue& x, size_t axis);
/// The number of elements along these axes, which must be known.
double element_count(const GraphValue& x, const Ints& axes);

/// The gradient of y = f(x) for an elementwise function: derivative(x, y) is f'(x). The lambda captures nothing.
template <class F>
GradientFn derivative(F /*derivative*/) {
  return [](Backward& node) {
    if (node.needs(0)) node.give(0, node.gradient() * F()(node.operand(0), node.result()));
  };
}

/// The gradient of (x - mean) / sqrt(variance + epsilon) for x, where mean and variance are those of x over `axes`.
/// `gradient` is the one for the whole expression.
GraphValue normalization_gradient(const GraphValue& x, const GraphValue& gradient, const Ints& axes, double epsilon);
/// (x - mean) / sqrt(variance + epsilon)
GraphValue standardized(const GraphValue& x, const Ints& axes, double epsilon);

}  // namespace isomer
