// Operators that only change the shape or the order of elements.

#include <algorithm>

#include "isomer/ops/form_params.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/kernel.h"
#include "isomer/ops/onnx_form.h"
#include "isomer/ops/registry.h"
#include "isomer/ops/relabel.h"

namespace isomer {
namespace {

/// Attribute `shape` as in ONNX: 0 copies the operand's extent (unless allowzero), one -1 is inferred.
Result<std::vector<TensorType>> infer_reshape(const OpView& view) {
  const Ints& wanted = view.attrs.ints("shape");
  const bool allow_zero = view.attrs.integer("allowzero") != 0;
  Shape shape;
  std::optional<size_t> inferred;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < -1) return fail("Reshape to the extent {}", wanted[i]);
    if (wanted[i] == -1) {
      if (inferred) return fail("Reshape with more than one -1");
      inferred = i;
      shape.emplace_back(1);
    } else if (wanted[i] == 0 && !allow_zero) {
      if (i >= view.rank(0)) return fail("Reshape copies extent {}, which {} does not have", i, view.type(0).str());
      shape.push_back(view.shape(0)[i]);
    } else {
      shape.emplace_back(wanted[i]);
    }
  }
  const Dim total = element_count(view.shape(0));
  if (inferred) {
    const Dim rest = element_count(shape);
    if (rest.is(0)) return fail("Reshape cannot infer an extent next to an extent of 0");
    shape[*inferred] = floor_div(total, rest);
  }
  const Dim got = element_count(shape);
  if (unequal(got, total))
    return fail("Reshape of {} to {} changes the number of elements", view.type(0).str(), shape_str(shape));
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

/// The extent for -1: the number of elements divided by the other extents.
Dim inferred_extent(Scope& scope, std::vector<Dim> from, std::vector<Dim> to) {
  scope.assume(at_most(1, product_of(to)));
  // Equal extents cancel, so that the division has a remainder less often.
  std::erase_if(to, [&](const Dim& extent) {
    const auto found = std::find(from.begin(), from.end(), extent);
    if (found == from.end()) return false;
    from.erase(found);
    return true;
  });
  const Dim extent = scope.quotient(product_of(from), product_of(to));
  scope.agree(equal(extent * product_of(to), product_of(from)));
  return extent;
}

void reshape_axiom(Axiom& axiom) {
  Scope& scope = axiom.scope;
  const SymbolicTensor& x = axiom.operand(0);
  const bool allow_zero = axiom.known("allowzero") != 0;
  std::vector<Dim> shape;
  std::vector<Dim> others;
  std::optional<size_t> inferred;
  for (const Dim& wanted : axiom.integers("shape")) {
    const size_t i = shape.size();
    const bool zero = !allow_zero && scope.decide(equal(wanted, 0));
    if (!zero && scope.decide(equal(wanted, -1))) {
      if (inferred) scope.assume(false);
      inferred = i;
      shape.emplace_back(1);
      continue;
    }
    if (zero && i >= x.rank()) scope.assume(false);
    if (!zero) scope.assume(at_most(0, wanted));
    shape.push_back(zero ? x.shape[i] : wanted);
    others.push_back(shape.back());
  }
  if (inferred) shape[*inferred] = inferred_extent(scope, origin_of(x)->shape, others);
  axiom.results.push_back(relabeled(scope, x, std::move(shape)));
}

/// Copies the elements to a result with the inferred extents.
Status relabel_kernel(KernelContext& context) {
  auto dims = *concrete(*context.types[0].shape);
  if (count(dims) != count(context.operands[0].dims()))
    return fail("{} cannot take the shape {}", context.operands[0].type().str(), shape_str(*context.types[0].shape));
  context.results.push_back(context.operands[0].reshaped(std::move(dims)));
  return {};
}

Result<std::vector<TensorType>> infer_transpose(const OpView& view) {
  const Ints& perm = view.attrs.ints("perm");
  if (perm.size() != view.rank(0)) return fail("Transpose needs {} axes, got {}", view.rank(0), perm.size());
  ISOMER_TRY(const auto axes, normal_axes(perm, view.rank(0)));
  Shape shape;
  for (const size_t axis : axes) shape.push_back(view.shape(0)[axis]);
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

Status transpose_kernel(KernelContext& context) {
  return for_width(context.operands[0].dtype(), [&]<class T>() {
    const Tensor& x = context.operands[0];
    const auto own = strides_of(x.dims());
    std::vector<int64_t> strides;
    for (const int64_t axis : context.attrs.ints("perm"))
      strides.push_back(own[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(own.size()) : axis)]);
    Tensor& y = new_result(context);
    const auto from = elements<T>(x);
    const auto to = mutable_elements<T>(y);
    size_t n = 0;
    for_each_position(y.dims(), {strides}, [&](const int64_t* at) { to[n++] = from[static_cast<size_t>(at[0])]; });
  });
}

void transpose_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  const std::vector<size_t> perm = known_axes(axiom, "perm", x.rank());
  axiom.require(perm.size() == x.rank());
  std::vector<Dim> shape;
  for (const size_t axis : perm) shape.push_back(x.shape[axis]);
  axiom.results.push_back(moved(x, std::move(shape), [perm](const SymbolicIndex& index) {
    SymbolicIndex from(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) from[perm[i]] = index[i];
    return from;
  }));
}

/// ONNX allows omitting `perm`, which reverses the axes. The rank must then be known.
Status transpose_from_onnx(OnnxForm& form) {
  if (form.attrs.contains("perm")) return {};
  const Shape* shape = form_shape(form, 0);
  if (shape == nullptr) return form.leave_opaque("its rank is not known");
  Ints perm(shape->size());
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(perm.size() - 1 - i);
  form.attrs["perm"] = std::move(perm);
  return {};
}

/// The axes before `axis` become the first extent, the others the second.
Result<std::vector<TensorType>> infer_flatten(const OpView& view) {
  int64_t axis = view.attrs.integer("axis");
  const auto rank = static_cast<int64_t>(view.rank(0));
  if (axis < -rank || axis > rank) return fail("Flatten axis {} is out of range for rank {}", axis, rank);
  if (axis < 0) axis += rank;
  const Shape& shape = view.shape(0);
  const Shape outer(shape.begin(), shape.begin() + axis);
  const Shape inner(shape.begin() + axis, shape.end());
  return std::vector<TensorType>{{view.dtype(0), {element_count(outer), element_count(inner)}}};
}

void flatten_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  const int64_t axis = axiom.known("axis");
  const auto rank = static_cast<int64_t>(x.rank());
  const auto middle = x.shape.begin() + (axis < 0 ? axis + rank : axis);
  std::vector<Dim> shape{product_of({x.shape.begin(), middle}), product_of({middle, x.shape.end()})};
  axiom.results.push_back(relabeled(axiom.scope, x, std::move(shape)));
}

Status flatten_from_onnx(OnnxForm& form) { return front_axis(form, "axis"); }

/// The axes in ascending order, counted from the front.
Result<Ints> ascending_axes(const Ints& axes, size_t rank) {
  ISOMER_TRY(auto normal, normal_axes(axes, rank));
  std::sort(normal.begin(), normal.end());
  return Ints(normal.begin(), normal.end());
}

Result<std::vector<TensorType>> infer_squeeze(const OpView& view) {
  ISOMER_TRY(const Ints axes, ascending_axes(view.attrs.ints("axes"), view.rank(0)));
  Shape shape = view.shape(0);
  for (size_t i = axes.size(); i-- > 0;) {
    const Dim& extent = shape[static_cast<size_t>(axes[i])];
    if (extent.is_const() && !extent.is(1)) return fail("Squeeze of axis {} of {}", axes[i], view.type(0).str());
    shape.erase(shape.begin() + axes[i]);
  }
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

/// x without these axes, which have extent 1, or with these axes inserted.
SymbolicTensor with_axes_of_one(const SymbolicTensor& x, const std::vector<size_t>& axes, bool insert) {
  const size_t rank = insert ? x.rank() + axes.size() : x.rank() - axes.size();
  std::vector<size_t> kept;  // of the longer shape
  for (size_t i = 0; i < std::max(rank, x.rank()); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) kept.push_back(i);
  std::vector<Dim> shape(rank, Dim(1));
  for (size_t i = 0; i < kept.size(); ++i) shape[insert ? kept[i] : i] = x.shape[insert ? i : kept[i]];
  SymbolicTensor y = moved(x, std::move(shape), [kept, insert, own = x.rank()](const SymbolicIndex& index) {
    SymbolicIndex from(own, Dim(0));
    for (size_t i = 0; i < kept.size(); ++i) from[insert ? i : kept[i]] = index[insert ? kept[i] : i];
    return from;
  });
  y.reshaped = origin_of(x);
  return y;
}

void squeeze_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  const std::vector<size_t> axes = known_axes(axiom, "axes", x.rank());
  for (const size_t axis : axes) axiom.scope.agree(equal(x.shape[axis], 1));
  axiom.results.push_back(with_axes_of_one(x, axes, false));
}

void unsqueeze_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  const std::vector<size_t> axes = known_axes(axiom, "axes", x.rank() + axiom.integers("axes").size());
  axiom.results.push_back(with_axes_of_one(x, axes, true));
}

Status squeeze_from_onnx(OnnxForm& form) {
  ISOMER_TRY(std::optional<Ints> axes, take_ints(form, "axes", 1, 13));
  if (!form.obstacle.empty()) return {};
  const Shape* shape = form_shape(form, 0);
  if (!axes) {
    if (form.attrs.contains("axes")) return fail("attribute 'axes' of Squeeze must be of kind ints");
    if (shape == nullptr || !concrete(*shape)) return form.leave_opaque("it squeezes axes that are not known");
    axes.emplace();
    for (size_t i = 0; i < shape->size(); ++i)
      if ((*shape)[i].is(1)) axes->push_back(static_cast<int64_t>(i));
  }
  if (shape != nullptr) {
    ISOMER_TRY(axes, ascending_axes(*axes, shape->size()));
  }
  form.attrs["axes"] = std::move(*axes);
  return {};
}

/// ONNX Runtime interprets an empty list of axes as all axes.
Status squeeze_to_onnx(OnnxForm& form) {
  const Ints* axes = form.get<Ints>("axes");
  const bool none = form.has(1) ? form.operands[1].constant.element_count() == 0 : axes != nullptr && axes->empty();
  if (!none) return {};
  form.op_type = "Identity";
  form.operands.resize(1);
  form.attrs.clear();
  return {};
}

Result<std::vector<TensorType>> infer_unsqueeze(const OpView& view) {
  const Ints& given = view.attrs.ints("axes");
  ISOMER_TRY(const Ints axes, ascending_axes(given, view.rank(0) + given.size()));
  Shape shape = view.shape(0);
  for (const int64_t axis : axes) shape.insert(shape.begin() + axis, Dim(1));
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

Status unsqueeze_from_onnx(OnnxForm& form) {
  ISOMER_TRY(std::optional<Ints> axes, take_ints(form, "axes", 1, 13));
  if (!axes) return {};
  if (const Shape* shape = form_shape(form, 0)) {
    ISOMER_TRY(axes, ascending_axes(*axes, shape->size() + axes->size()));
  }
  form.attrs["axes"] = std::move(*axes);
  return {};
}

Result<std::vector<TensorType>> infer_expand(const OpView& view) {
  const Ints& wanted = view.attrs.ints("shape");
  for (const int64_t extent : wanted)
    if (extent < 0) return fail("Expand to the extent {}", extent);
  ISOMER_TRY(Shape shape, broadcast(view.shape(0), Shape(wanted.begin(), wanted.end())));
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

void expand_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  const std::vector<Dim>& wanted = axiom.integers("shape");
  for (const Dim& extent : wanted) axiom.scope.assume(at_most(0, extent));
  axiom.results.push_back(broadcast_to(axiom.scope, x, broadcast_shape(axiom.scope, x.shape, wanted)));
}

Status expand_kernel(KernelContext& context) {
  return for_width(context.operands[0].dtype(), [&]<class T>() {
    Tensor& y = new_result(context);
    const auto from = elements<T>(context.operands[0]);
    const auto to = mutable_elements<T>(y);
    size_t n = 0;
    for_each_position(y.dims(), {broadcast_strides(context.operands[0].dims(), y.dims())},
                      [&](const int64_t* at) { to[n++] = from[static_cast<size_t>(at[0])]; });
  });
}

Result<std::vector<TensorType>> infer_tile(const OpView& view) {
  const Ints& repeats = view.attrs.ints("repeats");
  if (repeats.size() != view.rank(0)) return fail("Tile of {} got {} repeats", view.type(0).str(), repeats.size());
  Shape shape = view.shape(0);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (repeats[i] < 0) return fail("Tile repeats axis {} {} times", i, repeats[i]);
    shape[i] = shape[i] * Dim(repeats[i]);
  }
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

void tile_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  const std::vector<Dim>& repeats = axiom.integers("repeats");
  if (repeats.size() != x.rank()) throw GaveUp{"Tile of another rank"};
  std::vector<Dim> shape = x.shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    axiom.scope.assume(at_most(0, repeats[i]));
    shape[i] = shape[i] * repeats[i];
  }
  axiom.results.push_back(moved(x, std::move(shape), [&scope = axiom.scope, own = x.shape](SymbolicIndex index) {
    for (size_t i = 0; i < own.size(); ++i) index[i] = scope.remainder(index[i], own[i]);
    return index;
  }));
}

Status tile_kernel(KernelContext& context) {
  return for_width(context.operands[0].dtype(), [&]<class T>() {
    const Tensor& x = context.operands[0];
    Tensor& y = new_result(context);
    if (y.element_count() == 0) return;
    // y as [repeats_0, extent_0, repeats_1, extent_1, ...], where the repeat axes have stride 0 in x.
    const auto own = strides_of(x.dims());
    std::vector<int64_t> dims;
    std::vector<int64_t> strides;
    for (size_t i = 0; i < own.size(); ++i) {
      dims.insert(dims.end(), {context.attrs.ints("repeats")[i], x.dims()[i]});
      strides.insert(strides.end(), {0, own[i]});
    }
    const auto from = elements<T>(x);
    const auto to = mutable_elements<T>(y);
    size_t n = 0;
    for_each_position(dims, {strides}, [&](const int64_t* at) { to[n++] = from[static_cast<size_t>(at[0])]; });
  });
}

void reshape_gradient(Backward& node) { node.give(0, reshaped(node.gradient(), node.operand(0).shape())); }

void transpose_gradient(Backward& node) {
  const Ints& perm = node.attrs().ints("perm");
  Ints inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  node.give(0, transposed(node.gradient(), std::move(inverse)));
}

/// Backward::give undoes the broadcast.
void expand_gradient(Backward& node) { node.give(0, node.gradient()); }

/// Sums the copies: the gradient as [repeats, extent] along each axis, over the repeats.
void tile_gradient(Backward& node) {
  const Ints& repeats = node.attrs().ints("repeats");
  Shape shape;
  Ints axes;
  for (size_t i = 0; i < repeats.size(); ++i) {
    axes.push_back(static_cast<int64_t>(shape.size()));
    shape.emplace_back(repeats[i]);
    shape.push_back(node.operand(0).shape()[i]);
  }
  node.give(0, axes.empty() ? node.gradient() : summed(reshaped(node.gradient(), shape), axes, false));
}

}  // namespace

std::vector<OpDef> reshape_ops() {
  return {
      {.name = "Reshape",
       .attrs = {{.name = "shape", .kind = AttrKind::Ints, .domain = AttrDomain::SameSize},
                 {.name = "allowzero", .kind = AttrKind::Int, .preset = int64_t{0}, .since = 14}},
       .infer = infer_reshape,
       .kernel = relabel_kernel,
       .compute = Compute::Movement,
       .axiom = reshape_axiom,
       .gradient = reshape_gradient,
       .traits = {Trait::View},
       .since = 1,
       .params = {{.index = 1, .attr = "shape", .since = 5}}},
      {.name = "Transpose",
       .attrs = {{.name = "perm", .kind = AttrKind::Ints, .domain = AttrDomain::Permutation}},
       .infer = infer_transpose,
       .kernel = transpose_kernel,
       .compute = Compute::Movement,
       .axiom = transpose_axiom,
       .gradient = transpose_gradient,
       .traits = {Trait::Permutation},
       .from_onnx = transpose_from_onnx},
      {.name = "Flatten",
       .attrs = {{.name = "axis", .kind = AttrKind::Int, .preset = int64_t{1}, .domain = AttrDomain::AxisOrEnd}},
       .infer = infer_flatten,
       .kernel = relabel_kernel,
       .compute = Compute::Movement,
       .axiom = flatten_axiom,
       .gradient = reshape_gradient,
       .traits = {Trait::View},
       .from_onnx = flatten_from_onnx},
      {.name = "Squeeze",
       .attrs = {{.name = "axes", .kind = AttrKind::Ints, .domain = AttrDomain::Axes}},
       .infer = infer_squeeze,
       .kernel = relabel_kernel,
       .compute = Compute::Movement,
       .axiom = squeeze_axiom,
       .gradient = reshape_gradient,
       .traits = {Trait::View},
       .params = {{.index = 1, .attr = "axes", .since = 13}},
       .from_onnx = squeeze_from_onnx,
       .to_onnx = squeeze_to_onnx},
      {.name = "Unsqueeze",
       .attrs = {{.name = "axes", .kind = AttrKind::Ints, .domain = AttrDomain::ResultAxes}},
       .infer = infer_unsqueeze,
       .kernel = relabel_kernel,
       .compute = Compute::Movement,
       .axiom = unsqueeze_axiom,
       .gradient = reshape_gradient,
       .traits = {Trait::View},
       .params = {{.index = 1, .attr = "axes", .since = 13}},
       .from_onnx = unsqueeze_from_onnx},
      {.name = "Expand",
       .attrs = {{.name = "shape", .kind = AttrKind::Ints, .domain = AttrDomain::Shape}},
       .infer = infer_expand,
       .kernel = expand_kernel,
       .compute = Compute::Movement,
       .axiom = expand_axiom,
       .gradient = expand_gradient,
       .since = 8,
       .params = {{.index = 1, .attr = "shape", .since = 8}}},
      {.name = "Tile",
       .attrs = {{.name = "repeats", .kind = AttrKind::Ints, .domain = AttrDomain::Repeats}},
       .infer = infer_tile,
       .kernel = tile_kernel,
       .compute = Compute::Movement,
       .axiom = tile_axiom,
       .gradient = tile_gradient,
       .since = 6,
       .params = {{.index = 1, .attr = "repeats", .since = 6}}},
  };
}

}  // namespace isomer
