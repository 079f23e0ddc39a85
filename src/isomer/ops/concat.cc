// Concatenates tensors along an axis, and splits them.

#include <algorithm>

#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/axis.h"
#include "isomer/ops/form_params.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/kernel.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

Result<std::vector<TensorType>> infer_concat(const OpView& view) {
  ISOMER_TRY(const size_t axis, normal_axis(view.attrs.integer("axis"), view.rank(0)));
  Shape shape = view.shape(0);
  for (size_t i = 1; i < view.operands.size(); ++i) {
    if (!view.has(i)) return fail("operand {} of Concat is missing", i);
    ISOMER_CHECK(same_dtype(view, 0, i));
    ISOMER_CHECK(want_rank(view, i, shape.size()));
    for (size_t k = 0; k < shape.size(); ++k) {
      const Dim& extent = view.shape(i)[k];
      if (k == axis) {
        shape[k] = shape[k] + extent;
      } else if (unequal(shape[k], extent)) {
        return fail("Concat along axis {} of {} and {}", axis, view.type(0).str(), view.type(i).str());
      } else if (extent.is_const()) {
        shape[k] = extent;  // more specific than a symbol
      }
    }
  }
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

Status concat_kernel(KernelContext& context) {
  return for_width(context.operands[0].dtype(), [&]<class T>() -> Status {
    Tensor& y = new_result(context);
    ISOMER_TRY(const size_t axis, normal_axis(context.attrs.integer("axis"), y.dims().size()));
    const AxisSplit split = axis_split(y.dims(), static_cast<int64_t>(axis));
    const auto to = mutable_elements<T>(y);
    int64_t begin = 0;
    for (const Tensor& x : context.operands) {
      const auto from = elements<T>(x);
      const int64_t run = x.dims()[axis] * split.inner;
      for (int64_t o = 0; o < split.outer; ++o)
        std::copy_n(from.begin() + o * run, run, to.begin() + split.start(o, 0) + begin);
      begin += run;
    }
    return {};
  });
}

void concat_axiom(Axiom& axiom) {
  const size_t axis = axiom.axis("axis", axiom.operand(0).rank());
  std::vector<SymbolicTensor> parts;
  std::vector<Dim> shape = axiom.operand(0).shape;
  shape[axis] = 0;
  bool real = true;
  for (const auto& x : axiom.operands) {
    axiom.require(x->rank() == shape.size());
    for (size_t i = 0; i < shape.size(); ++i)
      shape[i] = i == axis ? shape[i] + x->shape[i] : unified(axiom.scope, shape[i], x->shape[i]);
    real = real && x->real;
    parts.push_back(*x);
  }
  // Selects the part for an index, and makes the index relative to that part.
  const auto part = [&scope = axiom.scope, parts, axis](SymbolicIndex& index) -> const SymbolicTensor& {
    size_t i = 0;
    for (; i + 1 < parts.size() && !scope.decide(less(index[axis], parts[i].shape[axis])); ++i)
      index[axis] = index[axis] - parts[i].shape[axis];
    return parts[i];
  };
  SymbolicTensor y{std::move(shape),
                   [part](SymbolicIndex index) {
                     const SymbolicTensor& x = part(index);
                     return x.at(index);
                   },
                   real};
  if (std::ranges::all_of(parts, [](const SymbolicTensor& x) { return x.integer != nullptr; }))
    y.integer = [part](SymbolicIndex index) {
      const SymbolicTensor& x = part(index);
      return x.integer(index);
    };
  axiom.results.push_back(std::move(y));
}

void split_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  const size_t axis = axiom.axis("axis", x.rank());
  const std::vector<Dim>& split = axiom.integers("split");
  Dim begin(0);
  for (const Dim& extent : split) {
    axiom.scope.assume(at_most(0, extent));
    std::vector<Dim> shape = x.shape;
    shape[axis] = extent;
    axiom.results.push_back(moved(x, std::move(shape), [axis, begin](SymbolicIndex index) {
      index[axis] = index[axis] + begin;
      return index;
    }));
    begin = begin + extent;
  }
  axiom.scope.agree(equal(begin, x.shape[axis]));
}

Status concat_from_onnx(OnnxForm& form) { return front_axis(form, "axis"); }

Result<std::vector<TensorType>> infer_split(const OpView& view) {
  ISOMER_TRY(const size_t axis, normal_axis(view.attrs.integer("axis"), view.rank(0)));
  const Ints& split = view.attrs.ints("split");
  if (split.empty()) return fail("Split into no parts");
  std::vector<TensorType> types;
  Dim total(0);
  for (const int64_t extent : split) {
    if (extent < 0) return fail("Split into a part of extent {}", extent);
    Shape shape = view.shape(0);
    shape[axis] = Dim(extent);
    total = total + Dim(extent);
    types.emplace_back(view.dtype(0), std::move(shape));
  }
  const Dim& extent = view.shape(0)[axis];
  if (extent.is_const() && !(extent == total))
    return fail("Split of the extent {} into parts of {} in all", extent.str(), total.str());
  return types;
}

Status split_kernel(KernelContext& context) {
  const Tensor& x = context.operands[0];
  return for_width(x.dtype(), [&]<class T>() {
    const AxisSplit split = axis_split(x.dims(), context.attrs.integer("axis"));
    const auto from = elements<T>(x);
    int64_t begin = 0;
    for (const int64_t extent : context.attrs.ints("split")) {
      const auto to = mutable_elements<T>(new_result(context));
      const int64_t run = extent * split.inner;
      for (int64_t o = 0; o < split.outer; ++o)
        std::copy_n(from.begin() + split.start(o, 0) + begin, run, to.begin() + o * run);
      begin += run;
    }
  });
}

/// Sets `split` if ONNX only gives the number of parts (`num_outputs`, or the number of results).
Status split_from_onnx(OnnxForm& form) {
  ISOMER_CHECK(front_axis(form, "axis"));
  const bool given = form.attrs.contains("split") || (form.opset >= 13 && form.has(1));
  const auto* parts_wanted = form.get<int64_t>("num_outputs");
  if (given) return parts_wanted == nullptr ? Status() : fail("Split has both 'split' and 'num_outputs'");
  const Shape* shape = form_shape(form, 0);
  if (shape == nullptr) return form.leave_opaque("its rank is not known");
  const auto* axis_given = form.get<int64_t>("axis");
  ISOMER_TRY(const size_t axis, normal_axis(axis_given == nullptr ? 0 : *axis_given, shape->size()));
  if (!(*shape)[axis].is_const()) return form.leave_opaque("it splits an extent that is not known");
  const int64_t extent = (*shape)[axis].value();
  const auto parts = parts_wanted == nullptr ? static_cast<int64_t>(form.num_results) : *parts_wanted;
  if (parts < 1 || parts != static_cast<int64_t>(form.num_results))
    return fail("Split into {} parts has {} results", parts, form.num_results);
  const int64_t chunk = extent / parts + (extent % parts != 0 ? 1 : 0);
  const int64_t last = extent - chunk * (parts - 1);
  if (last < 0 || (last != chunk && form.opset < 18))
    return fail("Split of the extent {} into {} equal parts", extent, parts);
  Ints split(static_cast<size_t>(parts), chunk);
  split.back() = last;
  form.attrs["split"] = std::move(split);
  form.attrs.erase("num_outputs");
  return {};
}

/// Cuts out the parts of the operands.
void concat_gradient(Backward& node) {
  const GraphValue g = node.gradient();
  const auto axis = static_cast<size_t>((node.attrs().integer("axis") + static_cast<int64_t>(g.rank())) %
                                        static_cast<int64_t>(g.rank()));
  int64_t start = 0;
  for (size_t i = 0; i < node.num_operands(); ++i) {
    const int64_t extent = known_extent(node.operand(i), axis);
    if (node.needs(i)) node.give(i, sliced(g, axis, start, start + extent));
    start += extent;
  }
}

/// Puts the gradients of the parts together; parts that are not used have gradients of zeros.
void split_gradient(Backward& node) {
  std::vector<GraphValue> parts;
  for (size_t i = 0; i < node.num_results(); ++i)
    parts.push_back(node.has_gradient(i) ? node.gradient(i) : zeros(node, node.result(i).type()));
  node.give(0, node.call("Concat", {{"axis", node.attrs().integer("axis")}}, parts));
}

}  // namespace

std::vector<OpDef> concat_ops() {
  return {
      {.name = "Concat",
       .attrs = {{.name = "axis", .kind = AttrKind::Int, .domain = AttrDomain::Axis}},
       .max_operands = OpDef::kVariadic,
       .infer = infer_concat,
       .kernel = concat_kernel,
       .compute = Compute::Movement,
       .axiom = concat_axiom,
       .gradient = concat_gradient,
       .traits = {Trait::Concatenation},
       .since = 4,
       .from_onnx = concat_from_onnx},
      {.name = "Split",
       .attrs = {{.name = "axis", .kind = AttrKind::Int, .preset = int64_t{0}, .domain = AttrDomain::Axis},
                 {.name = "split", .kind = AttrKind::Ints, .domain = AttrDomain::Parts}},
       .max_results = OpDef::kVariadic,
       .infer = infer_split,
       .kernel = split_kernel,
       .compute = Compute::Movement,
       .axiom = split_axiom,
       .gradient = split_gradient,
       .traits = {Trait::Cut, Trait::Leading},
       .since = 2,
       .params = {{.index = 1, .attr = "split", .since = 13}},
       .from_onnx = split_from_onnx},
  };
}

}  // namespace isomer
