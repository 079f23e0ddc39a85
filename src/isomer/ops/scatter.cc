// Writes elements through indices.

#include <algorithm>

#include "isomer/ops/form_params.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/indices.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/registry.h"
#include "isomer/ops/stored.h"

namespace isomer {
namespace {

enum class Reduction : uint8_t { None, Add, Mul, Min, Max };

Result<Reduction> reduction_of(const Attrs& attrs) {
  const std::string& name = attrs.text("reduction");
  if (name == "none") return Reduction::None;
  if (name == "add") return Reduction::Add;
  if (name == "mul") return Reduction::Mul;
  if (name == "min") return Reduction::Min;
  if (name == "max") return Reduction::Max;
  return fail("unknown reduction '{}'", name);
}

/// `old` combined with the scattered element; integers wrap around.
template <class T>
T combined(Reduction reduction, T old, T update) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(combined<float>(reduction, old, update));
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (reduction == Reduction::Add) return static_cast<T>(static_cast<uint64_t>(old) + static_cast<uint64_t>(update));
    if (reduction == Reduction::Mul) return static_cast<T>(static_cast<uint64_t>(old) * static_cast<uint64_t>(update));
    return reduction == Reduction::Min ? std::min(old, update) : std::max(old, update);
  } else {
    switch (reduction) {
      case Reduction::Add:
        return old + update;
      case Reduction::Mul:
        return old * update;
      case Reduction::Min:
        return scalar_min<T>(old, update);
      default:
        return scalar_max<T>(old, update);
    }
  }
}

/// Calls f with the type of an element that supports arithmetic.
template <class F>
Status for_arithmetic(DType dtype, F&& f) {
  const auto refused = [&]() -> Status { return fail("no scattering reduction on {}", dtype_name(dtype)); };
  if (dtype == DType::Field) return f.template operator()<Fp>();
  return dtype == DType::Bool ? refused() : for_stored(dtype, f, refused);
}

/// The target of each run of `run` update elements: offsets into the result, in order.
struct Targets {
  std::vector<int64_t> offsets;
  int64_t run = 1;
};

/// The result of scattering operand 2 onto operand 0.
Status write_targets(KernelContext& context, const Targets& targets) {
  ISOMER_TRY(const Reduction reduction, reduction_of(context.attrs));
  const Tensor& x = context.operands[0];
  const auto write = [&]<class T>(auto&& put) -> Status {
    const auto from = elements<T>(x);
    const auto updates = elements<T>(context.operands[2]);
    const auto to = mutable_elements<T>(new_result(context));
    std::copy(from.begin(), from.end(), to.begin());
    size_t n = 0;
    for (const int64_t offset : targets.offsets)
      for (int64_t i = 0; i < targets.run; ++i) put(to[static_cast<size_t>(offset + i)], updates[n++]);
    return {};
  };
  if (reduction == Reduction::None)
    return for_width(x.dtype(), [&]<class T>() {
      return write.template operator()<T>([](T& old, const T& update) { old = update; });
    });
  return for_arithmetic(x.dtype(), [&]<class T>() {
    return write.template operator()<T>(
        [reduction](T& old, const T& update) { old = combined<T>(reduction, old, update); });
  });
}

/// One operation per scattered element if there is a reduction.
double scatter_flops(const WorkView& view) {
  return view.attrs.text("reduction") == "none" ? 0 : count(view.operands[2]);
}

Result<std::vector<TensorType>> infer_scatter_elements(const OpView& view) {
  ISOMER_CHECK(want_indices(view, 1));
  ISOMER_CHECK(same_dtype(view, 0, 2));
  ISOMER_CHECK(reduction_of(view.attrs));
  ISOMER_TRY(const size_t axis, normal_axis(view.attrs.integer("axis"), view.rank(0)));
  ISOMER_CHECK(want_rank(view, 1, view.rank(0)));
  ISOMER_CHECK(want_rank(view, 2, view.rank(0)));
  for (size_t i = 0; i < view.rank(0); ++i) {
    const bool beyond = i != axis && at_least(view.shape(0)[i], view.shape(1)[i]) == false;
    if (beyond || differ(view.shape(1)[i], view.shape(2)[i]))
      return fail("{} of {} at {} onto {}", view.op.name, view.type(2).str(), view.type(1).str(), view.type(0).str());
  }
  return std::vector<TensorType>{view.type(0)};
}

Status scatter_elements_kernel(KernelContext& context) {
  Targets targets;
  ISOMER_TRY(targets.offsets,
             element_offsets(context.operands[1], context.operands[0].dims(), context.attrs.integer("axis")));
  return write_targets(context, targets);
}

/// ScatterElements was called Scatter before opset 11.
Status scatter_from_onnx(OnnxForm& form) {
  form.op_type = "ScatterElements";
  return front_axis(form, "axis");
}

/// Minimum and maximum exist since opset 18, the other reductions since opset 16.
Status scatter_to_onnx(OnnxForm& form) {
  if (form.op_type != "ScatterND") form.op_type = form.opset < 11 ? "Scatter" : "ScatterElements";
  const std::string* reduction = form.get<std::string>("reduction");
  if (reduction != nullptr && (*reduction == "min" || *reduction == "max") && form.opset < 18)
    return form.leave_opaque(fmt::format("the reduction '{}' needs opset 18", *reduction));
  return {};
}

Result<std::vector<TensorType>> infer_scatter_nd(const OpView& view) {
  ISOMER_CHECK(want_indices(view, 1));
  ISOMER_CHECK(same_dtype(view, 0, 2));
  ISOMER_CHECK(reduction_of(view.attrs));
  if (view.rank(0) == 0 || view.rank(1) == 0) return fail("ScatterND needs operands of rank 1 or more");
  const Dim& length = view.shape(1).back();
  if (!length.is_const()) return fail("ScatterND needs to know the last extent of its indices");
  if (length.value() < 0 || static_cast<size_t>(length.value()) > view.rank(0))
    return fail("ScatterND onto {} got coordinates of length {}", view.type(0).str(), length.value());
  Shape wanted(view.shape(1).begin(), view.shape(1).end() - 1);
  wanted.insert(wanted.end(), view.shape(0).begin() + length.value(), view.shape(0).end());
  bool fits = wanted.size() == view.rank(2);
  for (size_t i = 0; fits && i < wanted.size(); ++i) fits = !differ(wanted[i], view.shape(2)[i]);
  if (!fits) return fail("ScatterND of {}, which must be {}", view.type(2).str(), shape_str(wanted));
  return std::vector<TensorType>{view.type(0)};
}

Status scatter_nd_kernel(KernelContext& context) {
  const auto& extents = context.operands[0].dims();
  const Tensor& index = context.operands[1];
  ISOMER_TRY(const Ints indices, int_elements(index));
  const auto length = static_cast<size_t>(index.dims().back());
  Targets targets{{}, extent_product(extents, length, extents.size())};
  const int64_t rows = extent_product(index.dims(), 0, index.dims().size() - 1);
  if (targets.run == 0) return write_targets(context, targets);
  for (int64_t n = 0; n < rows; ++n) {
    const std::span<const int64_t> coordinates(indices.data() + static_cast<size_t>(n) * length, length);
    ISOMER_TRY(const int64_t at, coordinate_offset(coordinates, {extents.data(), length}));
    targets.offsets.push_back(at * targets.run);
  }
  return write_targets(context, targets);
}

Result<std::vector<TensorType>> infer_tensor_scatter(const OpView& view) {
  ISOMER_CHECK(same_dtype(view, 0, 1));
  ISOMER_CHECK(want_rank(view, 1, view.rank(0)));
  ISOMER_TRY(const size_t axis, normal_axis(view.attrs.integer("axis"), view.rank(0)));
  const std::string& mode = view.attrs.text("mode");
  if (axis == 0 || (mode != "linear" && mode != "circular"))
    return fail("TensorScatter along axis {} in mode '{}'", axis, mode);
  for (size_t i = 0; i < view.rank(0); ++i) {
    const Dim& cache = view.shape(0)[i];
    const Dim& update = view.shape(1)[i];
    if (i == axis ? at_least(cache, update) == false : differ(cache, update))
      return fail("TensorScatter of {} into {}", view.type(1).str(), view.type(0).str());
  }
  if (view.has(2)) {
    ISOMER_CHECK(want_rank(view, 2, 1));
    if (view.dtype(2) != DType::Int64 || differ(view.shape(2)[0], view.shape(0)[0]))
      return fail("TensorScatter into {} at {}", view.type(0).str(), view.type(2).str());
  }
  return std::vector<TensorType>{view.type(0)};
}

Status tensor_scatter_kernel(KernelContext& context) {
  const auto& cache = context.operands[0].dims();
  const auto& update = context.operands[1].dims();
  ISOMER_TRY(const size_t axis, normal_axis(context.attrs.integer("axis"), cache.size()));
  const bool circular = context.attrs.text("mode") == "circular";
  const int64_t rows = extent_product(cache, 0, axis);
  const int64_t rows_per_batch = extent_product(cache, 1, axis);
  const int64_t run = extent_product(cache, axis + 1, cache.size());
  return for_width(context.operands[0].dtype(), [&]<class T>() -> Status {
    const auto old = elements<T>(context.operands[0]);
    const auto from = elements<T>(context.operands[1]);
    const auto to = mutable_elements<T>(new_result(context));
    std::copy(old.begin(), old.end(), to.begin());
    for (int64_t row = 0; row < rows; ++row) {
      const auto batch = static_cast<size_t>(row / rows_per_batch);
      const int64_t first = context.has(2) ? context.operands[2].data<int64_t>()[batch] : 0;
      for (int64_t n = 0; n < update[axis]; ++n) {
        if (first < 0 || first > Dim::kHuge) return fail("TensorScatter at the position {}", first);
        const int64_t at = circular ? (first + n) % cache[axis] : first + n;
        if (at >= cache[axis]) return fail("TensorScatter at position {} of {}", at, cache[axis]);
        std::copy_n(from.begin() + (row * update[axis] + n) * run, run, to.begin() + (row * cache[axis] + at) * run);
      }
    }
    return {};
  });
}

/// The gradient of writing or adding updates. `gathered` reads at the places to which they go. Places that are written
/// twice are not allowed.
void scatter_gradient(Backward& node, const auto& gathered) {
  const Result<Reduction> reduction = reduction_of(node.attrs());
  if (reduction != Reduction::None && reduction != Reduction::Add)
    node.refuse("there is a gradient only without a reduction and for 'add'");
  const GraphValue g = node.gradient();
  if (node.needs(2)) node.give(2, gathered(g));
  if (!node.needs(0)) return;
  if (reduction == Reduction::Add) return node.give(0, g);
  node.give(0, node.call(node.op().name, node.attrs(), {g, node.operand(1), zeros(node, node.operand(2).type())}));
}
void scatter_elements_gradient(Backward& node) {
  scatter_gradient(node, [&](const GraphValue& g) {
    return node.call("GatherElements", {{"axis", node.attrs().integer("axis")}}, {g, node.operand(1)});
  });
}
void scatter_nd_gradient(Backward& node) {
  scatter_gradient(node, [&](const GraphValue& g) {
    return node.call("GatherND", {{"batch_dims", int64_t{0}}}, {g, node.operand(1)});
  });
}

OpDef scatter_elements(std::string name, int since) {
  return {.name = std::move(name),
          .attrs = {{.name = "axis", .kind = AttrKind::Int, .preset = int64_t{0}, .domain = AttrDomain::Axis},
                    {.name = "reduction", .kind = AttrKind::String, .preset = std::string("none"), .since = 16}},
          .min_operands = 3,
          .infer = infer_scatter_elements,
          .flops = scatter_flops,
          .kernel = scatter_elements_kernel,
          .compute = Compute::Movement,
          .gradient = scatter_elements_gradient,
          .roles = {OperandRole::Data, OperandRole::ElementIndices},
          .since = since,
          .from_onnx = scatter_from_onnx,
          .to_onnx = scatter_to_onnx};
}

}  // namespace

std::vector<OpDef> scatter_ops() {
  return {
      scatter_elements("Scatter", 9),
      scatter_elements("ScatterElements", 9),  // written as Scatter before 11
      {.name = "ScatterND",
       .attrs = {{.name = "reduction", .kind = AttrKind::String, .preset = std::string("none"), .since = 16}},
       .min_operands = 3,
       .infer = infer_scatter_nd,
       .flops = scatter_flops,
       .kernel = scatter_nd_kernel,
       .compute = Compute::Movement,
       .gradient = scatter_nd_gradient,
       .roles = {OperandRole::Data, OperandRole::Coordinates},
       .since = 11,
       .from_onnx = coordinates_from_onnx,
       .to_onnx = scatter_to_onnx},
      {.name = "TensorScatter",
       .attrs = {{.name = "mode", .kind = AttrKind::String, .preset = std::string("linear")},
                 {.name = "axis", .kind = AttrKind::Int, .preset = int64_t{-2}, .domain = AttrDomain::Axis}},
       .min_operands = 2,
       .max_operands = 3,
       .infer = infer_tensor_scatter,
       .kernel = tensor_scatter_kernel,
       .compute = Compute::Movement,
       .since = 24},
  };
}

}  // namespace isomer
