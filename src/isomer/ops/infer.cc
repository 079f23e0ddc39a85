#include "isomer/ops/infer.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "isomer/ir/text.h"

namespace isomer {
namespace {

constexpr std::string_view kBroadcast = "broadcast(";
constexpr std::string_view kMin = "min(";

/// The arguments of `name`, which begins with `function` and ends with a parenthesis.
std::vector<std::string> arguments(std::string_view name, std::string_view function) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : name.substr(function.size(), name.size() - function.size() - 1)) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

/// The integer in `text`.
std::optional<int64_t> integer(const std::string& text) {
  constexpr size_t kMaxDigits = 18;
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits && text.size() <= kMaxDigits ? std::optional<int64_t>(std::stoll(text)) : std::nullopt;
}

/// Whether `name` is min(n, x), where x is among `parts` and n is an integer above 1. Broadcasting it with x gives x:
/// it equals x, or else x is above n, which is not 1, and the two do not broadcast.
bool bounds_another(const std::string& name, const std::set<std::string>& parts) {
  if (!name.starts_with(kMin)) return false;
  const auto sides = arguments(name, kMin);
  const auto above_one = [](const std::string& side) { return integer(side).value_or(0) > 1; };
  return sides.size() == 2 &&
         ((above_one(sides[0]) && parts.contains(sides[1])) || (above_one(sides[1]) && parts.contains(sides[0])));
}

/// The extent to which two symbolic extents broadcast. Its name consists of printed expressions, so equal sets of
/// extents give equal symbols.
Dim joined(const Dim& a, const Dim& b) {
  std::set<std::string> parts;
  for (const Dim* dim : {&a, &b}) {
    const auto name = dim->symbol_name();
    if (name && name->starts_with(kBroadcast))
      for (std::string& part : arguments(*name, kBroadcast)) parts.insert(std::move(part));
    else
      parts.insert(dim->str());
  }
  std::erase_if(parts, [&](const std::string& part) { return bounds_another(part, parts); });
  if (parts.size() == 1) return parts.contains(a.str()) ? a : b;
  return Dim::symbol(fmt::format("{}{})", kBroadcast, fmt::join(parts, ",")));
}

}  // namespace

Result<size_t> normal_axis(int64_t axis, size_t rank) {
  const auto n = static_cast<int64_t>(rank);
  if (axis < -n || axis >= n) return fail("axis {} is out of range for rank {}", axis, rank);
  return static_cast<size_t>(axis < 0 ? axis + n : axis);
}

Result<std::vector<size_t>> normal_axes(const Ints& axes, size_t rank) {
  std::vector<size_t> out;
  for (const int64_t axis : axes) {
    ISOMER_TRY(const size_t normal, normal_axis(axis, rank));
    if (std::find(out.begin(), out.end(), normal) != out.end()) return fail("axis {} is given twice", axis);
    out.push_back(normal);
  }
  return out;
}

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const Dim one(1);
    const Dim& x = i < out.size() - a.size() ? one : a[i - (out.size() - a.size())];
    const Dim& y = i < out.size() - b.size() ? one : b[i - (out.size() - b.size())];
    if (x != y && !x.is(1) && !y.is(1) && x.is_const() && y.is_const())
      return fail("shapes {} and {} do not broadcast", shape_str(a), shape_str(b));
    // An extent that cannot be 1 is the result's extent, whatever the other one is.
    const bool takes_x = x == y || y.is(1) || (!x.is(1) && (x.is_const() || at_least(x, Dim(2)) == true));
    const bool takes_y = x.is(1) || y.is_const() || at_least(y, Dim(2)) == true;
    out[i] = takes_x ? x : takes_y ? y : joined(x, y);
  }
  return out;
}

Dim min_extent(const Dim& a, const Dim& b) {
  if (at_least(a, b) == true) return b;
  if (at_least(b, a) == true) return a;
  std::set<std::string> parts;
  std::optional<int64_t> min;
  for (const Dim* dim : {&a, &b}) {
    const auto name = dim->symbol_name();
    for (std::string& part : name && name->starts_with(kMin) ? arguments(*name, kMin) : std::vector{dim->str()}) {
      if (const auto n = integer(part))
        min = min ? std::min(*min, *n) : *n;
      else
        parts.insert(std::move(part));
    }
  }
  if (min) parts.insert(std::to_string(*min));
  return Dim::symbol(fmt::format("{}{})", kMin, fmt::join(parts, ",")));
}

std::optional<int64_t> extent_value(const std::string& symbol,
                                    const std::function<std::optional<int64_t>(const std::string&)>& value_of) {
  const bool is_min = symbol.starts_with(kMin);
  if (!is_min && !symbol.starts_with(kBroadcast)) return std::nullopt;
  std::optional<int64_t> out;
  for (const std::string& part : arguments(symbol, is_min ? kMin : kBroadcast)) {
    const auto dim = parse_dim(part);
    const auto value = dim ? dim->evaluate(value_of) : std::nullopt;
    if (!value) return std::nullopt;
    if (!out || (is_min ? *value < *out : *out == 1)) out = value;
  }
  return out;
}

TensorType unknown_shape(DType dtype) {
  TensorType type;
  type.dtype = dtype;
  return type;
}

Result<std::vector<TensorType>> infer_same(const OpView& view) { return std::vector<TensorType>{view.type(0)}; }

Result<std::vector<TensorType>> infer_broadcast(const OpView& view) {
  Shape shape = view.shape(0);
  for (size_t i = 1; i < view.operands.size(); ++i) {
    ISOMER_CHECK(same_dtype(view, 0, i));
    ISOMER_TRY(shape, broadcast(shape, view.shape(i)));
  }
  return std::vector<TensorType>{{view.dtype(0), std::move(shape)}};
}

Result<std::vector<TensorType>> infer_compare(const OpView& view) {
  ISOMER_TRY(std::vector<TensorType> types, infer_broadcast(view));
  types[0].dtype = DType::Bool;
  return types;
}

Status same_dtype(const OpView& view, size_t i, size_t j) {
  if (view.dtype(i) != view.dtype(j))
    return fail("operands {} and {} of {} have different element types ({} and {})", i, j, view.op.name,
                dtype_name(view.dtype(i)), dtype_name(view.dtype(j)));
  return {};
}

Status want_rank(const OpView& view, size_t i, size_t rank) {
  if (view.rank(i) != rank)
    return fail("operand {} of {} must have rank {}, it is {}", i, view.op.name, rank, view.type(i).str());
  return {};
}

bool unequal(const Dim& a, const Dim& b) { return a.is_const() && b.is_const() && !(a == b); }

bool differ(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  return difference.is_const() && !difference.is(0);
}

Status want_vector(const OpView& view, size_t i, const Dim& extent) {
  ISOMER_CHECK(want_rank(view, i, 1));
  const Dim& have = view.shape(i)[0];
  if (unequal(have, extent))
    return fail("operand {} of {} must have {} elements, it is {}", i, view.op.name, extent.str(), view.type(i).str());
  return {};
}

double count(const std::vector<int64_t>& dims) {
  double n = 1;
  for (const int64_t dim : dims) n *= static_cast<double>(dim);
  return n;
}

double flops_per_element(const WorkView& view) { return count(view.results[0]); }

}  // namespace isomer
