#include "isomer/onnx/shape_values.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "isomer/ops/infer.h"

namespace isomer {
namespace {

constexpr size_t kMaxElements = 64;

using Values = std::vector<ShapeValue>;

std::optional<ShapeValue> shape_of(const TensorType& type, const Attrs& attrs) {
  if (!type.shape) return std::nullopt;
  const auto rank = static_cast<int64_t>(type.rank());
  const auto clamp = [&](std::string_view name, int64_t preset) {
    const AttrValue* value = attrs.find(name);
    const auto* given = value == nullptr ? nullptr : std::get_if<int64_t>(value);
    const int64_t at = given == nullptr ? preset : *given;
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = clamp("start", 0);
  const int64_t end = std::max(start, clamp("end", rank));
  return ShapeValue{{type.shape->begin() + start, type.shape->begin() + end}};
}

std::optional<ShapeValue> gather(const Values& in) {
  ShapeValue out{{}, in[1].scalar};
  const auto size = static_cast<int64_t>(in[0].elements.size());
  for (const Dim& index : in[1].elements) {
    if (!index.is_const() || index.value() < -size || index.value() >= size) return std::nullopt;
    out.elements.push_back(
        in[0].elements[static_cast<size_t>(index.value() < 0 ? index.value() + size : index.value())]);
  }
  return out;
}

std::optional<ShapeValue> concat(const Values& in) {
  ShapeValue out;
  for (const ShapeValue& part : in) {
    if (part.scalar) return std::nullopt;
    out.elements.insert(out.elements.end(), part.elements.begin(), part.elements.end());
  }
  return out;
}

std::optional<ShapeValue> slice(const Values& in, const Attrs& attrs) {
  const AttrValue* starts = attrs.find("starts");
  const AttrValue* ends = attrs.find("ends");
  const AttrValue* steps = attrs.find("steps");
  const auto one = [](const AttrValue* value) {
    const auto* ints = value == nullptr ? nullptr : std::get_if<Ints>(value);
    return ints != nullptr && ints->size() == 1 ? std::optional(ints->front()) : std::nullopt;
  };
  if (in[0].scalar || !one(starts) || !one(ends)) return std::nullopt;
  if (steps != nullptr && one(steps) != 1) return std::nullopt;
  const auto size = static_cast<int64_t>(in[0].elements.size());
  const auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size); };
  const int64_t start = clamp(*one(starts));
  const int64_t end = std::max(start, clamp(*one(ends)));
  return ShapeValue{{in[0].elements.begin() + start, in[0].elements.begin() + end}};
}

/// Applies an operation elementwise. One of the operands may be a scalar or a single element.
template <class F>
std::optional<ShapeValue> zip(const Values& in, F f) {
  const auto& a = in[0].elements;
  const auto& b = in[1].elements;
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return std::nullopt;
  ShapeValue out{{}, in[0].scalar && in[1].scalar};
  const size_t size = a.empty() || b.empty() ? 0 : std::max(a.size(), b.size());
  for (size_t i = 0; i < size; ++i) {
    const std::optional<Dim> element = f(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
    if (!element) return std::nullopt;
    out.elements.push_back(*element);
  }
  return out;
}

/// Integer division truncates. This equals floor division if neither side can be negative.
std::optional<Dim> divide(const Dim& a, const Dim& b) {
  if (at_least(a, Dim(0)) != true || at_least(b, Dim(1)) != true) return std::nullopt;
  return floor_div(a, b);
}

std::optional<Dim> minimum(const Dim& a, const Dim& b) {
  if (at_least(a, Dim(0)) != true || at_least(b, Dim(0)) != true) return std::nullopt;
  return min_extent(a, b);
}

std::optional<Dim> maximum(const Dim& a, const Dim& b) {
  if (at_least(a, b) == true) return a;
  if (at_least(b, a) == true) return b;
  return std::nullopt;
}

/// 1 if both sides are equal for all values of the symbols, 0 if they are equal for none.
std::optional<Dim> equal(const Dim& a, const Dim& b) {
  if (a == b) return Dim(1);
  const bool differ = at_least(a, b + Dim(1)) == true || at_least(b, a + Dim(1)) == true;
  return differ ? std::optional(Dim(0)) : std::nullopt;
}

/// The second operand's elements where the first operand is 1, otherwise the third's. Each operand may be a single
/// element.
std::optional<ShapeValue> where(const Values& in) {
  size_t size = 1;
  for (const ShapeValue& value : in) size = value.elements.size() == 1 ? size : value.elements.size();
  for (const ShapeValue& value : in)
    if (value.elements.size() != 1 && value.elements.size() != size) return std::nullopt;
  const auto element = [&](size_t operand, size_t i) {
    return in[operand].elements[in[operand].elements.size() == 1 ? 0 : i];
  };
  ShapeValue out;
  for (size_t i = 0; i < size; ++i) {
    const Dim condition = element(0, i);
    if (!condition.is_const()) return std::nullopt;
    out.elements.push_back(element(condition.is(0) ? 2 : 1, i));
  }
  return out;
}

/// `out` with the rank of the inferred result.
std::optional<ShapeValue> ranked(ShapeValue out, const TensorType& type) {
  if (!type.known() || type.rank() > 1) return std::nullopt;
  out.scalar = type.rank() == 0;
  if (out.scalar && out.elements.size() != 1) return std::nullopt;
  if (!out.scalar && !(*type.shape)[0].is(static_cast<int64_t>(out.elements.size()))) return std::nullopt;
  return out;
}

std::optional<ShapeValue> compute(std::string_view op, const Attrs& attrs, const Values& in) {
  if (op == "Concat") return concat(in);
  if (in.size() == 1) {
    if (op == "Slice") return slice(in, attrs);
    if (op == "Neg") return zip({{{Dim(0)}}, in[0]}, [](const Dim& a, const Dim& b) { return std::optional(a - b); });
    const bool moves = op == "Unsqueeze" || op == "Squeeze" || op == "Identity" || op == "Reshape" || op == "Cast";
    return moves ? std::optional(in[0]) : std::nullopt;
  }
  if (op == "Where") return in.size() == 3 ? where(in) : std::nullopt;
  if (in.size() != 2) return std::nullopt;
  if (op == "Gather" && !in[0].scalar) return gather(in);
  if (op == "Add") return zip(in, [](const Dim& a, const Dim& b) { return std::optional(a + b); });
  if (op == "Sub") return zip(in, [](const Dim& a, const Dim& b) { return std::optional(a - b); });
  if (op == "Mul") return zip(in, [](const Dim& a, const Dim& b) { return std::optional(a * b); });
  if (op == "Div") return zip(in, divide);
  if (op == "Min") return zip(in, minimum);
  if (op == "Max") return zip(in, maximum);
  if (op == "Equal") return zip(in, equal);
  return std::nullopt;
}

/// Reshape's parameter: 0 if the target is the operand's extent at the same place, -1 for one that follows from the
/// others.
std::optional<Ints> reshape_target(const Shape& from, const ShapeValue& target) {
  Ints out;
  std::vector<size_t> open;
  for (size_t i = 0; i < target.elements.size(); ++i) {
    const Dim& want = target.elements[i];
    if (want.is_const()) {
      out.push_back(want.value());
    } else if (i < from.size() && want == from[i]) {
      out.push_back(0);
    } else {
      open.push_back(i);
      out.push_back(-1);
    }
  }
  if (open.size() > 1 || std::count(out.begin(), out.end(), -1) > 1) return std::nullopt;
  if (open.empty()) return out;
  // The remaining extent must follow from the others for every value of the symbols. If one of them is 0, the model
  // fails then; but without this, models that split or join axes after open extents would not be optimized.
  Dim others(1);
  for (size_t i = 0; i < target.elements.size(); ++i)
    if (i != open[0]) others = others * target.elements[i];
  if (!(others * target.elements[open[0]] == element_count(from))) return std::nullopt;
  return out;
}

/// Expand's parameter: 1 keeps the operand's extent.
std::optional<Ints> expand_target(const Shape& from, const ShapeValue& target) {
  Ints out;
  const size_t size = target.elements.size();
  for (size_t i = 0; i < size; ++i) {
    const Dim& want = target.elements[i];
    const size_t back = size - i;  // counted from the end, as broadcasting does
    if (want.is_const())
      out.push_back(want.value());
    else if (back <= from.size() && want == from[from.size() - back])
      out.push_back(1);
    else
      return std::nullopt;
  }
  return out;
}

/// Slice's starts or ends: a bound that equals the extent becomes the maximum integer, and minus the extent becomes 0.
std::optional<Ints> slice_bounds(const Shape& from, const ShapeValue& bounds, const Tensor& axes) {
  Ints axis(bounds.elements.size());
  for (size_t i = 0; i < axis.size(); ++i) axis[i] = static_cast<int64_t>(i);
  if (!axes.empty()) {
    const auto given = int_elements(axes);
    if (!given || given->size() != axis.size()) return std::nullopt;
    axis = *given;
  }
  Ints out;
  for (size_t i = 0; i < axis.size(); ++i) {
    const auto rank = static_cast<int64_t>(from.size());
    const int64_t at = axis[i] < 0 ? axis[i] + rank : axis[i];
    if (at < 0 || at >= rank) return std::nullopt;
    const Dim& bound = bounds.elements[i];
    if (bound.is_const())
      out.push_back(bound.value());
    else if (bound == from[static_cast<size_t>(at)])
      out.push_back(std::numeric_limits<int64_t>::max());
    else if ((bound + from[static_cast<size_t>(at)]).is(0))
      out.push_back(0);
    else
      return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<ShapeValue> ShapeValues::find(const GraphBuilder& builder, ValueId value) const {
  if (value == kNoValue) return std::nullopt;
  if (const auto at = values_.find(value); at != values_.end()) return at->second;
  const Tensor* data = builder.constant_data(value);
  if (data == nullptr || data->dims().size() > 1 || data->element_count() > static_cast<int64_t>(kMaxElements))
    return std::nullopt;
  const bool readable = is_integer(data->dtype()) || data->dtype() == DType::Bool;
  const auto ints = readable ? int_elements(*data) : Result<Ints>(fail("no integers"));
  if (!ints) return std::nullopt;
  for (const int64_t element : *ints)
    if (element > Dim::kHuge || element < -Dim::kHuge) return std::nullopt;
  return ShapeValue{{ints->begin(), ints->end()}, data->dims().empty()};
}

bool ShapeValues::learn(const GraphBuilder& builder, NodeId id) {
  const Node& node = builder.at(id);
  if (node.num_results != 1 || values_.contains(node.result())) return false;
  const TensorType& type = builder.type(node.result());
  if (type.dtype != DType::Int64 && type.dtype != DType::Int32 && type.dtype != DType::Bool) return false;
  if (type.dtype == DType::Bool && node.op->name == "Cast") return false;  // every extent except 0 becomes 1
  const auto operands = builder.peek().operands(node);
  std::optional<ShapeValue> out;
  if (node.op->name == "Shape" && !operands.empty()) {
    out = shape_of(builder.type(operands[0]), node.attrs);
  } else {
    Values in;
    for (const ValueId operand : operands) {
      auto value = find(builder, operand);
      if (!value) return false;
      in.push_back(std::move(*value));
    }
    out = compute(node.op->name, node.attrs, in);
  }
  if (out) out = ranked(std::move(*out), type);
  if (!out || out->elements.size() > kMaxElements) return false;
  values_.emplace(node.result(), std::move(*out));
  return true;
}

void ShapeValues::express(const GraphBuilder& builder, OnnxForm& form) const {
  if (!form.domain.empty() || form.types.empty() || form.types[0] == nullptr) return;
  const Shape& from = *form.types[0]->shape;
  const auto computed = [&](size_t index) -> std::optional<ShapeValue> {
    if (form.operands.size() <= index || !form.operands[index].constant.empty()) return std::nullopt;
    auto value = find(builder, form.operands[index].value);
    return value && !value->scalar ? value : std::nullopt;
  };
  const auto write = [&](size_t index, const std::optional<Ints>& ints) {
    if (ints) form.operands[index].constant = Tensor::ints({static_cast<int64_t>(ints->size())}, *ints);
  };
  if (form.op_type == "Slice") {
    const Tensor none;
    const bool axes = form.has(3);
    if (axes && form.operands[3].constant.empty()) return;
    for (const size_t index : {1, 2})
      if (const auto bounds = computed(index))
        write(index, slice_bounds(from, *bounds, axes ? form.operands[3].constant : none));
  }
  if (form.op_type == "Expand")
    if (const auto target = computed(1)) write(1, expand_target(from, *target));
  if (form.op_type == "Reshape")
    if (const auto target = computed(1)) {
      // Without a literal 0, a target means the same with and without allowzero. Our target needs 0 to copy extents.
      const auto* allow_zero = form.get<int64_t>("allowzero");
      const bool literal = allow_zero != nullptr && *allow_zero != 0;
      const auto& want = target->elements;
      if (literal && std::any_of(want.begin(), want.end(), [](const Dim& d) { return d.is(0); })) return;
      const auto ints = reshape_target(from, *target);
      if (ints) form.attrs.erase("allowzero");
      write(1, ints);
    }
}

}  // namespace isomer
