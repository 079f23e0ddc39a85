#include "isomer/certificate/functions.h"

#include <algorithm>
#include <map>

#include "isomer/ops/kernel_types.h"
#include "isomer/ops/magnitude.h"

namespace isomer::replay {

Result<Dim> integer(const Value& value) {
  if (const Dim* dim = std::get_if<Dim>(&value)) return *dim;
  return fail("{} is not an integer", text_of(value));
}

Result<int64_t> known_integer(const Value& value) {
  ISOMER_TRY(const Dim dim, integer(value));
  if (!dim.is_const()) return fail("{} depends on the sizes", dim.str());
  return dim.value();
}

Result<double> real(const Value& value) {
  if (const double* number = std::get_if<double>(&value)) return *number;
  ISOMER_TRY(const int64_t number, known_integer(value));
  return static_cast<double>(number);
}

Result<Dims> list(const Value& value) {
  if (const Dims* items = std::get_if<Dims>(&value)) return *items;
  return fail("{} is not a list", text_of(value));
}

Result<std::vector<Fact>> facts(const Value& value) {
  if (const Facts* found = std::get_if<Facts>(&value)) return found->list;
  return fail("{} is not a value of the graph", text_of(value));
}

namespace {

using Arguments = std::span<const Value>;
using Function = Result<Value> (*)(Arguments);

/// Maximum length of a list of channels.
constexpr int64_t kMaxLength = 1 << 16;

Dim size_of(const Dims& items) { return Dim(static_cast<int64_t>(items.size())); }

/// Returns an index, counted from the front or the back of a list of `size`, counted from the front.
Result<size_t> place(const Value& index, size_t size) {
  ISOMER_TRY(int64_t at, known_integer(index));
  const auto n = static_cast<int64_t>(size);
  if (at < 0) at += n;
  if (at < 0 || at >= n) return fail("there is no place {} among {}", at, n);
  return static_cast<size_t>(at);
}

Result<int64_t> count(const Value& value, int64_t max) {
  ISOMER_TRY(const int64_t n, known_integer(value));
  if (n < 0 || n > max) return fail("{} is not in 0..{}", n, max);
  return n;
}

Result<const TensorType*> type_of(const Fact& fact) {
  if (fact.type == nullptr) return fail("an absent operand has no type");
  return fact.type;
}

Result<Shape> shape_of(const Fact& fact) {
  ISOMER_TRY(const TensorType* const type, type_of(fact));
  if (!type->shape) return fail("the rank is not known");
  return *type->shape;
}

/// Returns a single fact; for a sequence, the first.
Result<Fact> one_of(const Value& value) {
  ISOMER_TRY(const auto all, facts(value));
  if (all.empty()) return fail("the sequence is empty");
  return all[0];
}

Result<Fact> only(const Value& value) {
  ISOMER_TRY(const auto all, facts(value));
  if (all.size() != 1) return fail("one value is expected, but there are {}", all.size());
  return all[0];
}

Result<Shape> shape_of(const Value& value) {
  ISOMER_TRY(const Fact fact, one_of(value));
  return shape_of(fact);
}

Result<Dim> extent(const Fact& fact, const Value& axis) {
  ISOMER_TRY(const Shape shape, shape_of(fact));
  ISOMER_TRY(const size_t at, place(axis, shape.size()));
  return shape[at];
}

// Of values -----------------------------------------------------------------------------------------------------------

Result<Value> rank(Arguments a) {
  ISOMER_TRY(const Shape shape, shape_of(a[0]));
  return size_of(shape);
}

Result<Value> shape(Arguments a) {
  ISOMER_TRY(Shape out, shape_of(a[0]));
  return out;
}

Result<Value> dim(Arguments a) {
  ISOMER_TRY(const Fact fact, one_of(a[0]));
  ISOMER_TRY(Dim out, extent(fact, a[1]));
  return out;
}

Result<Value> dims(Arguments a) {
  ISOMER_TRY(const auto all, facts(a[0]));
  Dims out;
  for (const Fact& fact : all) {
    ISOMER_TRY(Dim one, extent(fact, a[1]));
    out.push_back(std::move(one));
  }
  return out;
}

Result<Value> elements(Arguments a) {
  ISOMER_TRY(const Shape shape, shape_of(a[0]));
  return element_count(shape);
}

Result<Value> dtype(Arguments a) {
  ISOMER_TRY(const Fact fact, only(a[0]));
  ISOMER_TRY(const TensorType* const type, type_of(fact));
  return std::string(dtype_name(type->dtype));
}

Result<Value> is_real_type(Arguments a) {
  ISOMER_TRY(const auto all, facts(a[0]));
  for (const Fact& fact : all) {
    ISOMER_TRY(const TensorType* const type, type_of(fact));
    if (type->dtype != DType::Float && type->dtype != DType::Double) return false;
  }
  return true;
}

Result<Value> weight(Arguments a) {
  ISOMER_TRY(const auto all, facts(a[0]));
  return std::ranges::all_of(all, [](const Fact& fact) { return fact.weight; });
}

Result<Value> is_uniform(Arguments a) {
  ISOMER_TRY(const Fact fact, only(a[0]));
  return fact.constant != nullptr && uniform_number(*fact.constant).has_value();
}

Result<Value> number(Arguments a) {
  const Tensor* tensor = std::get_if<Tensor>(&a[0]);
  if (tensor == nullptr) {
    ISOMER_TRY(const Fact fact, only(a[0]));
    tensor = fact.constant;
  }
  const auto out = tensor == nullptr ? std::nullopt : uniform_number(*tensor);
  if (!out) return fail("it is not a constant of equal elements");
  return *out;
}

/// Whether the numbers of a value that follows from constants are between -1000 and 1000; true for other values.
Result<Value> moderate(Arguments a) {
  ISOMER_TRY(const Fact fact, only(a[0]));
  if (fact.constant == nullptr) return fact.derived_in == nullptr || magnitude(*fact.derived_in, fact.id) <= 1000;
  if (!is_real(fact.constant->dtype())) return true;
  const Tensor elements = in_double(*fact.constant);
  return std::ranges::none_of(elements.data<double>(), [](double x) { return !(x >= -1000 && x <= 1000); });
}

/// Returns whether element types and shapes are equal; `but`, if given, is an axis that may differ.
Result<Value> alike(std::span<const Fact> all, const Value* but) {
  if (all.empty()) return true;
  ISOMER_TRY(const TensorType* const first, type_of(all[0]));
  for (const Fact& fact : all) {
    ISOMER_TRY(const TensorType* const type, type_of(fact));
    if (!type->known() || type->dtype != first->dtype || type->rank() != first->rank()) return false;
    for (size_t i = 0; i < type->rank(); ++i) {
      const auto free = but == nullptr ? type->rank() : place(*but, type->rank()).value_or(type->rank());
      if (i != free && !((*type->shape)[i] == (*first->shape)[i])) return false;
    }
  }
  return true;
}

Result<Value> alike_all(Arguments a) {
  ISOMER_TRY(const auto all, facts(a[0]));
  return alike(all, nullptr);
}

Result<Value> alike_but(Arguments a) {
  ISOMER_TRY(const auto all, facts(a[0]));
  ISOMER_CHECK(known_integer(a[1]).map([](int64_t) {}));
  return alike(all, &a[1]);
}

// Of lists ------------------------------------------------------------------------------------------------------------

Result<Value> length(Arguments a) {
  if (const Facts* all = std::get_if<Facts>(&a[0])) return Dim(static_cast<int64_t>(all->list.size()));
  ISOMER_TRY(const Dims items, list(a[0]));
  return size_of(items);
}

Result<Value> sum(Arguments a) {
  ISOMER_TRY(const Dims items, list(a[0]));
  Dim total(0);
  for (const Dim& item : items) total = total + item;
  return total;
}

Result<Value> product(Arguments a) {
  ISOMER_TRY(const Dims items, list(a[0]));
  return element_count(items);
}

Result<Value> take(Arguments a) {
  ISOMER_TRY(const Dims items, list(a[0]));
  ISOMER_TRY(const int64_t n, count(a[1], static_cast<int64_t>(items.size())));
  return Dims(items.begin(), items.begin() + n);
}

Result<Value> drop(Arguments a) {
  ISOMER_TRY(const Dims items, list(a[0]));
  ISOMER_TRY(const int64_t n, count(a[1], static_cast<int64_t>(items.size())));
  return Dims(items.begin() + n, items.end());
}

Result<Value> repeat(Arguments a) {
  ISOMER_TRY(const Dim item, integer(a[0]));
  ISOMER_TRY(const int64_t n, count(a[1], kMaxLength));
  return Dims(static_cast<size_t>(n), item);
}

Result<Value> range(Arguments a) {
  ISOMER_TRY(const int64_t n, known_integer(a[0]));
  if (n > kMaxLength) return fail("a range of {} is too long", n);
  Dims out;
  for (int64_t i = 0; i < n; ++i) out.emplace_back(i);
  return out;
}

Result<Value> set(Arguments a) {
  ISOMER_TRY(Dims items, list(a[0]));
  ISOMER_TRY(const size_t at, place(a[1], items.size()));
  ISOMER_TRY(items[at], integer(a[2]));
  return items;
}

Result<Value> insert(Arguments a) {
  ISOMER_TRY(Dims items, list(a[0]));
  ISOMER_TRY(const size_t at, place(a[1], items.size() + 1));
  ISOMER_TRY(const Dim item, integer(a[2]));
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), item);
  return items;
}

Result<Value> erase(Arguments a) {
  ISOMER_TRY(Dims items, list(a[0]));
  ISOMER_TRY(const size_t at, place(a[1], items.size()));
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
  return items;
}

/// [items[p[0]], items[p[1]], ...]
Result<Value> permute(Arguments a) {
  ISOMER_TRY(const Dims items, list(a[0]));
  ISOMER_TRY(const Dims permutation, list(a[1]));
  Dims out;
  for (const Dim& index : permutation) {
    ISOMER_TRY(const size_t at, place(index, items.size()));
    out.push_back(items[at]);
  }
  return out;
}

/// Returns the inverse permutation.
Result<Value> inverse(Arguments a) {
  ISOMER_TRY(const Dims permutation, list(a[0]));
  Dims out(permutation.size(), Dim(0));
  for (size_t i = 0; i < permutation.size(); ++i) {
    ISOMER_TRY(const size_t at, place(permutation[i], out.size()));
    out[at] = Dim(static_cast<int64_t>(i));
  }
  return out;
}

Result<Value> index(Arguments a) {
  ISOMER_TRY(const Dims items, list(a[0]));
  ISOMER_TRY(const Dim item, integer(a[1]));
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i] == item) return Dim(static_cast<int64_t>(i));
  return fail("{} is not in {}", item.str(), shape_str(items));
}

/// Returns, for each of 0..n-1, its first position in the list, or the list's length.
Result<Value> places(Arguments a) {
  ISOMER_TRY(const Dims items, list(a[0]));
  ISOMER_TRY(const int64_t n, count(a[1], kMaxLength));
  for (const Dim& item : items) ISOMER_CHECK(count(item, n - 1).map([](int64_t) {}));
  Dims out;
  for (int64_t wanted = 0; wanted < n; ++wanted) {
    const auto found = std::ranges::find_if(items, [&](const Dim& item) { return item.is(wanted); });
    out.emplace_back(found - items.begin());
  }
  return out;
}

Result<Value> contains(Arguments a) {
  ISOMER_TRY(const Dims items, list(a[0]));
  ISOMER_TRY(const Dim item, integer(a[1]));
  return std::ranges::any_of(items, [&](const Dim& one) { return one == item; });
}

Result<Value> all(Arguments a) {
  ISOMER_TRY(const Dims items, list(a[0]));
  ISOMER_TRY(const Dim item, integer(a[1]));
  return std::ranges::all_of(items, [&](const Dim& one) { return one == item; });
}

Result<Value> nonnegative(Arguments a) {
  ISOMER_TRY(const Dims items, list(a[0]));
  return std::ranges::all_of(items, [](const Dim& one) { return at_least(one, Dim(0)) == true; });
}

Result<Value> distinct(Arguments a) {
  ISOMER_TRY(const Dims items, list(a[0]));
  const auto known = concrete(items);
  if (!known) return fail("{} depends on the sizes", shape_str(items));
  for (size_t i = 0; i < known->size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if ((*known)[i] == (*known)[j]) return false;
  return true;
}

/// Converts pads of the spatial axes (all begins, then all ends) to pads of all axes, with 0 for the first two.
Result<Value> around(Arguments a) {
  ISOMER_TRY(const Dims pads, list(a[0]));
  if (pads.size() % 2 != 0) return fail("pads have as many begins as ends");
  const auto half = static_cast<std::ptrdiff_t>(pads.size() / 2);
  Dims out{Dim(0), Dim(0)};
  out.insert(out.end(), pads.begin(), pads.begin() + half);
  out.insert(out.end(), {Dim(0), Dim(0)});
  out.insert(out.end(), pads.begin() + half, pads.end());
  return out;
}

// Of integers ---------------------------------------------------------------------------------------------------------

/// Returns the axis counted from the front.
Result<Value> normal(Arguments a) {
  ISOMER_TRY(const int64_t rank, count(a[1], kMaxLength));
  ISOMER_TRY(const size_t at, place(a[0], static_cast<size_t>(rank)));
  return Dim(static_cast<int64_t>(at));
}

Result<Value> divisors(Arguments a) {
  ISOMER_TRY(const int64_t n, known_integer(a[0]));
  if (n < 1 || n > 1 << 20) return fail("{} is out of range", n);
  Dims out;
  for (int64_t d = 1; d <= n; ++d)
    if (n % d == 0) out.emplace_back(d);
  return out;
}

/// Of two integers, or of two lists element by element.
Result<Value> extreme(Arguments a, bool largest) {
  const auto pick = [&](int64_t x, int64_t y) { return largest ? std::max(x, y) : std::min(x, y); };
  const bool lists = std::holds_alternative<Dims>(a[0]);
  const Dims left = lists ? std::get<Dims>(a[0]) : Dims{};
  ISOMER_TRY(const Dims right, lists ? list(a[1]) : Result<Dims>(Dims{}));
  if (left.size() != right.size()) return fail("lists of different lengths");
  Dims out;
  for (size_t i = 0; i < left.size(); ++i) {
    ISOMER_TRY(const int64_t x, known_integer(left[i]));
    ISOMER_TRY(const int64_t y, known_integer(right[i]));
    out.emplace_back(pick(x, y));
  }
  if (lists) return out;
  ISOMER_TRY(const int64_t x, known_integer(a[0]));
  ISOMER_TRY(const int64_t y, known_integer(a[1]));
  return Dim(pick(x, y));
}

Result<Value> maximum(Arguments a) { return extreme(a, true); }
Result<Value> minimum(Arguments a) { return extreme(a, false); }

struct Definition {
  size_t arguments;
  Function function;
};

const std::multimap<std::string, Definition>& definitions() {
  static const std::multimap<std::string, Definition> kAll{
      {"rank", {1, rank}},         {"shape", {1, shape}},       {"dim", {2, dim}},
      {"dims", {2, dims}},         {"elements", {1, elements}}, {"dtype", {1, dtype}},
      {"real", {1, is_real_type}}, {"weight", {1, weight}},     {"uniform", {1, is_uniform}},
      {"value", {1, number}},      {"alike", {1, alike_all}},   {"alike", {2, alike_but}},
      {"min", {2, minimum}},       {"len", {1, length}},        {"sum", {1, sum}},
      {"prod", {1, product}},      {"take", {2, take}},         {"drop", {2, drop}},
      {"repeat", {2, repeat}},     {"range", {1, range}},       {"set", {3, set}},
      {"insert", {3, insert}},     {"erase", {2, erase}},       {"permute", {2, permute}},
      {"inverse", {1, inverse}},   {"index", {2, index}},       {"places", {2, places}},
      {"contains", {2, contains}}, {"all", {2, all}},           {"nonnegative", {1, nonnegative}},
      {"distinct", {1, distinct}}, {"max", {2, maximum}},       {"around", {1, around}},
      {"normal", {2, normal}},     {"divisors", {1, divisors}}, {"moderate", {1, moderate}}};
  return kAll;
}

}  // namespace

Result<Value> call_function(const std::string& name, std::span<const Value> arguments) {
  const auto [first, last] = definitions().equal_range(name);
  for (auto one = first; one != last; ++one)
    if (one->second.arguments == arguments.size()) return one->second.function(arguments);
  return fail("there is no function {} of {} arguments", name, arguments.size());
}

}  // namespace isomer::replay
