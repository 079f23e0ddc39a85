// OneHot, and operators with data-dependent result sizes.

#include <algorithm>
#include <map>

#include "isomer/ops/axis.h"
#include "isomer/ops/form_params.h"
#include "isomer/ops/indices.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

Result<std::vector<TensorType>> infer_one_hot(const OpView& view) {
  const int64_t depth = view.attrs.integer("depth");
  if (depth < 0) return fail("OneHot of depth {}", depth);
  if (!is_integer(view.dtype(0)) && !is_real(view.dtype(0))) return fail("OneHot of {}", view.type(0).str());
  ISOMER_CHECK(want_rank(view, 1, 1));
  if (view.shape(1)[0].is_const() && !view.shape(1)[0].is(2))
    return fail("OneHot needs two values, got {}", view.type(1).str());
  ISOMER_TRY(const size_t axis, normal_axis(view.attrs.integer("axis"), view.rank(0) + 1));
  Shape shape = view.shape(0);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), Dim(depth));
  return std::vector<TensorType>{{view.dtype(1), std::move(shape)}};
}

/// Indices of any numeric type. A number that is not an integer becomes an index out of range.
Result<Ints> rounded_indices(const Tensor& tensor) {
  if (is_integer(tensor.dtype())) return int_elements(tensor);
  ISOMER_TRY(const Floats floats, float_elements(tensor));
  Ints out;
  for (const float f : floats) out.push_back(f >= -1e18F && f <= 1e18F ? static_cast<int64_t>(f) : INT64_MAX);
  return out;
}

Status one_hot_kernel(KernelContext& context) {
  ISOMER_TRY(const Ints indices, rounded_indices(context.operands[0]));
  const int64_t depth = context.attrs.integer("depth");
  const auto& dims = context.operands[0].dims();
  ISOMER_TRY(const size_t axis, normal_axis(context.attrs.integer("axis"), dims.size() + 1));
  return for_width(context.operands[1].dtype(), [&]<class T>() {
    const auto values = elements<T>(context.operands[1]);
    const auto to = mutable_elements<T>(new_result(context));
    std::fill(to.begin(), to.end(), values[0]);
    const int64_t inner = extent_product(dims, axis, dims.size());
    for (int64_t n = 0; n < static_cast<int64_t>(indices.size()); ++n) {
      const auto at = checked_index(indices[static_cast<size_t>(n)], depth);
      if (at) to[static_cast<size_t>((n / inner * depth + *at) * inner + n % inner)] = values[1];
    }
  });
}

/// The depth may be a number of any type.
Status one_hot_from_onnx(OnnxForm& form) {
  ISOMER_CHECK(front_axis(form, "axis", 1));
  if (!form.has(1) || form.operands[1].constant.empty()) return {};
  ISOMER_TRY(const Ints depth, rounded_indices(form.operands[1].constant));
  form.operands[1].constant = Tensor::ints({static_cast<int64_t>(depth.size())}, depth);
  return {};
}

Result<std::vector<TensorType>> infer_non_zero(const OpView& view) {
  (void)view;
  return std::vector<TensorType>{unknown_shape(DType::Int64)};
}

/// Whether each element differs from zero.
Result<std::vector<bool>> nonzero_elements(const Tensor& x) {
  std::vector<bool> out;
  const auto test = [&]<class T>() -> Status {
    for (const T& element : elements<T>(x)) out.push_back(!(element == T()));
    return {};
  };
  switch (x.dtype()) {
    case DType::Float:
      ISOMER_CHECK(test.operator()<float>());
      break;  // -0 is zero
    case DType::Double:
      ISOMER_CHECK(test.operator()<double>());
      break;
    case DType::Half:
    case DType::BFloat16:
      for (const uint16_t bits : x.data<uint16_t>()) out.push_back((bits & 0x7fff) != 0);
      break;
    default:
      ISOMER_CHECK(for_width(x.dtype(), test));
  }
  return out;
}

Status non_zero_kernel(KernelContext& context) {
  const Tensor& x = context.operands[0];
  ISOMER_TRY(const auto set, nonzero_elements(x));
  const auto found = std::count(set.begin(), set.end(), true);
  const auto rank = static_cast<int64_t>(x.dims().size());
  Tensor y = Tensor::zeros(DType::Int64, {rank, found});
  const auto to = y.mutable_data<int64_t>();
  const auto strides = strides_of(x.dims());
  int64_t column = 0;
  for (size_t n = 0; n < set.size(); ++n) {
    if (!set[n]) continue;
    for (size_t i = 0; i < x.dims().size(); ++i)
      to[i * static_cast<size_t>(found) + static_cast<size_t>(column)] =
          static_cast<int64_t>(n) / strides[i] % x.dims()[i];
    ++column;
  }
  context.results.push_back(std::move(y));
  return {};
}

/// Slices `kept` of x along `axis`, in that order.
template <class T>
Tensor taken(const Tensor& x, size_t axis, const std::vector<int64_t>& kept) {
  auto dims = x.dims();
  dims[axis] = static_cast<int64_t>(kept.size());
  Tensor y = Tensor::zeros(x.dtype(), dims);
  const auto from = elements<T>(x);
  auto out = mutable_elements<T>(y).begin();
  const AxisSplit split = axis_split(x.dims(), static_cast<int64_t>(axis));
  for (int64_t o = 0; o < split.outer; ++o)
    for (const int64_t at : kept)
      out = std::copy_n(from.begin() + split.start(o, 0) + at * split.inner, split.inner, out);
  return y;
}

/// x with the node's axis, or x as a vector if the operator has no `axis`.
Result<std::pair<Tensor, size_t>> along_axis(const KernelContext& context) {
  const Tensor& x = context.operands[0];
  if (!context.attrs.has("axis")) return std::pair(x.reshaped({x.element_count()}), size_t{0});
  ISOMER_TRY(const size_t axis, normal_axis(context.attrs.integer("axis"), x.dims().size()));
  return std::pair(x, axis);
}

Result<std::vector<TensorType>> infer_compress(const OpView& view) {
  ISOMER_CHECK(want_rank(view, 1, 1));
  if (view.dtype(1) != DType::Bool) return fail("the condition of Compress must be bool");
  if (view.attrs.has("axis")) ISOMER_CHECK(normal_axis(view.attrs.integer("axis"), view.rank(0)));
  return std::vector<TensorType>{unknown_shape(view.dtype(0))};
}

Status compress_kernel(KernelContext& context) {
  ISOMER_TRY(const auto whole, along_axis(context));
  const auto& [x, axis] = whole;
  const auto condition = context.operands[1].data<uint8_t>();
  std::vector<int64_t> kept;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] == 0) continue;
    if (static_cast<int64_t>(i) >= x.dims()[axis]) return fail("Compress keeps position {} of {}", i, x.dims()[axis]);
    kept.push_back(static_cast<int64_t>(i));
  }
  const Tensor& source = x;
  const size_t along = axis;
  return for_width(source.dtype(), [&]<class T>() { context.results.push_back(taken<T>(source, along, kept)); });
}

Result<std::vector<TensorType>> infer_unique(const OpView& view) {
  if (view.attrs.has("axis")) ISOMER_CHECK(normal_axis(view.attrs.integer("axis"), view.rank(0)));
  std::vector<TensorType> types{unknown_shape(view.dtype(0))};
  while (types.size() < std::min<size_t>(view.num_results, 4)) types.push_back(unknown_shape(DType::Int64));
  return types;
}

/// Groups of equal slices along an axis.
struct Groups {
  std::vector<int64_t> first;    // the first slice of each group, in the order of the result
  std::vector<int64_t> inverse;  // the group of each slice
  std::vector<int64_t> counts;
};

template <class T>
Groups group_slices(const Tensor& x, size_t axis, bool sorted) {
  const auto from = elements<T>(x);
  const AxisSplit split = axis_split(x.dims(), static_cast<int64_t>(axis));
  const auto key = [&](int64_t slice) {
    std::vector<T> out;
    for (int64_t o = 0; o < split.outer; ++o)
      for (int64_t i = 0; i < split.inner; ++i)
        out.push_back(from[static_cast<size_t>(split.start(o, i) + slice * split.inner)]);
    return out;
  };
  std::map<std::vector<T>, int64_t> group_of;
  Groups groups;
  for (int64_t slice = 0; slice < split.extent; ++slice) {
    const auto [at, fresh] = group_of.try_emplace(key(slice), static_cast<int64_t>(groups.first.size()));
    if (fresh) {
      groups.first.push_back(slice);
      groups.counts.push_back(0);
    }
    ++groups.counts[static_cast<size_t>(at->second)];
    groups.inverse.push_back(at->second);
  }
  if (!sorted) return groups;
  std::vector<int64_t> rank(groups.first.size());
  Groups ordered{{}, groups.inverse, {}};
  for (const auto& [unused, group] : group_of) {
    rank[static_cast<size_t>(group)] = static_cast<int64_t>(ordered.first.size());
    ordered.first.push_back(groups.first[static_cast<size_t>(group)]);
    ordered.counts.push_back(groups.counts[static_cast<size_t>(group)]);
  }
  for (int64_t& group : ordered.inverse) group = rank[static_cast<size_t>(group)];
  return ordered;
}

Status unique_kernel(KernelContext& context) {
  ISOMER_TRY(const auto whole, along_axis(context));
  const Tensor& x = whole.first;
  const size_t axis = whole.second;
  const bool sorted = context.attrs.integer("sorted") != 0;
  const auto run = [&]<class T>() -> Status {
    const Groups groups = group_slices<T>(x, axis, sorted);
    context.results.push_back(taken<T>(x, axis, groups.first));
    for (const auto* column : {&groups.first, &groups.inverse, &groups.counts})
      if (context.results.size() < context.types.size())
        context.results.push_back(Tensor::ints({static_cast<int64_t>(column->size())}, *column));
    return {};
  };
  if (x.dtype() == DType::String) return run.operator()<std::string>();
  if (x.dtype() == DType::Float || x.dtype() == DType::Double) {
    // NaN would break the order that finds equal slices.
    const bool nan = x.dtype() == DType::Float ? std::ranges::any_of(x.data<float>(), [](float v) { return v != v; })
                                               : std::ranges::any_of(x.data<double>(), [](double v) { return v != v; });
    if (nan) return fail("Unique of NaN");
    return x.dtype() == DType::Float ? run.operator()<float>() : run.operator()<double>();
  }
  return x.dtype() == DType::Field ? fail("Unique of field elements")
                                   : for_numeric(x.dtype(), [&]<class T>() -> Status {
                                       if constexpr (std::is_same_v<T, Fp>)
                                         return {};
                                       else
                                         return run.template operator()<T>();
                                     });
}

OpDef data_dependent(std::string name, size_t operands, InferFn infer, KernelFn kernel, Compute compute, int since) {
  return {.name = std::move(name),
          .min_operands = operands,
          .infer = infer,
          .kernel = kernel,
          .compute = compute,
          .data_dependent = true,
          .since = since,
          .from_onnx = known_operands_from_onnx};
}

}  // namespace

std::vector<OpDef> select_ops() {
  OpDef compress = data_dependent("Compress", 2, infer_compress, compress_kernel, Compute::Movement, 9);
  compress.roles = {OperandRole::Data, OperandRole::Condition};
  compress.attrs = {{.name = "axis", .kind = AttrKind::Int, .optional = true, .domain = AttrDomain::Axis}};
  OpDef unique = data_dependent("Unique", 1, infer_unique, unique_kernel, Compute::Numeric, 11);
  unique.attrs = {{.name = "axis", .kind = AttrKind::Int, .optional = true, .domain = AttrDomain::Axis},
                  {.name = "sorted", .kind = AttrKind::Int, .preset = int64_t{1}}};
  unique.max_results = 4;
  return {
      {.name = "OneHot",
       .attrs = {{.name = "axis", .kind = AttrKind::Int, .preset = int64_t{-1}, .domain = AttrDomain::Axis},
                 {.name = "depth", .kind = AttrKind::Int}},
       .min_operands = 2,
       .infer = infer_one_hot,
       .kernel = one_hot_kernel,
       .compute = Compute::Movement,
       .since = 9,
       .params = {{.index = 1, .attr = "depth", .since = 9}},
       .from_onnx = one_hot_from_onnx},
      data_dependent("NonZero", 1, infer_non_zero, non_zero_kernel, Compute::Movement, 9),
      std::move(compress),
      std::move(unique),
  };
}

}  // namespace isomer
