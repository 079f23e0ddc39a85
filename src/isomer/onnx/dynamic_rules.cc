#include "isomer/onnx/dynamic_rules.h"

#include <algorithm>
#include <map>
#include <string>

#include "isomer/ops/infer.h"

namespace isomer {
namespace {

using Extents = PartialType::Extents;
using Types = std::vector<PartialType>;

/// A node in ONNX form with the known facts about its parameters.
class Form {
 public:
  Form(const GraphBuilder& builder, const ShapeValues& shapes, const OnnxForm& form)
      : builder_(builder), shapes_(shapes), form_(form) {}

  const std::string& op() const { return form_.op_type; }
  int opset() const { return form_.opset; }
  bool has(size_t i) const { return form_.has(i); }
  const TensorType* type(size_t i) const { return i < form_.types.size() ? form_.types[i] : nullptr; }
  DType dtype(size_t i) const { return type(i) == nullptr ? DType::Undefined : type(i)->dtype; }
  size_t num_results() const { return form_.num_results; }

  /// The extents of operand i if all are known.
  std::optional<Extents> extents(size_t i) const {
    if (type(i) == nullptr) return std::nullopt;
    return Extents(type(i)->shape->begin(), type(i)->shape->end());
  }
  /// Unknown extents, as many as operand i has.
  std::optional<Extents> rank_of(size_t i) const {
    if (type(i) == nullptr) return std::nullopt;
    return Extents(type(i)->rank());
  }

  /// The elements of operand i.
  std::optional<std::vector<Dim>> dims(size_t i) const {
    if (!has(i)) return std::nullopt;
    const FormOperand& operand = form_.operands[i];
    if (operand.constant.empty()) {
      const auto value = shapes_.find(builder_, operand.value);
      return value ? std::optional(value->elements) : std::nullopt;
    }
    const auto ints = is_integer(operand.constant.dtype()) ? int_elements(operand.constant) : Result<Ints>(fail("no"));
    if (!ints) return std::nullopt;
    std::vector<Dim> out;
    for (const int64_t v : *ints) out.emplace_back(std::clamp(v, -Dim::kHuge, Dim::kHuge));
    return out;
  }
  std::optional<Dim> dim(size_t i) const {
    const auto all = dims(i);
    return all && all->size() == 1 ? std::optional(all->front()) : std::nullopt;
  }
  /// The number of elements of the vector operand i.
  std::optional<size_t> length(size_t i) const {
    if (type(i) == nullptr || type(i)->rank() != 1) return std::nullopt;
    const Dim& size = type(i)->shape->front();
    constexpr int64_t kMaxRank = 64;
    if (!size.is_const() || size.value() < 0 || size.value() > kMaxRank) return std::nullopt;
    return static_cast<size_t>(size.value());
  }

  int64_t integer(const std::string& name, int64_t preset) const {
    const auto* given = form_.get<int64_t>(name);
    return given == nullptr ? preset : *given;
  }
  bool has_attr(const std::string& name) const { return form_.attrs.contains(name); }
  std::string text(const std::string& name, const std::string& preset) const {
    const auto* given = form_.get<std::string>(name);
    return given == nullptr ? preset : *given;
  }
  const Tensor* tensor(const std::string& name) const { return form_.get<Tensor>(name); }

 private:
  const GraphBuilder& builder_;
  const ShapeValues& shapes_;
  const OnnxForm& form_;
};

/// The axes in the vector operand i, counted from the front. If it is absent, all axes from the first on.
std::optional<std::vector<size_t>> axes_of(const Form& form, size_t i, size_t count, size_t rank) {
  std::vector<size_t> axes;
  for (size_t n = 0; n < count; ++n) axes.push_back(n);
  if (!form.has(i)) return count <= rank ? std::optional(axes) : std::nullopt;
  const auto given = form.dims(i);
  if (!given || given->size() != count) return std::nullopt;
  for (size_t n = 0; n < count; ++n) {
    const auto axis = (*given)[n].is_const() ? normal_axis((*given)[n].value(), rank) : Result<size_t>(fail("no"));
    if (!axis) return std::nullopt;
    axes[n] = *axis;
  }
  return axes;
}

/// The position of a bound of a forward slice within an extent.
std::optional<Dim> bound(const Dim& at, const Dim& extent) {
  if (at.is_const() && at.value() >= Dim::kHuge) return extent;
  if (at.is_const() && at.value() < 0) {
    const Dim shifted = extent + at;
    return at_least(shifted, Dim(0)) == true ? std::optional(shifted) : std::nullopt;
  }
  if (at == extent) return at;
  if ((at + extent).is(0)) return Dim(0);  // as far from the end
  return at_least(at, Dim(0)) == true ? std::optional(min_extent(at, extent)) : std::nullopt;
}

std::optional<Dim> slice_extent(const Dim& start, const Dim& end, const Dim& extent) {
  const auto first = bound(start, extent);
  auto behind = bound(end, extent);
  if (!first || !behind) return std::nullopt;
  if (first->is(0)) return behind;
  return at_least(*behind, *first) == true ? std::optional(*behind - *first) : std::nullopt;
}

Types slice(const Form& form) {
  auto out = form.rank_of(0);
  if (!out) return {};
  const auto count = form.length(1);
  const auto axes = count ? axes_of(form, 3, *count, out->size()) : std::nullopt;
  if (!axes) return {{form.dtype(0), out}};
  out = form.extents(0);
  const auto starts = form.dims(1);
  const auto ends = form.dims(2);
  const auto steps = form.dims(4);
  for (size_t i = 0; i < *count; ++i) {
    std::optional<Dim>& extent = (*out)[(*axes)[i]];
    const bool one = !form.has(4) || (steps && steps->size() == *count && (*steps)[i].is(1));
    const bool known = one && starts && ends && starts->size() == *count && ends->size() == *count && extent;
    extent = known ? slice_extent((*starts)[i], (*ends)[i], *extent) : std::nullopt;
  }
  return {{form.dtype(0), out}};
}

Types expand(const Form& form) {
  const auto x = form.extents(0);
  const auto target = form.dims(1);
  const auto size = form.length(1);
  if (!x || !size) return {};
  const Shape& from = *form.type(0)->shape;
  if (target && std::all_of(target->begin(), target->end(), [](const Dim& d) { return at_least(d, Dim(0)) == true; })) {
    const auto shape = broadcast(from, *target);
    if (shape) return {{form.dtype(0), Extents(shape->begin(), shape->end())}};
  }
  // Extents above 1 are unchanged.
  Extents out(std::max(x->size(), *size));
  for (size_t back = 1; back <= from.size(); ++back)
    if (back > *size || at_least(from[from.size() - back], Dim(2)) == true)
      out[out.size() - back] = from[from.size() - back];
  return {{form.dtype(0), out}};
}

/// The result has the computed extents. At run time, ONNX would copy the operand's extent for a computed 0. Then the
/// operand has an extent of 0 too, or the model does not run.
Types reshape(const Form& form) {
  const auto target = form.dims(1);
  const auto size = form.length(1);
  if (form.type(0) == nullptr || !size) return {};
  Extents out(*size);
  if (!target || target->size() != *size) return {{form.dtype(0), out}};
  const Shape& from = *form.type(0)->shape;
  const bool literal = form.integer("allowzero", 0) != 0;
  Dim rest(1);
  std::optional<size_t> open;
  bool all = true;
  for (size_t i = 0; i < *size; ++i) {
    const Dim& want = (*target)[i];
    if (want.is(-1)) {
      open = i;
      continue;
    }
    if (want.is(0) && !literal && i < from.size())
      out[i] = from[i];
    else if (at_least(want, Dim(0)) == true)
      out[i] = want;
    all = all && out[i].has_value();
    if (out[i]) rest = rest * *out[i];
  }
  if (open && all && !rest.is(0)) out[*open] = floor_div(element_count(from), rest);
  return {{form.dtype(0), out}};
}

/// The extents in a vector operand.
Extents wanted_extents(const Form& form, size_t i, size_t size) {
  const auto target = form.dims(i);
  Extents out(size);
  for (size_t n = 0; target && target->size() == size && n < size; ++n)
    if (at_least((*target)[n], Dim(0)) == true) out[n] = (*target)[n];
  return out;
}

Types constant_of_shape(const Form& form) {
  const auto size = form.length(0);
  const Tensor* value = form.tensor("value");
  const DType dtype = value == nullptr ? DType::Float : value->dtype();
  if (!size) return {{dtype}};
  return {{dtype, wanted_extents(form, 0, *size)}};
}

Types range(const Form& form) {
  Extents out(1);
  const auto start = form.dim(0);
  const auto limit = form.dim(1);
  const auto step = form.dim(2);
  const bool forward = step && step->is_const() && step->value() > 0;
  if (start && limit && forward && at_least(*limit, *start) == true) out[0] = ceil_div(*limit - *start, *step);
  DType dtype = form.dtype(0);
  for (size_t i = 1; i < 3 && dtype == DType::Undefined; ++i) dtype = form.dtype(i);
  return {{dtype, out}};
}

Types pad(const Form& form) {
  auto out = form.extents(0);
  if (!out) return {};
  const auto count = form.has(3) ? form.length(3) : std::optional(out->size());
  const auto axes = count ? axes_of(form, 3, *count, out->size()) : std::nullopt;
  const auto pads = form.dims(1);
  if (!axes) return {{form.dtype(0), form.rank_of(0)}};
  for (size_t i = 0; i < *count; ++i) {
    std::optional<Dim>& extent = (*out)[(*axes)[i]];
    const bool known = pads && pads->size() == 2 * *count && extent;
    extent = known ? std::optional(*extent + (*pads)[i] + (*pads)[*count + i]) : std::nullopt;
    if (extent && at_least(*extent, Dim(0)) != true) extent.reset();
  }
  return {{form.dtype(0), out}};
}

Types tile(const Form& form) {
  auto out = form.extents(0);
  if (!out) return {};
  const auto repeats = form.dims(1);
  for (size_t i = 0; i < out->size(); ++i) {
    const bool known = repeats && repeats->size() == out->size() && at_least((*repeats)[i], Dim(0)) == true;
    (*out)[i] = known ? std::optional(*(*out)[i] * (*repeats)[i]) : std::nullopt;
  }
  return {{form.dtype(0), out}};
}

/// Resize and Upsample: uses sizes if given. Scales are not evaluated.
Types resize(const Form& form) {
  auto out = form.rank_of(0);
  const bool plain = !form.has_attr("axes") && form.text("keep_aspect_ratio_policy", "stretch") == "stretch" &&
                     form.text("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize";
  const auto size = form.length(3);
  if (out && plain && form.op() == "Resize" && size == out->size())
    return {{form.dtype(0), wanted_extents(form, 3, *size)}};
  return {{form.dtype(0), out}};
}

Types top_k(const Form& form) {
  auto out = form.extents(0);
  if (!out) return {{form.dtype(0)}, {DType::Int64}};
  const auto axis = normal_axis(form.integer("axis", -1), out->size());
  if (!axis) return {};
  const auto k = form.dim(1);
  (*out)[*axis] = k && at_least(*k, Dim(0)) == true ? k : std::nullopt;
  return {{form.dtype(0), out}, {DType::Int64, out}};
}

Types split(const Form& form) {
  auto out = form.extents(0);
  const auto axis = out ? normal_axis(form.integer("axis", 0), out->size()) : Result<size_t>(fail("no"));
  if (!axis) return Types(form.num_results(), {form.dtype(0)});
  const auto sizes = form.dims(1);
  Types types;
  for (size_t i = 0; i < form.num_results(); ++i) {
    const bool known = sizes && i < sizes->size() && at_least((*sizes)[i], Dim(0)) == true;
    (*out)[*axis] = known ? std::optional((*sizes)[i]) : std::nullopt;
    types.push_back({form.dtype(0), out});
  }
  return types;
}

/// Reductions over computed axes: it is not known which extents become 1.
Types reduce(const Form& form) {
  const auto x = form.rank_of(0);
  if (!x || form.integer("keepdims", 1) != 0) return {{form.dtype(0), x}};
  const auto gone = form.has(1) ? form.length(1) : std::nullopt;
  if (!gone || *gone == 0 || *gone > x->size()) return {{form.dtype(0)}};
  return {{form.dtype(0), Extents(x->size() - *gone)}};
}

Types squeeze(const Form& form) {
  const auto x = form.rank_of(0);
  const auto gone = form.length(1);
  if (!x || !gone || *gone > x->size()) return {{form.dtype(0)}};
  return {{form.dtype(0), Extents(x->size() - *gone)}};
}

Types unsqueeze(const Form& form) {
  const auto x = form.rank_of(0);
  const auto more = form.length(1);
  if (!x || !more) return {{form.dtype(0)}};
  return {{form.dtype(0), Extents(x->size() + *more)}};
}

Types one_hot(const Form& form) {
  auto out = form.extents(0);
  const auto axis =
      out ? normal_axis(form.integer("axis", -1), out->size() + 1) : Result<size_t>(fail("its rank is not known"));
  if (!axis) return {{form.dtype(2)}};
  const auto depth = form.dim(1);
  out->push_back(depth && at_least(*depth, Dim(0)) == true ? depth : std::nullopt);
  std::rotate(out->begin() + static_cast<std::ptrdiff_t>(*axis), out->end() - 1, out->end());
  return {{form.dtype(2), out}};
}

Types non_zero(const Form& form) {
  const auto x = form.rank_of(0);
  if (!x) return {{DType::Int64}};
  return {{DType::Int64, Extents{Dim(static_cast<int64_t>(x->size())), std::nullopt}}};
}

/// Compress and Unique: select slices along an axis, or elements.
std::optional<Extents> selected(const Form& form) {
  if (!form.has_attr("axis")) return Extents(1);
  auto out = form.extents(0);
  const auto axis = out ? normal_axis(form.integer("axis", 0), out->size()) : Result<size_t>(fail("no"));
  if (!axis) return std::nullopt;
  (*out)[*axis].reset();
  return out;
}

Types compress(const Form& form) { return {{form.dtype(0), selected(form)}}; }

Types unique(const Form& form) {
  const PartialType column{DType::Int64, Extents(1)};
  return {{form.dtype(0), selected(form)}, column, column, column};
}

Types non_max_suppression(const Form&) { return {{DType::Int64, Extents{std::nullopt, Dim(3)}}}; }

Types as_first(const Form& form) { return {{form.dtype(0), form.extents(0)}}; }

Types dropout(const Form& form) {
  constexpr int kBoolSince = 10;
  return {{form.dtype(0), form.extents(0)},
          {form.opset() < kBoolSince ? DType::Undefined : DType::Bool, form.extents(0)}};
}

/// Windows over the axes after the first two.
Types pool(const Form& form) {
  auto out = form.extents(0);
  if (!out) return {{form.dtype(0)}};
  for (size_t i = 2; i < out->size(); ++i) (*out)[i].reset();
  return {{form.dtype(0), out}, {DType::Int64, out}};
}

Types quantize_linear(const Form& form) {
  const auto dtype = form.integer("output_dtype", 0);
  if (form.has(2)) return {{form.dtype(2), form.extents(0)}};
  return {{dtype == 0 ? DType::Uint8 : DType::Undefined, form.extents(0)}};
}

Types dequantize_linear(const Form& form) {
  const bool as_scale = form.integer("output_dtype", 0) == 0;
  return {{as_scale ? form.dtype(1) : DType::Undefined, form.extents(0)}};
}

Types dynamic_quantize_linear(const Form& form) {
  return {{DType::Uint8, form.extents(0)}, {DType::Float, Extents()}, {DType::Uint8, Extents()}};
}

using Rule = Types (*)(const Form&);

const std::map<std::string, Rule, std::less<>>& rules() {
  static const std::map<std::string, Rule, std::less<>> kRules = {
      {"AveragePool", pool},
      {"BatchNormalization", as_first},
      {"Clip", as_first},
      {"Compress", compress},
      {"ConstantOfShape", constant_of_shape},
      {"CumSum", as_first},
      {"DequantizeLinear", dequantize_linear},
      {"Dropout", dropout},
      {"DynamicQuantizeLinear", dynamic_quantize_linear},
      {"Expand", expand},
      {"LogSoftmax", as_first},
      {"LpPool", pool},
      {"MaxPool", pool},
      {"NonMaxSuppression", non_max_suppression},
      {"NonZero", non_zero},
      {"OneHot", one_hot},
      {"Pad", pad},
      {"QuantizeLinear", quantize_linear},
      {"Range", range},
      {"Reshape", reshape},
      {"Resize", resize},
      {"Slice", slice},
      {"Softmax", as_first},
      {"Split", split},
      {"Squeeze", squeeze},
      {"Tile", tile},
      {"TopK", top_k},
      {"Trilu", as_first},
      {"Unique", unique},
      {"Unsqueeze", unsqueeze},
      {"Upsample", resize},
  };
  return kRules;
}

}  // namespace

std::vector<PartialType> type_by_rule(const GraphBuilder& builder, const ShapeValues& shapes, const OnnxForm& form) {
  const auto rule = rules().find(form.op_type);
  if (rule != rules().end()) return rule->second(Form(builder, shapes, form));
  if (form.op_type.starts_with("Reduce")) return reduce(Form(builder, shapes, form));
  return {};
}

}  // namespace isomer
