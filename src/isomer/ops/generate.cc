// Operators whose results do not depend on the elements of their operands.

#include "isomer/ops/accumulate.h"
#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/domain.h"
#include "isomer/ops/elementwise.h"
#include "isomer/ops/form_params.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

Result<std::vector<TensorType>> infer_constant_of_shape(const OpView& view) {
  const Ints& shape = view.attrs.ints("shape");
  for (const int64_t extent : shape)
    if (extent < 0) return fail("ConstantOfShape with the extent {}", extent);
  const Tensor& value = view.attrs.tensor("value");
  if (value.element_count() != 1)
    return fail("the value of ConstantOfShape must be one element, it is {}", value.type().str());
  return std::vector<TensorType>{{value.dtype(), Shape(shape.begin(), shape.end())}};
}

Status constant_of_shape_kernel(KernelContext& context) {
  const Tensor& value = context.attrs.tensor("value");
  return for_width(value.dtype(), [&]<class T>() {
    const auto y = mutable_elements<T>(new_result(context));
    std::fill(y.begin(), y.end(), elements<T>(value)[0]);
  });
}

void constant_of_shape_axiom(Axiom& axiom) {
  const std::vector<Dim>& shape = axiom.integers("shape");
  for (const Dim& extent : shape) axiom.scope.assume(at_most(0, extent));
  axiom.results.push_back({shape, [value = axiom.number("value")](const SymbolicIndex&) { return value; }, axiom.real});
}

/// Converts the value to one element of rank 1, so that equal nodes have equal attributes.
Status constant_of_shape_from_onnx(OnnxForm& form) {
  const Tensor* value = form.get<Tensor>("value");
  if (value != nullptr && value->element_count() == 1) form.attrs["value"] = Tensor(*value).reshaped({1});
  return {};
}

/// The three scalars of a Range, all of one dtype.
struct RangeOf {
  DType dtype;
  double start, limit, delta;
  Ints exact;  // the same, for integers
};

Result<RangeOf> range_of(const Attrs& attrs) {
  RangeOf range{attrs.tensor("start").dtype(), 0, 0, 0, {}};
  double* const parts[] = {&range.start, &range.limit, &range.delta};
  size_t i = 0;
  for (const char* name : {"start", "limit", "delta"}) {
    const Tensor& tensor = attrs.tensor(name);
    if (tensor.dtype() != range.dtype || tensor.element_count() != 1)
      return fail("{} of Range is {}, not a scalar of {}", name, tensor.type().str(), dtype_name(range.dtype));
    if (is_integer(range.dtype)) {
      ISOMER_TRY(const Ints ints, int_elements(tensor));
      range.exact.push_back(ints[0]);
      *parts[i++] = static_cast<double>(ints[0]);
    } else {
      ISOMER_TRY(*parts[i++], real_element(tensor));
    }
  }
  if (range.delta == 0 || !std::isfinite(range.start) || !std::isfinite(range.limit) || !std::isfinite(range.delta))
    return fail("Range from {} to {} in steps of {}", range.start, range.limit, range.delta);
  return range;
}

/// max(ceil((limit - start) / delta), 0)
Result<int64_t> range_count(const RangeOf& range) {
  if (!range.exact.empty()) {
    const __int128 span = static_cast<__int128>(range.exact[1]) - range.exact[0];
    const __int128 delta = range.exact[2];
    if (span == 0 || (span < 0) != (delta < 0)) return 0;
    const __int128 count = (span + delta + (delta < 0 ? 1 : -1)) / delta;
    return static_cast<int64_t>(std::min<__int128>(count, Dim::kHuge));
  }
  const double n = std::ceil((range.limit - range.start) / range.delta);
  if (!(n <= 0x1p60)) return fail("Range has too many elements");
  return static_cast<int64_t>(std::max(n, 0.0));
}

Result<std::vector<TensorType>> infer_range(const OpView& view) {
  ISOMER_TRY(const RangeOf range, range_of(view.attrs));
  ISOMER_TRY(const int64_t n, range_count(range));
  return std::vector<TensorType>{{range.dtype, {n}}};
}

Status range_kernel(KernelContext& context) {
  ISOMER_TRY(const RangeOf range, range_of(context.attrs));
  return for_numeric(context.types[0].dtype, [&]<class T>() {
    const auto y = new_result(context).mutable_data<T>();
    for (size_t i = 0; i < y.size(); ++i) {
      if constexpr (std::is_integral_v<T>)
        y[i] = static_cast<T>(static_cast<uint64_t>(range.exact[0]) + i * static_cast<uint64_t>(range.exact[2]));
      else
        y[i] = scalar<T>(range.start + static_cast<double>(i) * range.delta);
    }
  });
}

/// Converts scalars to rank 0, so that equal nodes have equal operands.
Status range_from_onnx(OnnxForm& form) {
  for (FormOperand& operand : form.operands)
    if (!operand.constant.empty() && operand.constant.element_count() == 1)
      operand.constant = operand.constant.reshaped({});
  return {};
}

Status want_dtype(int64_t number) {
  if (number < 1 || number > 254 || !dtype_from_onnx(static_cast<int>(number))) return fail("unknown type {}", number);
  return {};
}

Result<std::vector<TensorType>> infer_eye_like(const OpView& view) {
  ISOMER_CHECK(want_rank(view, 0, 2));
  DType dtype = view.dtype(0);
  if (view.attrs.has("dtype")) {
    ISOMER_CHECK(want_dtype(view.attrs.integer("dtype")));
    dtype = *dtype_from_onnx(static_cast<int>(view.attrs.integer("dtype")));
  }
  if (!is_number(dtype) && dtype != DType::Bool) return fail("EyeLike of {}", dtype_name(dtype));
  return std::vector<TensorType>{{dtype, view.shape(0)}};
}

Status eye_like_kernel(KernelContext& context) {
  return for_numeric(context.types[0].dtype, [&]<class T>() {
    const int64_t k = context.attrs.integer("k");
    Tensor& y = new_result(context);
    const auto out = y.mutable_data<T>();
    const int64_t columns = y.dims()[1];
    for (int64_t row = 0; row < y.dims()[0]; ++row)
      for (int64_t column = 0; column < columns; ++column)
        out[static_cast<size_t>(row * columns + column)] = T(column - row == k ? 1 : 0);
  });
}

void eye_like_axiom(Axiom& axiom) {
  bool real = axiom.operand(0).real;
  if (axiom.has("dtype")) {
    const int64_t dtype = axiom.known("dtype");
    real = dtype == static_cast<int64_t>(DType::Float) || dtype == static_cast<int64_t>(DType::Double);
  }
  const auto at = [&scope = axiom.scope, k = axiom.integer("k")](const SymbolicIndex& index) {
    return Element(scope.decide(equal(index[1] - index[0], k)) ? 1 : 0);
  };
  axiom.results.push_back({axiom.operand(0).shape, at, real});
}

/// The axes [first, second) that a Shape node returns, clamped to the rank like Python slices.
std::pair<int64_t, int64_t> shape_range(const Attrs& attrs, size_t rank) {
  const auto n = static_cast<int64_t>(rank);
  const auto clamped = [n](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + n : at, 0, n); };
  const int64_t start = clamped(std::max(attrs.integer("start"), -n));
  const int64_t end = attrs.has("end") ? clamped(std::max(attrs.integer("end"), -n)) : n;
  return {start, std::max(start, end)};
}

Result<std::vector<TensorType>> infer_shape(const OpView& view) {
  const auto [start, end] = shape_range(view.attrs, view.rank(0));
  return std::vector<TensorType>{{DType::Int64, {end - start}}};
}

Status shape_kernel(KernelContext& context) {
  const auto& dims = context.operands[0].dims();
  const auto [start, end] = shape_range(context.attrs, dims.size());
  context.results.push_back(Tensor::ints({end - start}, Ints(dims.begin() + start, dims.begin() + end)));
  return {};
}

Result<std::vector<TensorType>> infer_size(const OpView&) { return std::vector<TensorType>{{DType::Int64, {}}}; }

Status size_kernel(KernelContext& context) {
  context.results.push_back(Tensor::ints({}, {context.operands[0].element_count()}));
  return {};
}

Result<std::vector<TensorType>> infer_trilu(const OpView& view) {
  if (view.rank(0) < 2) return fail("Trilu needs a matrix, it got {}", view.type(0).str());
  return infer_same(view);
}

/// Keeps one side of the k-th diagonal of each matrix.
Status trilu_kernel(KernelContext& context) {
  return for_width(context.operands[0].dtype(), [&]<class T>() {
    const Tensor& x = context.operands[0];
    const bool upper = context.attrs.integer("upper") != 0;
    const int64_t k = context.attrs.integer("k");
    const int64_t rows = x.dims()[x.dims().size() - 2];
    const int64_t columns = x.dims().back();
    const auto from = elements<T>(x);
    const auto to = mutable_elements<T>(new_result(context));
    for (size_t i = 0; i < from.size(); ++i) {
      const int64_t column = static_cast<int64_t>(i) % columns;
      const int64_t distance = column - static_cast<int64_t>(i) / columns % rows;
      if (upper ? distance >= k : distance <= k) to[i] = from[i];
    }
  });
}

void trilu_axiom(Axiom& axiom) {
  SymbolicTensor x = axiom.operand(0);
  const bool upper = axiom.known("upper") != 0;
  const auto at = [&scope = axiom.scope, x, upper, k = axiom.integer("k")](const SymbolicIndex& index) {
    const Dim distance = index.back() - index[index.size() - 2];
    return scope.decide(upper ? at_most(k, distance) : at_most(distance, k)) ? x.at(index) : Element(0);
  };
  axiom.results.push_back({x.shape, at, x.real});
}

void trilu_gradient(Backward& node) { node.give(0, node.call("Trilu", node.attrs(), {node.gradient()})); }

}  // namespace

std::vector<OpDef> generate_ops() {
  return {
      {.name = "ConstantOfShape",
       .attrs = {{.name = "shape", .kind = AttrKind::Ints, .domain = AttrDomain::Shape},
                 {.name = "value", .kind = AttrKind::Tensor, .preset = Tensor::floats({1}, {0})}},
       .min_operands = 0,
       .infer = infer_constant_of_shape,
       .kernel = constant_of_shape_kernel,
       .compute = Compute::Movement,
       .axiom = constant_of_shape_axiom,
       .since = 9,
       .params = {{.index = 0, .attr = "shape", .since = 9}},
       .from_onnx = constant_of_shape_from_onnx},
      {.name = "Range",
       .attrs = {{.name = "start", .kind = AttrKind::Tensor},
                 {.name = "limit", .kind = AttrKind::Tensor},
                 {.name = "delta", .kind = AttrKind::Tensor},
                 stash_type(27)},
       .min_operands = 0,
       .infer = infer_range,
       .kernel = range_kernel,
       .since = 11,
       .params = {{.index = 0, .attr = "start", .since = 11},
                  {.index = 1, .attr = "limit", .since = 11},
                  {.index = 2, .attr = "delta", .since = 11}},
       .from_onnx = range_from_onnx},
      {.name = "EyeLike",
       .attrs = {{.name = "dtype", .kind = AttrKind::Int, .optional = true},
                 choice("k", int64_t{0}, numbers({1, 2, 3}))},
       .infer = infer_eye_like,
       .kernel = eye_like_kernel,
       .axiom = eye_like_axiom,
       .gradient = zero_gradient,
       .since = 9},
      {.name = "Shape",
       .attrs = {{.name = "start", .kind = AttrKind::Int, .preset = int64_t{0}, .since = 15},
                 {.name = "end", .kind = AttrKind::Int, .optional = true, .since = 15}},
       .infer = infer_shape,
       .kernel = shape_kernel,
       .compute = Compute::Movement,
       .gradient = zero_gradient},
      {.name = "Size",
       .infer = infer_size,
       .kernel = size_kernel,
       .compute = Compute::Movement,
       .gradient = zero_gradient},
      {.name = "Trilu",
       .attrs = {choice("k", int64_t{0}, numbers({1, 2, 3})),
                 {.name = "upper", .kind = AttrKind::Int, .preset = int64_t{1}}},
       .infer = infer_trilu,
       .kernel = trilu_kernel,
       .compute = Compute::Movement,
       .axiom = trilu_axiom,
       .gradient = trilu_gradient,
       .since = 14,
       .params = {{.index = 1, .attr = "k", .since = 14}}},
  };
}

}  // namespace isomer
