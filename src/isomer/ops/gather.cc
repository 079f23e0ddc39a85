// Reads elements through indices.

#include <algorithm>
#include <utility>

#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/axis.h"
#include "isomer/ops/form_params.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/indices.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/registry.h"

namespace isomer {

Status want_indices(const OpView& view, size_t i) {
  if (view.dtype(i) != DType::Int64 && view.dtype(i) != DType::Int32)
    return fail("indices of {} must be i32 or i64, they are {}", view.op.name, dtype_name(view.dtype(i)));
  return {};
}

Result<std::vector<int64_t>> element_offsets(const Tensor& indices, const std::vector<int64_t>& extents, int64_t axis) {
  ISOMER_TRY(const Ints positions, int_elements(indices));
  ISOMER_TRY(const size_t along, normal_axis(axis, extents.size()));
  auto strides = strides_of(extents);
  const int64_t stride = std::exchange(strides[along], 0);
  std::vector<int64_t> offsets;
  Status status;
  for_each_position(indices.dims(), {strides}, [&](const int64_t* at) {
    const auto index = checked_index(positions[offsets.size()], extents[along]);
    if (!index) status = tl::unexpected<Error>(index.error());
    offsets.push_back(index ? at[0] + *index * stride : 0);
  });
  ISOMER_CHECK(status);
  return offsets;
}

Result<int64_t> coordinate_offset(std::span<const int64_t> coordinates, std::span<const int64_t> dims) {
  int64_t offset = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t at = 0;
    if (i < coordinates.size()) {
      ISOMER_TRY(at, checked_index(coordinates[i], dims[i]));
    }
    offset = offset * dims[i] + at;
  }
  return offset;
}

int64_t extent_product(const std::vector<int64_t>& dims, size_t begin, size_t end) {
  uint64_t product = 1;  // can only wrap around if another extent is 0
  for (size_t i = begin; i < end; ++i) product *= static_cast<uint64_t>(dims[i]);
  return static_cast<int64_t>(product);
}

Status coordinates_from_onnx(OnnxForm& form) {
  const Shape* shape = form_shape(form, 1);
  if (shape == nullptr || shape->empty() || !shape->back().is_const())
    return form.leave_opaque("the length of its coordinates is not known");
  return {};
}

namespace {

Status gather_from_onnx(OnnxForm& form) { return front_axis(form, "axis"); }

Result<std::vector<TensorType>> infer_gather(const OpView& view) {
  ISOMER_CHECK(want_indices(view, 1));
  ISOMER_TRY(const size_t axis, normal_axis(view.attrs.integer("axis"), view.rank(0)));
  Shape shape = view.shape(0);
  const auto at = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(at, view.shape(1).begin(), view.shape(1).end());
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

Status gather_kernel(KernelContext& context) {
  const Tensor& x = context.operands[0];
  ISOMER_TRY(const Ints indices, int_elements(context.operands[1]));
  const AxisSplit split = axis_split(x.dims(), context.attrs.integer("axis"));
  return for_width(x.dtype(), [&]<class T>() -> Status {
    const auto to = mutable_elements<T>(new_result(context));
    const auto from = elements<T>(x);
    auto out = to.begin();
    for (int64_t o = 0; o < split.outer; ++o) {
      for (const int64_t index : indices) {
        ISOMER_TRY(const int64_t at, checked_index(index, split.extent));
        out = std::copy_n(from.begin() + split.start(o, 0) + at * split.inner, split.inner, out);
      }
    }
    return {};
  });
}

void gather_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  const SymbolicTensor& indices = axiom.operand(1);
  if (!indices.integer) throw GaveUp{"Gather at positions that are not known as integers"};
  const size_t axis = axiom.axis("axis", x.rank());
  const auto at = static_cast<std::ptrdiff_t>(axis);
  std::vector<Dim> shape(x.shape.begin(), x.shape.begin() + at);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), x.shape.begin() + at + 1, x.shape.end());
  const auto from = [&scope = axiom.scope, at, integer = indices.integer, extent = x.shape[axis],
                     n = static_cast<std::ptrdiff_t>(indices.rank())](const SymbolicIndex& index) {
    const Dim position = integer({index.begin() + at, index.begin() + at + n});
    scope.assume(within(Dim(0) - extent, position, extent));
    SymbolicIndex out(index.begin(), index.begin() + at);
    out.push_back(scope.decide(at_most(0, position)) ? position : position + extent);
    out.insert(out.end(), index.begin() + at + n, index.end());
    return out;
  };
  axiom.results.push_back(moved(x, std::move(shape), from));
}

Result<std::vector<TensorType>> infer_gather_elements(const OpView& view) {
  ISOMER_CHECK(want_indices(view, 1));
  ISOMER_TRY(const size_t axis, normal_axis(view.attrs.integer("axis"), view.rank(0)));
  ISOMER_CHECK(want_rank(view, 1, view.rank(0)));
  for (size_t i = 0; i < view.rank(0); ++i)
    if (i != axis && at_least(view.shape(0)[i], view.shape(1)[i]) == false)
      return fail("indices {} reach beyond {}", view.type(1).str(), view.type(0).str());
  return std::vector<TensorType>{{view.dtype(0), view.shape(1)}};
}

Status gather_elements_kernel(KernelContext& context) {
  const Tensor& x = context.operands[0];
  ISOMER_TRY(const auto offsets, element_offsets(context.operands[1], x.dims(), context.attrs.integer("axis")));
  return for_width(x.dtype(), [&]<class T>() {
    const auto to = mutable_elements<T>(new_result(context));
    const auto from = elements<T>(x);
    for (size_t n = 0; n < to.size(); ++n) to[n] = from[static_cast<size_t>(offsets[n])];
  });
}

/// The length of the coordinates in the last axis of an indices operand. It must be known.
Result<size_t> coordinate_length(const OpView& view, size_t batch_dims) {
  if (view.rank(1) == 0 || view.rank(0) == 0) return fail("{} needs operands of rank 1 or more", view.op.name);
  const Dim& last = view.shape(1).back();
  if (!last.is_const()) return fail("{} needs to know the last extent of its indices", view.op.name);
  if (last.value() < 0 || static_cast<size_t>(last.value()) > view.rank(0) - batch_dims)
    return fail("{} of {} got coordinates of length {}", view.op.name, view.type(0).str(), last.value());
  return static_cast<size_t>(last.value());
}

Result<std::vector<TensorType>> infer_gather_nd(const OpView& view) {
  ISOMER_CHECK(want_indices(view, 1));
  const int64_t batch = view.attrs.integer("batch_dims");
  const size_t min_rank = std::min(view.rank(0), view.rank(1));
  if (batch < 0 || static_cast<size_t>(batch) >= std::max<size_t>(min_rank, 1))
    return fail("GatherND of {} has {} batch axes", view.type(0).str(), batch);
  const auto batch_dims = static_cast<size_t>(batch);
  ISOMER_TRY(const size_t length, coordinate_length(view, batch_dims));
  for (size_t i = 0; i < batch_dims; ++i) {
    if (differ(view.shape(0)[i], view.shape(1)[i]))
      return fail("batch axes of {} and {} differ", view.type(0).str(), view.type(1).str());
  }
  Shape shape(view.shape(1).begin(), view.shape(1).end() - 1);
  shape.insert(shape.end(), view.shape(0).begin() + static_cast<std::ptrdiff_t>(batch_dims + length),
               view.shape(0).end());
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

Status gather_nd_kernel(KernelContext& context) {
  const Tensor& x = context.operands[0];
  const Tensor& index = context.operands[1];
  ISOMER_TRY(const Ints indices, int_elements(index));
  const auto batch_dims = static_cast<size_t>(context.attrs.integer("batch_dims"));
  const auto length = static_cast<size_t>(index.dims().back());
  return for_width(x.dtype(), [&]<class T>() -> Status {
    Tensor& y = new_result(context);
    if (y.element_count() == 0) return {};
    const auto from = elements<T>(x);
    const std::span<const int64_t> reached(x.dims().data() + batch_dims, length);
    const int64_t inner = extent_product(x.dims(), batch_dims + length, x.dims().size());
    const int64_t batch_size = extent_product(x.dims(), batch_dims, x.dims().size());
    const int64_t batches = extent_product(index.dims(), 0, batch_dims);
    const int64_t per_batch = extent_product(index.dims(), batch_dims, index.dims().size() - 1);
    auto out = mutable_elements<T>(y).begin();
    for (int64_t n = 0; n < batches * per_batch; ++n) {
      const std::span<const int64_t> coordinates(indices.data() + static_cast<size_t>(n) * length, length);
      ISOMER_TRY(const int64_t at, coordinate_offset(coordinates, reached));
      out = std::copy_n(from.begin() + n / per_batch * batch_size + at * inner, inner, out);
    }
    return {};
  });
}

Result<std::vector<TensorType>> infer_reverse_sequence(const OpView& view) {
  const int64_t batch_axis = view.attrs.integer("batch_axis");
  const int64_t time_axis = view.attrs.integer("time_axis");
  if (view.rank(0) < 2 || std::min(batch_axis, time_axis) != 0 || std::max(batch_axis, time_axis) != 1)
    return fail("ReverseSequence of {} along time axis {} and batch axis {}", view.type(0).str(), time_axis,
                batch_axis);
  ISOMER_CHECK(want_rank(view, 1, 1));
  if (view.dtype(1) != DType::Int64) return fail("lengths of ReverseSequence must be i64");
  if (differ(view.shape(1)[0], view.shape(0)[static_cast<size_t>(batch_axis)]))
    return fail("ReverseSequence of {} got {} lengths", view.type(0).str(), view.shape(1)[0].str());
  return std::vector<TensorType>{view.type(0)};
}

Status reverse_sequence_kernel(KernelContext& context) {
  const Tensor& x = context.operands[0];
  const auto lengths = context.operands[1].data<int64_t>();
  const auto batch_axis = static_cast<size_t>(context.attrs.integer("batch_axis"));
  const int64_t steps = x.dims()[1 - batch_axis];
  for (const int64_t length : lengths)
    if (length < 0 || length > steps) return fail("ReverseSequence of {} steps out of {}", length, steps);
  return for_width(x.dtype(), [&]<class T>() {
    const auto from = elements<T>(x);
    const auto to = mutable_elements<T>(new_result(context));
    const int64_t inner = extent_product(x.dims(), 2, x.dims().size());
    for (int64_t i = 0; i < x.dims()[0]; ++i) {
      for (int64_t j = 0; j < x.dims()[1]; ++j) {
        const int64_t length = lengths[static_cast<size_t>(batch_axis == 0 ? i : j)];
        const int64_t time = batch_axis == 0 ? j : i;
        const int64_t source = time < length ? length - 1 - time : time;
        const int64_t at = batch_axis == 0 ? i * steps + source : source * x.dims()[1] + j;
        std::copy_n(from.begin() + at * inner, inner, to.begin() + (i * x.dims()[1] + j) * inner);
      }
    }
  });
}

const Attrs kAdding{{"reduction", std::string("add")}};

/// Adds the gradients of selected slices to those of the slices that they were selected from. The axis moves to the
/// front, so that ScatterND can address slices.
void gather_gradient(Backward& node) {
  const GraphValue x = node.operand(0);
  const GraphValue indices = node.operand(1);
  const auto rank = static_cast<int64_t>(x.rank());
  const int64_t axis = (node.attrs().integer("axis") + rank) % rank;
  const auto selected = static_cast<int64_t>(indices.rank());
  GraphValue g = node.gradient();
  Shape shape = x.shape();
  std::rotate(shape.begin(), shape.begin() + axis, shape.begin() + axis + 1);
  if (axis > 0) {
    Ints perm = axis_range(0, g.rank());
    std::rotate(perm.begin(), perm.begin() + axis, perm.begin() + axis + selected);
    g = transposed(g, std::move(perm));
  }
  const GraphValue sum =
      node.call("ScatterND", kAdding,
                {zeros(node, {x.dtype(), shape}), unsqueezed(converted(indices, DType::Int64), {selected}), g});
  Ints back = axis_range(0, x.rank());
  std::rotate(back.begin(), back.begin() + 1, back.begin() + axis + 1);
  node.give(0, axis > 0 ? transposed(sum, std::move(back)) : sum);
}

void gather_elements_gradient(Backward& node) {
  node.give(0, node.call("ScatterElements", kAdding.with("axis", node.attrs().integer("axis")),
                         {zeros(node, node.operand(0).type()), node.operand(1), node.gradient()}));
}

void gather_nd_gradient(Backward& node) {
  if (node.attrs().integer("batch_dims") != 0) node.refuse("there is no gradient with batch_dims");
  node.give(0,
            node.call("ScatterND", kAdding, {zeros(node, node.operand(0).type()), node.operand(1), node.gradient()}));
}

}  // namespace

std::vector<OpDef> gather_ops() {
  const AttrDef axis{.name = "axis", .kind = AttrKind::Int, .preset = int64_t{0}, .domain = AttrDomain::Axis};
  return {
      {.name = "Gather",
       .attrs = {axis},
       .min_operands = 2,
       .infer = infer_gather,
       .kernel = gather_kernel,
       .compute = Compute::Movement,
       .axiom = gather_axiom,
       .gradient = gather_gradient,
       .roles = {OperandRole::Data, OperandRole::Indices},
       .from_onnx = gather_from_onnx},
      {.name = "GatherElements",
       .attrs = {axis},
       .min_operands = 2,
       .infer = infer_gather_elements,
       .kernel = gather_elements_kernel,
       .compute = Compute::Movement,
       .gradient = gather_elements_gradient,
       .roles = {OperandRole::Data, OperandRole::ElementIndices},
       .since = 11,
       .from_onnx = gather_from_onnx},
      {.name = "GatherND",
       .attrs = {{.name = "batch_dims", .kind = AttrKind::Int, .preset = int64_t{0}, .since = 12}},
       .min_operands = 2,
       .infer = infer_gather_nd,
       .kernel = gather_nd_kernel,
       .compute = Compute::Movement,
       .gradient = gather_nd_gradient,
       .roles = {OperandRole::Data, OperandRole::Coordinates},
       .since = 11,
       .from_onnx = coordinates_from_onnx},
      {.name = "ReverseSequence",
       .attrs = {{.name = "batch_axis", .kind = AttrKind::Int, .preset = int64_t{1}, .domain = AttrDomain::Axis},
                 {.name = "time_axis", .kind = AttrKind::Int, .preset = int64_t{0}, .domain = AttrDomain::Axis}},
       .min_operands = 2,
       .infer = infer_reverse_sequence,
       .kernel = reverse_sequence_kernel,
       .compute = Compute::Movement,
       .since = 10},
  };
}

}  // namespace isomer
