#include "isomer/ops/infer.h"

#include <algorithm>

namespace isomer {

Result<size_t> normal_axis(int64_t axis, size_t rank) {
  const auto n = static_cast<int64_t>(rank);
  if (axis < -n || axis >= n) return fail("axis {} is out of range for rank {}", axis, rank);
  return static_cast<size_t>(axis < 0 ? axis + n : axis);
}

Result<std::vector<size_t>> normal_axes(const Ints& axes, size_t rank) {
  std::vector<size_t> out;
  for (const int64_t axis : axes) {
    ISOMER_TRY(const size_t normal, normal_axis(axis, rank));
    if (std::find(out.begin(), out.end(), normal) != out.end()) return fail("axis {} is given twice", axis);
    out.push_back(normal);
  }
  return out;
}

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const Dim one(1);
    const Dim& x = i < out.size() - a.size() ? one : a[i - (out.size() - a.size())];
    const Dim& y = i < out.size() - b.size() ? one : b[i - (out.size() - b.size())];
    if (x == y || y.is(1)) {
      out[i] = x;
    } else if (x.is(1)) {
      out[i] = y;
    } else if (x.is_const() && y.is_const()) {
      return fail("shapes {} and {} do not broadcast", shape_str(a), shape_str(b));
    } else {
      out[i] = y.is_const() ? y : x;
    }
  }
  return out;
}

Result<std::vector<TensorType>> infer_same(const OpView& view) { return std::vector<TensorType>{view.type(0)}; }

Result<std::vector<TensorType>> infer_broadcast(const OpView& view) {
  Shape shape = view.shape(0);
  for (size_t i = 1; i < view.operands.size(); ++i) {
    ISOMER_CHECK(same_dtype(view, 0, i));
    ISOMER_TRY(shape, broadcast(shape, view.shape(i)));
  }
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

Result<std::vector<TensorType>> infer_compare(const OpView& view) {
  ISOMER_TRY(std::vector<TensorType> types, infer_broadcast(view));
  types[0].dtype = DType::Bool;
  return types;
}

Status same_dtype(const OpView& view, size_t i, size_t j) {
  if (view.dtype(i) != view.dtype(j))
    return fail("operands {} and {} of {} have different element types ({} and {})", i, j, view.op.name,
                dtype_name(view.dtype(i)), dtype_name(view.dtype(j)));
  return {};
}

Status want_rank(const OpView& view, size_t i, size_t rank) {
  if (view.rank(i) != rank)
    return fail("operand {} of {} must have rank {}, it is {}", i, view.op.name, rank, view.type(i).str());
  return {};
}

double count(const std::vector<int64_t>& dims) {
  double n = 1;
  for (const int64_t dim : dims) n *= static_cast<double>(dim);
  return n;
}

double flops_per_element(const WorkView& view) { return count(view.results[0]); }

double flops_none(const WorkView&) { return 0; }

}  // namespace isomer
