#include "isomer/ops/gradient_parts.h"

#include <numeric>

#include "isomer/ops/kernel_types.h"

namespace isomer {
namespace {

/// The mean over the axes, broadcast back by the arithmetic that uses it, and 1 / sqrt(variance + epsilon).
struct Statistics {
  GraphValue centered;
  GraphValue inverse;
};

Statistics statistics(const GraphValue& x, const Ints& axes, double epsilon) {
  const GraphValue centered = x - averaged(x, axes);
  const GraphValue variance = averaged(square(centered), axes);
  return {centered, apply("Reciprocal", {apply("Sqrt", {variance + epsilon})})};
}

}  // namespace

GraphValue apply(std::string_view op, std::initializer_list<GraphValue> operands) {
  return operands.begin()->node().call(op, {}, operands);
}

Tensor number_of(DType dtype, double value, const std::vector<int64_t>& dims) {
  if (dtype == DType::Double) return Tensor::of<double>(dtype, dims, {value});
  if (!is_real(dtype)) return narrowed(Compute::Numeric, Tensor::ints(dims, {static_cast<int64_t>(value)}), dtype);
  return narrowed(Compute::Numeric, Tensor::floats(dims, {static_cast<float>(value)}), dtype);
}

GraphValue number(const GraphValue& like, double value) { return like.node().constant(number_of(like.dtype(), value)); }

GraphValue operator+(const GraphValue& a, const GraphValue& b) { return apply("Add", {a, b}); }
GraphValue operator-(const GraphValue& a, const GraphValue& b) { return apply("Sub", {a, b}); }
GraphValue operator*(const GraphValue& a, const GraphValue& b) { return apply("Mul", {a, b}); }
GraphValue operator/(const GraphValue& a, const GraphValue& b) { return apply("Div", {a, b}); }
GraphValue operator-(const GraphValue& a) { return apply("Neg", {a}); }

GraphValue above(const GraphValue& x, double bound) { return apply("Greater", {x, number(x, bound)}); }
GraphValue equal(const GraphValue& a, const GraphValue& b) {
  return apply("Not", {apply("Or", {apply("Less", {a, b}), apply("Greater", {a, b})})});
}
GraphValue where(const GraphValue& condition, const GraphValue& x, const GraphValue& y) {
  return apply("Where", {condition, x, y});
}
GraphValue masked(const GraphValue& condition, const GraphValue& x) { return where(condition, x, number(x, 0)); }

GraphValue converted(const GraphValue& x, DType dtype) {
  return x.dtype() == dtype ? x : x.node().call("Cast", {{"to", static_cast<int64_t>(dtype)}}, {x});
}

GraphValue summed(const GraphValue& x, const Ints& axes, bool keepdims) {
  return x.node().call("ReduceSum", {{"axes", axes}, {"keepdims", int64_t{keepdims}}}, {x});
}
GraphValue averaged(const GraphValue& x, const Ints& axes) {
  return x.node().call("ReduceMean", {{"axes", axes}}, {x});
}

GraphValue reshaped(const GraphValue& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Ints extents;
  bool inferred = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].is_const()) {
      extents.push_back(shape[i].value());
    } else if (i < x.rank() && x.shape()[i] == shape[i]) {
      extents.push_back(0);
    } else {
      if (inferred) x.node().refuse(fmt::format("the extents of {} are not known", shape_str(shape)));
      inferred = true;
      extents.push_back(-1);
    }
  }
  return x.node().call("Reshape", {{"shape", std::move(extents)}}, {x});
}

GraphValue expanded(const GraphValue& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Ints extents;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t missing = shape.size() - x.rank();
    const bool same = i >= missing && x.shape()[i - missing] == shape[i];
    if (!same && !shape[i].is_const()) x.node().refuse(fmt::format("the extent {} is not known", shape[i].str()));
    extents.push_back(same ? 1 : shape[i].value());
  }
  return x.node().call("Expand", {{"shape", std::move(extents)}}, {x});
}

GraphValue transposed(const GraphValue& x, Ints perm) {
  return x.node().call("Transpose", {{"perm", std::move(perm)}}, {x});
}

GraphValue unsqueezed(const GraphValue& x, Ints axes) {
  return x.node().call("Unsqueeze", {{"axes", std::move(axes)}}, {x});
}

GraphValue sliced(const GraphValue& x, size_t axis, int64_t start, int64_t end) {
  return x.node().call(
      "Slice",
      {{"starts", Ints{start}}, {"ends", Ints{end}}, {"axes", Ints{static_cast<int64_t>(axis)}}, {"steps", Ints{1}}},
      {x});
}

GraphValue padded(const GraphValue& x, Ints pads) {
  if (std::ranges::all_of(pads, [](int64_t pad) { return pad == 0; })) return x;
  return x.node().call("Pad", {{"pads", std::move(pads)}}, {x});
}

GraphValue zeros(NodeWriter& node, const TensorType& type) {
  Ints extents;
  for (const Dim& dim : *type.shape) {
    if (!dim.is_const()) node.refuse(fmt::format("the extents of {} are not known", type.str()));
    extents.push_back(dim.value());
  }
  const Tensor zero = Tensor::zeros(type.dtype, {1});
  return node.call("ConstantOfShape", {{"shape", std::move(extents)}, {"value", zero}}, {});
}

GraphValue per_channel(const GraphValue& vector, size_t rank) {
  return rank <= 2 ? vector : unsqueezed(vector, axis_range(1, rank - 1));
}

GraphValue shared_by_equals(const GraphValue& x, const GraphValue& extreme, const GraphValue& gradient,
                            const Ints& axes) {
  const GraphValue is_equal = equal(x, extreme);
  const GraphValue count = summed(converted(is_equal, x.dtype()), axes, true);
  return masked(is_equal, gradient / count);
}

Ints axis_range(size_t first, size_t end) {
  Ints axes(end > first ? end - first : 0);
  std::iota(axes.begin(), axes.end(), static_cast<int64_t>(first));
  return axes;
}

int64_t known_extent(const GraphValue& x, size_t axis) {
  const Dim& dim = x.shape()[axis];
  if (!dim.is_const()) x.node().refuse(fmt::format("the extent {} is not known", dim.str()));
  return dim.value();
}

double element_count(const GraphValue& x, const Ints& axes) {
  double count = 1;
  for (const int64_t axis : axes) count *= static_cast<double>(known_extent(x, static_cast<size_t>(axis)));
  return count;
}

GraphValue standardized(const GraphValue& x, const Ints& axes, double epsilon) {
  const Statistics of_x = statistics(x, axes, epsilon);
  return of_x.centered * of_x.inverse;
}

GraphValue normalization_gradient(const GraphValue& x, const GraphValue& gradient, const Ints& axes, double epsilon) {
  const Statistics of_x = statistics(x, axes, epsilon);
  const GraphValue y = of_x.centered * of_x.inverse;
  return of_x.inverse * (gradient - averaged(gradient, axes) - y * averaged(gradient * y, axes));
}

}  // namespace isomer
