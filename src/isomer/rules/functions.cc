#include "isomer/rules/functions.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>

namespace isomer {

Result<Dim> dim_of(const ExprValue& value) {
  if (const auto* dim = std::get_if<Dim>(&value)) return *dim;
  return fail("an integer is expected");
}

Result<int64_t> int_of(const ExprValue& value) {
  const auto* dim = std::get_if<Dim>(&value);
  if (dim == nullptr || !dim->is_const()) return fail("an integer that is known is expected");
  return dim->value();
}

Result<Dims> list_of(const ExprValue& value) {
  if (const auto* dims = std::get_if<Dims>(&value)) return *dims;
  return fail("a list is expected");
}

Result<ValueId> value_of(const ExprValue& value) {
  const auto* ref = std::get_if<ValueRef>(&value);
  if (ref == nullptr || ref->ids.size() != 1) return fail("one value is expected");
  return ref->ids[0];
}

Result<std::span<const ValueId>> values_of(const ExprValue& value) {
  if (const auto* ref = std::get_if<ValueRef>(&value)) return std::span(ref->ids.data(), ref->ids.size());
  return fail("values are expected");
}

Result<double> real_of(const ExprValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  ISOMER_TRY(const int64_t integer, int_of(value));
  return static_cast<double>(integer);
}

Result<ExprValue> elementwise(const ExprValue& left, const ExprValue& right, IntegerOperation operation) {
  const auto* list = std::get_if<Dims>(&left);
  const auto* other = std::get_if<Dims>(&right);
  if (list != nullptr && other != nullptr) {
    if (list->size() != other->size()) return fail("lists of different lengths");
    Dims out;
    for (size_t i = 0; i < list->size(); ++i) {
      ISOMER_TRY(Dim item, operation((*list)[i], (*other)[i]));
      out.push_back(std::move(item));
    }
    return out;
  }
  ISOMER_TRY(const Dim a, dim_of(left));
  ISOMER_TRY(const Dim b, dim_of(right));
  ISOMER_TRY(Dim out, operation(a, b));
  return out;
}

Result<ExprValue> arithmetic(std::string_view op, const ExprValue& left, const ExprValue& right,
                             IntegerOperation divide) {
  if (op == "++") {
    ISOMER_TRY(Dims list, list_of(left));
    ISOMER_TRY(const Dims more, list_of(right));
    list.insert(list.end(), more.begin(), more.end());
    return list;
  }
  if (std::holds_alternative<double>(left) || std::holds_alternative<double>(right)) {
    ISOMER_TRY(const double a, real_of(left));
    ISOMER_TRY(const double b, real_of(right));
    return op == "+" ? a + b : op == "-" ? a - b : op == "*" ? a * b : a / b;
  }
  return elementwise(left, right, [&](const Dim& a, const Dim& b) -> Result<Dim> {
    if (op == "+") return a + b;
    if (op == "-") return a - b;
    if (op == "*") return a * b;
    return divide(a, b);
  });
}

namespace {

using Args = std::span<const ExprValue>;
using Value = Result<ExprValue>;

/// Maximum length of the lists that repeat and range make. They are lists of channels, never of elements.
constexpr int64_t kMaxLength = 1 << 16;
/// The largest magnitude of a number that counts as moderate. Masks of attention have -1e4 and beyond, biases less.
constexpr double kModerate = 1000;

Result<size_t> index_of(int64_t index, size_t size) {
  const auto n = static_cast<int64_t>(size);
  if (index < -n || index >= n) return fail("index {} is out of range for length {}", index, size);
  return static_cast<size_t>(index < 0 ? index + n : index);
}

/// The shape of a value. For a sequence, the shape of its first value (`alike` compares the others with it).
Result<const Shape*> shape_of(const ExprValue& arg, const ExprContext& context) {
  ISOMER_TRY(const auto values, values_of(arg));
  if (values.empty()) return fail("an empty sequence has no shape");
  const TensorType& type = context.facts.type(values[0]);
  if (!type.shape) return fail("the rank is not known");
  return &*type.shape;
}

Value fn_rank(Args args, const ExprContext& context) {
  ISOMER_TRY(const Shape* shape, shape_of(args[0], context));
  return Dim(static_cast<int64_t>(shape->size()));
}

Value fn_shape(Args args, const ExprContext& context) {
  ISOMER_TRY(const Shape* shape, shape_of(args[0], context));
  return *shape;
}

Value fn_dim(Args args, const ExprContext& context) {
  ISOMER_TRY(const Shape* shape, shape_of(args[0], context));
  ISOMER_TRY(const int64_t axis, int_of(args[1]));
  ISOMER_TRY(const size_t at, index_of(axis, shape->size()));
  return (*shape)[at];
}

Value fn_dims(Args args, const ExprContext& context) {
  ISOMER_TRY(const auto values, values_of(args[0]));
  Dims out;
  for (const ValueId value : values) {
    const std::array<ExprValue, 2> one{ValueRef::one(value), args[1]};
    ISOMER_TRY(const ExprValue extent, fn_dim(one, context));
    out.push_back(std::get<Dim>(extent));
  }
  return out;
}

Value fn_elements(Args args, const ExprContext& context) {
  ISOMER_TRY(const Shape* shape, shape_of(args[0], context));
  return element_count(*shape);
}

Value fn_dtype(Args args, const ExprContext& context) {
  ISOMER_TRY(const ValueId value, value_of(args[0]));
  return std::string(dtype_name(context.facts.type(value).dtype));
}

bool is_real(ValueId value, const ExprContext& context) {
  const DType dtype = context.facts.type(value).dtype;
  return dtype == DType::Float || dtype == DType::Double || dtype == DType::Field;
}

bool is_weight(ValueId value, const ExprContext& context) { return context.facts.is_weight(value); }

template <bool (*kProperty)(ValueId value, const ExprContext& context)>
Value fn_property(Args args, const ExprContext& context) {
  ISOMER_TRY(const auto values, values_of(args[0]));
  return std::ranges::all_of(values, [&](ValueId value) { return kProperty(value, context); });
}

Value fn_uniform(Args args, const ExprContext& context) {
  ISOMER_TRY(const ValueId value, value_of(args[0]));
  const Tensor* tensor = context.facts.constant(value);
  return tensor != nullptr && uniform_value(*tensor).has_value();
}

Value fn_value(Args args, const ExprContext& context) {
  const Tensor* tensor = std::get_if<Tensor>(&args[0]);
  if (tensor == nullptr) {
    ISOMER_TRY(const ValueId value, value_of(args[0]));
    tensor = context.facts.constant(value);
  }
  const auto number = tensor != nullptr ? uniform_value(*tensor) : std::nullopt;
  if (!number) return fail("the value is not a constant with equal elements");
  return *number;
}

/// Returns false for a value that follows from constants with an element that is or may be so large that floating point
/// loses small summands next to it.
Value fn_moderate(Args args, const ExprContext& context) {
  ISOMER_TRY(const ValueId value, value_of(args[0]));
  return context.facts.magnitude(value) <= kModerate;
}

/// Whether all shapes are equal except along `axis` (without an axis: completely equal), and all element types are
/// equal.
Value fn_alike(Args args, const ExprContext& context) {
  ISOMER_TRY(const auto values, values_of(args[0]));
  std::optional<int64_t> axis;
  if (args.size() == 2) {
    ISOMER_TRY(axis, int_of(args[1]));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const TensorType& first = context.facts.type(values[0]);
    const TensorType& type = context.facts.type(values[i]);
    if (!type.known() || type.dtype != first.dtype || type.rank() != first.rank()) return false;
    for (size_t d = 0; d < type.rank(); ++d) {
      if (axis && index_of(*axis, type.rank()).value_or(type.rank()) == d) continue;
      if (!((*type.shape)[d] == (*first.shape)[d])) return false;
    }
  }
  return true;
}

Value fn_len(Args args, const ExprContext&) {
  if (const auto* ref = std::get_if<ValueRef>(&args[0])) return Dim(static_cast<int64_t>(ref->ids.size()));
  ISOMER_TRY(const Dims list, list_of(args[0]));
  return Dim(static_cast<int64_t>(list.size()));
}

Value fn_sum(Args args, const ExprContext&) {
  ISOMER_TRY(const Dims list, list_of(args[0]));
  return std::accumulate(list.begin(), list.end(), Dim(0));
}

Value fn_prod(Args args, const ExprContext&) {
  ISOMER_TRY(const Dims list, list_of(args[0]));
  return element_count(list);
}

Value fn_take(Args args, const ExprContext&) {
  ISOMER_TRY(Dims list, list_of(args[0]));
  ISOMER_TRY(const int64_t n, int_of(args[1]));
  if (n < 0 || static_cast<size_t>(n) > list.size()) return fail("cannot take {} of {}", n, list.size());
  list.resize(static_cast<size_t>(n));
  return list;
}

Value fn_drop(Args args, const ExprContext&) {
  ISOMER_TRY(Dims list, list_of(args[0]));
  ISOMER_TRY(const int64_t n, int_of(args[1]));
  if (n < 0 || static_cast<size_t>(n) > list.size()) return fail("cannot drop {} of {}", n, list.size());
  list.erase(list.begin(), list.begin() + n);
  return list;
}

Value fn_repeat(Args args, const ExprContext&) {
  ISOMER_TRY(const Dim value, dim_of(args[0]));
  ISOMER_TRY(const int64_t n, int_of(args[1]));
  if (n < 0 || n > kMaxLength) return fail("cannot repeat {} times", n);
  return Dims(static_cast<size_t>(n), value);
}

Value fn_range(Args args, const ExprContext&) {
  ISOMER_TRY(const int64_t n, int_of(args[0]));
  if (n > kMaxLength) return fail("a range of {} is too long", n);
  Dims out;
  for (int64_t i = 0; i < n; ++i) out.emplace_back(i);
  return out;
}

Value fn_set(Args args, const ExprContext&) {
  ISOMER_TRY(Dims list, list_of(args[0]));
  ISOMER_TRY(const int64_t index, int_of(args[1]));
  ISOMER_TRY(const size_t at, index_of(index, list.size()));
  ISOMER_TRY(list[at], dim_of(args[2]));
  return list;
}

Value fn_insert(Args args, const ExprContext&) {
  ISOMER_TRY(Dims list, list_of(args[0]));
  ISOMER_TRY(const int64_t index, int_of(args[1]));
  ISOMER_TRY(const size_t at, index_of(index, list.size() + 1));
  ISOMER_TRY(Dim value, dim_of(args[2]));
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), std::move(value));
  return list;
}

Value fn_erase(Args args, const ExprContext&) {
  ISOMER_TRY(Dims list, list_of(args[0]));
  ISOMER_TRY(const int64_t index, int_of(args[1]));
  ISOMER_TRY(const size_t at, index_of(index, list.size()));
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
  return list;
}

/// [l[p[0]], l[p[1]], ...]
Value fn_permute(Args args, const ExprContext&) {
  ISOMER_TRY(const Dims list, list_of(args[0]));
  ISOMER_TRY(const Dims permutation, list_of(args[1]));
  Dims out;
  for (const Dim& index : permutation) {
    ISOMER_TRY(const int64_t i, int_of(index));
    ISOMER_TRY(const size_t at, index_of(i, list.size()));
    out.push_back(list[at]);
  }
  return out;
}

/// The position of `value` in the list.
Value fn_index(Args args, const ExprContext&) {
  ISOMER_TRY(const Dims list, list_of(args[0]));
  ISOMER_TRY(const Dim value, dim_of(args[1]));
  const auto found = std::find(list.begin(), list.end(), value);
  if (found == list.end()) return fail("the list does not contain the value");
  return Dim(found - list.begin());
}

Value fn_contains(Args args, const ExprContext&) {
  ISOMER_TRY(const Dims list, list_of(args[0]));
  ISOMER_TRY(const Dim value, dim_of(args[1]));
  return std::find(list.begin(), list.end(), value) != list.end();
}

Value fn_all(Args args, const ExprContext&) {
  ISOMER_TRY(const Dims list, list_of(args[0]));
  ISOMER_TRY(const Dim value, dim_of(args[1]));
  return std::all_of(list.begin(), list.end(), [&](const Dim& item) { return item == value; });
}

Value fn_nonnegative(Args args, const ExprContext&) {
  ISOMER_TRY(const Dims list, list_of(args[0]));
  return std::all_of(list.begin(), list.end(), [](const Dim& item) { return at_least(item, 0) == true; });
}

Value fn_distinct(Args args, const ExprContext&) {
  ISOMER_TRY(const Dims list, list_of(args[0]));
  auto known = concrete(list);
  if (!known) return fail("{} is not known", shape_str(list));
  std::sort(known->begin(), known->end());
  return std::adjacent_find(known->begin(), known->end()) == known->end();
}

/// For each of 0..n-1, its position in the list, or the list's length.
Value fn_places(Args args, const ExprContext&) {
  ISOMER_TRY(const Dims list, list_of(args[0]));
  ISOMER_TRY(const int64_t n, int_of(args[1]));
  if (n < 0 || n > kMaxLength) return fail("a list of {} is too long", n);
  Dims out(static_cast<size_t>(n), Dim(static_cast<int64_t>(list.size())));
  for (size_t i = list.size(); i-- > 0;) {
    ISOMER_TRY(const int64_t item, int_of(list[i]));
    if (item < 0 || item >= n) return fail("{} is not in 0..{}", item, n - 1);
    out[static_cast<size_t>(item)] = Dim(static_cast<int64_t>(i));
  }
  return out;
}

/// The axis counted from the front.
Value fn_normal(Args args, const ExprContext&) {
  ISOMER_TRY(const int64_t axis, int_of(args[0]));
  ISOMER_TRY(const int64_t rank, int_of(args[1]));
  if (rank < 0 || axis < -rank || axis >= rank) return fail("axis {} is out of range for rank {}", axis, rank);
  return Dim(axis < 0 ? axis + rank : axis);
}

/// The larger or smaller of two integers, or elementwise of two lists.
Value extreme(Args args, bool largest) {
  return elementwise(args[0], args[1], [&](const Dim& left, const Dim& right) -> Result<Dim> {
    ISOMER_TRY(const int64_t a, int_of(left));
    ISOMER_TRY(const int64_t b, int_of(right));
    return Dim(largest ? std::max(a, b) : std::min(a, b));
  });
}

Value fn_max(Args args, const ExprContext&) { return extreme(args, true); }

Value fn_min(Args args, const ExprContext&) { return extreme(args, false); }

/// The permutation that undoes another.
Value fn_inverse(Args args, const ExprContext&) {
  ISOMER_TRY(const Dims permutation, list_of(args[0]));
  Dims out(permutation.size(), Dim(0));
  for (size_t i = 0; i < permutation.size(); ++i) {
    ISOMER_TRY(const int64_t index, int_of(permutation[i]));
    ISOMER_TRY(const size_t at, index_of(index, out.size()));
    out[at] = Dim(static_cast<int64_t>(i));
  }
  return out;
}

/// The pads of a whole image or weight, given those of its spatial axes (all begins before all ends).
Value fn_around(Args args, const ExprContext&) {
  ISOMER_TRY(Dims list, list_of(args[0]));
  if (list.size() % 2 != 0) return fail("pads have as many begins as ends");
  const Dims none(2, Dim(0));
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2), none.begin(), none.end());
  list.insert(list.begin(), none.begin(), none.end());
  return list;
}

/// The positive divisors of an integer, ascending.
Value fn_divisors(Args args, const ExprContext&) {
  ISOMER_TRY(const int64_t n, int_of(args[0]));
  if (n < 1 || n > 1 << 20) return fail("{} is too large to list divisors of", n);
  Dims out;
  for (int64_t d = 1; d <= n; ++d)
    if (n % d == 0) out.emplace_back(d);
  return out;
}

constexpr RuleFunction kFunctions[] = {
    {"rank", 1, 1, fn_rank},
    {"shape", 1, 1, fn_shape},
    {"dim", 2, 2, fn_dim},
    {"dims", 2, 2, fn_dims},
    {"elements", 1, 1, fn_elements},
    {"dtype", 1, 1, fn_dtype},
    {"uniform", 1, 1, fn_uniform},
    {"value", 1, 1, fn_value},
    {"alike", 1, 2, fn_alike},
    {"len", 1, 1, fn_len},
    {"sum", 1, 1, fn_sum},
    {"prod", 1, 1, fn_prod},
    {"take", 2, 2, fn_take},
    {"drop", 2, 2, fn_drop},
    {"repeat", 2, 2, fn_repeat},
    {"range", 1, 1, fn_range},
    {"set", 3, 3, fn_set},
    {"insert", 3, 3, fn_insert},
    {"erase", 2, 2, fn_erase},
    {"permute", 2, 2, fn_permute},
    {"index", 2, 2, fn_index},
    {"contains", 2, 2, fn_contains},
    {"all", 2, 2, fn_all},
    {"nonnegative", 1, 1, fn_nonnegative},
    {"distinct", 1, 1, fn_distinct},
    {"places", 2, 2, fn_places},
    {"normal", 2, 2, fn_normal},
    {"inverse", 1, 1, fn_inverse},
    {"max", 2, 2, fn_max},
    {"min", 2, 2, fn_min},
    {"around", 1, 1, fn_around},
    {"divisors", 1, 1, fn_divisors},
    {"moderate", 1, 1, fn_moderate},
    {"real", 1, 1, fn_property<is_real>, is_real},
    {"weight", 1, 1, fn_property<is_weight>, is_weight},
};

}  // namespace

const RuleFunction* find_rule_function(std::string_view name) {
  static const auto kByName = [] {
    std::unordered_map<std::string_view, const RuleFunction*> out;
    for (const RuleFunction& function : kFunctions) out.emplace(function.name, &function);
    return out;
  }();
  const auto found = kByName.find(name);
  return found == kByName.end() ? nullptr : found->second;
}

Result<ExprValue> RuleFunction::call(std::span<const ExprValue> args, const ExprContext& context) const {
  if (args.size() < min_args || args.size() > max_args) return fail("{} does not take {} arguments", name, args.size());
  return run(args, context);
}

std::span<const RuleFunction> all_rule_functions() { return kFunctions; }

}  // namespace isomer
