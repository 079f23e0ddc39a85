// Slice: every step-th position from start to end along some axes.

#include <algorithm>

#include "isomer/ops/axiom_parts.h"
#include "isomer/ops/axis_map.h"
#include "isomer/ops/form_params.h"
#include "isomer/ops/gradient_parts.h"
#include "isomer/ops/infer.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// One axis of a slice.
struct Range {
  int64_t start;
  int64_t end;
  int64_t step;
};

/// Positions start, start + step, ... that a range selects.
struct Selection {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

/// Clamps as ONNX does: the positions that a range selects in a known extent. The step is not 0.
Selection select(const Range& range, int64_t extent) {
  if (extent == 0) return {};
  const auto clamped = [&](int64_t at, int64_t low, int64_t high) {
    // at + extent cannot overflow for a negative `at`.
    return std::clamp(at < 0 ? at + extent : at, low, high);
  };
  const bool forward = range.step > 0;
  const int64_t start = forward ? clamped(range.start, 0, extent) : clamped(range.start, 0, extent - 1);
  const int64_t end = forward ? clamped(range.end, 0, extent) : clamped(range.end, -1, extent - 1);
  const __int128 span = forward ? static_cast<__int128>(end) - start : static_cast<__int128>(start) - end;
  if (span <= 0) return {};
  const __int128 step = forward ? static_cast<__int128>(range.step) : -static_cast<__int128>(range.step);
  const auto count = static_cast<int64_t>((span + step - 1) / step);
  return {start, count == 1 ? 1 : range.step, count};
}

/// The range with the smallest end that selects the same positions, so that equal selections have equal ranges.
Range canonical(const Selection& selected, int64_t extent) {
  if (selected.count == 0) return {0, 0, 1};
  const int64_t last = selected.start + (selected.count - 1) * selected.step;
  if (selected.step > 0) return {selected.start, last + 1, selected.step};
  // Position -1 can only be written as the one before the front of this extent.
  return {selected.start, last > 0 ? last - 1 : -extent - 1, selected.step};
}

bool is_max(int64_t end) { return end >= Dim::kHuge; }

/// The position of a bound of a forward range in a symbolic extent; nullopt if it depends on the extent.
std::optional<Dim> symbolic_bound(int64_t at, const Dim& extent) {
  if (is_max(at)) return extent;
  const Dim shifted = at < 0 ? extent + Dim(std::max(at, -Dim::kHuge)) : Dim(at);
  if (at < 0) return at_least(shifted, Dim(0)) == true ? std::optional(shifted) : std::nullopt;
  return at == 0 || at_least(extent, shifted) == true ? std::optional(shifted) : std::nullopt;
}

/// The number of positions that a range selects.
Dim selected_count(const Range& range, const Dim& extent) {
  if (extent.is_const()) return select(range, extent.value()).count;
  if (range.step > 0) {
    const auto start = symbolic_bound(range.start, extent);
    const auto end = symbolic_bound(range.end, extent);
    if (start && end) {
      if (at_least(*start, *end) == true) return 0;
      if (at_least(*end, *start) == true) return ceil_div(*end - *start, Dim(range.step));
    }
  } else if ((range.start == -1 || is_max(range.start)) && range.end <= -Dim::kHuge && range.step > -Dim::kHuge) {
    return ceil_div(extent, Dim(-range.step));
  }
  // The name contains everything that the symbol depends on, so that equal slices of equal extents are equal.
  const auto name = [](int64_t at) { return is_max(at) ? std::string("max") : std::to_string(at); };
  return Dim::symbol(fmt::format("slice({}:{}:{}:{})", extent.str(), name(range.start), name(range.end), range.step));
}

/// The ranges for each axis according to the attributes; nullopt for axes that are not sliced.
Result<std::vector<std::optional<Range>>> ranges_of(const Attrs& attrs, size_t rank) {
  const Ints& starts = attrs.ints("starts");
  const Ints& ends = attrs.ints("ends");
  const Ints& steps = attrs.ints("steps");
  ISOMER_TRY(const auto axes, normal_axes(attrs.ints("axes"), rank));
  if (starts.size() != axes.size() || ends.size() != axes.size() || steps.size() != axes.size())
    return fail("Slice got {} starts, {} ends, {} axes and {} steps", starts.size(), ends.size(), axes.size(),
                steps.size());
  std::vector<std::optional<Range>> ranges(rank);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (steps[i] == 0) return fail("Slice with a step of 0");
    ranges[axes[i]] = Range{starts[i], ends[i], steps[i]};
  }
  return ranges;
}

Result<std::vector<TensorType>> infer_slice(const OpView& view) {
  ISOMER_TRY(const auto ranges, ranges_of(view.attrs, view.rank(0)));
  Shape shape = view.shape(0);
  for (size_t i = 0; i < shape.size(); ++i)
    if (ranges[i]) shape[i] = selected_count(*ranges[i], shape[i]);
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

Status slice_kernel(KernelContext& context) {
  const Tensor& x = context.operands[0];
  ISOMER_TRY(const auto ranges, ranges_of(context.attrs, x.dims().size()));
  return for_width(x.dtype(), [&]<class T>() {
    Tensor& y = new_result(context);
    if (y.element_count() == 0) return;
    AxisMaps maps(ranges.size());
    for (size_t i = 0; i < ranges.size(); ++i) {
      const Selection all{0, 1, x.dims()[i]};
      const Selection selected = ranges[i] ? select(*ranges[i], x.dims()[i]) : all;
      for (int64_t n = 0; n < selected.count; ++n) maps[i].push_back(selected.start + n * selected.step);
    }
    read_through<T>(x, maps, T(), mutable_elements<T>(y));
  });
}

/// The positions that a range selects in an unknown extent: the first position, and their number.
struct SymbolicSelection {
  Dim start;
  Dim step;
  Dim count;
};

/// A bound clamped to [low, high]. If the facts leave its value open, it is a symbol, so that no case distinction is
/// needed.
Dim clamped_between(Scope& scope, const Dim& at, const Dim& low, const Dim& high) {
  if (scope.implied(less(at, low))) return low;
  if (scope.implied(less(high, at))) return high;
  if (scope.implied(at_most(low, at) && at_most(at, high))) return at;
  return scope.define(
      "clamped(" + at.str() + "," + low.str() + "," + high.str() + ")", {at, low, high},
      [](Scope& in, const std::vector<Dim>& with) { return clamped_between(in, with[0], with[1], with[2]); },
      [&](const Dim& symbol) {
        return std::vector<Formula>{(less(at, low) && equal(symbol, low)) ||
                                    (at_most(low, at) && less(high, at) && equal(symbol, high)) ||
                                    (at_most(low, at) && at_most(at, high) && equal(symbol, at))};
      });
}

/// A position, counted from the back if negative.
Dim counted_from_front(Scope& scope, const Dim& at, const Dim& extent) {
  if (scope.implied(at_most(0, at))) return at;
  if (scope.implied(less(at, 0))) return at + extent;
  return scope.define(
      "front(" + at.str() + "," + extent.str() + ")", {at, extent},
      [](Scope& in, const std::vector<Dim>& with) { return counted_from_front(in, with[0], with[1]); },
      [&](const Dim& symbol) {
        return std::vector<Formula>{(less(at, 0) && equal(symbol, at + extent)) ||
                                    (at_most(0, at) && equal(symbol, at))};
      });
}

SymbolicSelection select(Scope& scope, const Dim& start, const Dim& end, int64_t step, const Dim& extent) {
  const auto clamped = [&](const Dim& bound, const Dim& low, const Dim& high) {
    if (bound.is_const() && is_max(bound.value())) return high;
    if (bound.is_const() && bound.value() <= -Dim::kHuge) return low;
    return clamped_between(scope, counted_from_front(scope, bound, extent), low, high);
  };
  if (step < 0 && scope.decide(equal(extent, 0))) return {0, 1, 0};
  const Dim first = step > 0 ? clamped(start, 0, extent) : clamped(start, 0, extent - 1);
  const Dim last = step > 0 ? clamped(end, 0, extent) : clamped(end, -1, extent - 1);
  const Dim span = step > 0 ? last - first : first - last;
  if (scope.implied(at_most(span, 0))) return {0, 1, 0};
  const int64_t stride = step > 0 ? step : -step;
  const Dim length = scope.implied(at_most(0, span)) ? span : clamped_between(scope, span, 0, extent);
  return {first, step, scope.quotient(length + stride - 1, stride)};
}

void slice_axiom(Axiom& axiom) {
  const SymbolicTensor& x = axiom.operand(0);
  const std::vector<size_t> axes = known_axes(axiom, "axes", x.rank());
  const std::vector<int64_t> steps = axiom.known_list("steps");
  const auto& starts = axiom.integers("starts");
  const auto& ends = axiom.integers("ends");
  axiom.require(starts.size() == axes.size() && ends.size() == axes.size() && steps.size() == axes.size());
  std::vector<SymbolicSelection> selections;
  std::vector<Dim> shape = x.shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    selections.push_back(select(axiom.scope, starts[i], ends[i], steps[i], x.shape[axes[i]]));
    shape[axes[i]] = selections.back().count;
  }
  axiom.results.push_back(moved(x, std::move(shape), [axes, selections](SymbolicIndex index) {
    for (size_t i = 0; i < axes.size(); ++i) index[axes[i]] = selections[i].start + index[axes[i]] * selections[i].step;
    return index;
  }));
}

/// Writes canonical ranges over ascending axes. Axes that are selected completely are omitted, unless there are no
/// others.
Status write_canonical(OnnxForm& form, const std::vector<std::optional<Range>>& ranges, const Shape& shape) {
  Ints starts;
  Ints ends;
  Ints axes;
  Ints steps;
  std::optional<std::pair<size_t, Range>> whole;
  const auto write = [&](size_t axis, const Range& range) {
    starts.push_back(range.start);
    ends.push_back(range.end);
    axes.push_back(static_cast<int64_t>(axis));
    steps.push_back(range.step);
  };
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (!ranges[i]) continue;
    Range range = *ranges[i];
    bool all = range.start == 0 && is_max(range.end) && range.step == 1;
    if (shape[i].is_const()) {
      const Selection selected = select(range, shape[i].value());
      range = canonical(selected, shape[i].value());
      all = selected.count == shape[i].value() && selected.step == 1;
    }
    if (!all)
      write(i, range);
    else if (!whole)
      whole = {i, range};
  }
  if (axes.empty() && whole) write(whole->first, whole->second);
  form.attrs["starts"] = std::move(starts);
  form.attrs["ends"] = std::move(ends);
  form.attrs["axes"] = std::move(axes);
  form.attrs["steps"] = std::move(steps);
  return {};
}

Status slice_from_onnx(OnnxForm& form) {
  ISOMER_TRY(std::optional<Ints> starts, take_ints(form, "starts", 1, 10));
  ISOMER_TRY(std::optional<Ints> ends, take_ints(form, "ends", 2, 10));
  ISOMER_TRY(std::optional<Ints> axes, take_ints(form, "axes", 3, 10));
  ISOMER_TRY(std::optional<Ints> steps, take_ints(form, "steps", 4, 10));
  if (!form.obstacle.empty()) return {};
  if (!starts || !ends) return fail("Slice needs starts and ends");
  if (!axes) {
    axes.emplace();
    for (size_t i = 0; i < starts->size(); ++i) axes->push_back(static_cast<int64_t>(i));
  }
  if (!steps) steps = Ints(starts->size(), 1);
  const Shape* shape = form_shape(form, 0);
  if (shape == nullptr) return form.leave_opaque("its rank is not known");
  const Attrs given{{"starts", *starts}, {"ends", *ends}, {"axes", *axes}, {"steps", *steps}};
  ISOMER_TRY(const auto ranges, ranges_of(given, shape->size()));
  return write_canonical(form, ranges, *shape);
}

Status slice_to_onnx(OnnxForm& form) {
  if (form.opset >= 10) return {};
  const Ints* steps = form.get<Ints>("steps");
  if (steps != nullptr && std::any_of(steps->begin(), steps->end(), [](int64_t step) { return step != 1; }))
    return form.leave_opaque("steps of Slice need opset 10");
  form.attrs.erase("steps");
  return {};
}

/// Along an axis: zeros between the elements, so that they have the distances that they had before a slice with this
/// step.
GraphValue spread(const GraphValue& x, size_t axis, int64_t step) {
  if (step == 1) return x;
  Shape shape = x.shape();
  shape[axis] = shape[axis] * Dim(step);
  Ints pads(2 * (x.rank() + 1), 0);
  pads[x.rank() + 1 + axis + 1] = step - 1;
  return reshaped(padded(unsqueezed(x, {static_cast<int64_t>(axis) + 1}), std::move(pads)), shape);
}

GraphValue flipped(const GraphValue& x, size_t axis) {
  const Ints axes{static_cast<int64_t>(axis)};
  const int64_t extent = known_extent(x, axis);
  return x.node().call(
      "Slice", {{"starts", Ints{extent - 1}}, {"ends", Ints{-extent - 1}}, {"axes", axes}, {"steps", Ints{-1}}}, {x});
}

/// Puts the elements where they were taken from, with zeros around.
void slice_gradient(Backward& node) {
  const Attrs& attrs = node.attrs();
  GraphValue g = node.gradient();
  Ints pads(2 * g.rank(), 0);
  const Ints& axes = attrs.ints("axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i] < 0 ? axes[i] + static_cast<int64_t>(g.rank()) : axes[i]);
    const int64_t extent = known_extent(node.operand(0), axis);
    const Selection selected = select({attrs.ints("starts")[i], attrs.ints("ends")[i], attrs.ints("steps")[i]}, extent);
    const bool backward = selected.step < 0;
    const int64_t first = backward ? selected.start + (selected.count - 1) * selected.step : selected.start;
    g = spread(backward ? flipped(g, axis) : g, axis, std::abs(selected.step));
    pads[axis] = first;
    pads[g.rank() + axis] = extent - first - known_extent(g, axis);
  }
  node.give(0, padded(g, std::move(pads)));
}

}  // namespace

std::vector<OpDef> slice_ops() {
  return {
      {.name = "Slice",
       .attrs = {{.name = "starts", .kind = AttrKind::Ints, .domain = AttrDomain::Starts},
                 {.name = "ends", .kind = AttrKind::Ints, .domain = AttrDomain::Ends},
                 {.name = "axes", .kind = AttrKind::Ints, .domain = AttrDomain::Axes},
                 {.name = "steps", .kind = AttrKind::Ints, .domain = AttrDomain::Steps}},
       .infer = infer_slice,
       .kernel = slice_kernel,
       .compute = Compute::Movement,
       .axiom = slice_axiom,
       .gradient = slice_gradient,
       .traits = {Trait::Cut, Trait::Leading},
       .params = {{.index = 1, .attr = "starts", .since = 10},
                  {.index = 2, .attr = "ends", .since = 10},
                  {.index = 3, .attr = "axes", .since = 10},
                  {.index = 4, .attr = "steps", .since = 10}},
       .from_onnx = slice_from_onnx,
       .to_onnx = slice_to_onnx},
  };
}

}  // namespace isomer
