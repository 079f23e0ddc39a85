#include "isomer/engine/onednn/joined_rows.h"

#include <algorithm>

#include "isomer/engine/onednn/fusion.h"
#include "isomer/ops/registry.h"

namespace isomer::onednn {
namespace {

/// The states of a layer are fewer nodes away; longer chains of cuts and concatenations are not followed.
constexpr int kMaxDepth = 16;

size_t rank(const TensorType& type) { return type.shape ? type.shape->size() : 0; }

/// The extent of the first axis; nothing if there is none, or if it is not known.
std::optional<int64_t> rows(const TensorType& type) {
  if (rank(type) == 0 || !type.shape->front().is_const()) return std::nullopt;
  return type.shape->front().value();
}

Attrs cut_of(int64_t axis, int64_t first, int64_t end) {
  return {{"starts", Ints{first}}, {"ends", Ints{end}}, {"axes", Ints{axis}}, {"steps", Ints{1}}};
}

/// The axis of a concatenation, counted from the front.
int64_t axis_of(const Node& concat, size_t rank) {
  const int64_t axis = concat.attrs.integer("axis");
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

bool are_inverse(const Ints& perm, const Ints& other) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[static_cast<size_t>(other[i])] != static_cast<int64_t>(i)) return false;
  return true;
}

}  // namespace

Result<std::optional<ValueId>> JoinedRows::joined(const Node& node, std::span<const ValueId> operands) {
  const std::optional<ValueId> none;
  const auto leading = leading_operand(node, operands);
  if (!leading) return none;
  const bool adds_rows = is_named(node, "Add") && rank(builder_.type(operands[0])) == rank(builder_.type(operands[1]));
  const Parts parts_of_leading = parts(operands[*leading]);
  std::vector<ValueId> found;
  int64_t row = 0;
  for (const Part& part : parts_of_leading) {
    const int64_t end = row + part.rows;
    std::vector<ValueId> of_part(operands.begin(), operands.end());
    of_part[*leading] = part.value;
    if (adds_rows) {
      const auto added = rows_of(operands[1 - *leading], row, end);
      if (!added) return none;
      of_part[1 - *leading] = *added;
    }
    const auto computed = builder_.find(*node.op, node.attrs, of_part);
    if (!computed) return none;
    found.push_back(*computed);
    row = end;
  }
  if (found.size() < 2) return none;
  ISOMER_TRY(const ValueId whole, builder_.add(op("Concat"), {{"axis", int64_t{0}}}, found));
  joined_.insert(whole);
  return std::optional(whole);
}

/// Returns the operand whose parts are those of the node's result: the first factor of a product, or a summand that was
/// returned by `joined` and has all rows of the sum.
std::optional<size_t> JoinedRows::leading_operand(const Node& node, std::span<const ValueId> operands) const {
  const auto type = [&](size_t i) -> const TensorType& { return builder_.type(operands[i]); };
  if (is_named(node, "MatMul") && rank(type(0)) >= 2 && rank(type(1)) == 2) return 0;
  if (!is_named(node, "Add")) return std::nullopt;
  for (const size_t i : {0, 1}) {
    if (!joined_.contains(operands[i]) || !type(1 - i).shape) continue;
    const auto others = rows(type(1 - i));
    if (rank(type(i)) > rank(type(1 - i)) ||
        (rank(type(i)) == rank(type(1 - i)) && others && (others == 1 || others == rows(type(i)))))
      return i;
  }
  return std::nullopt;
}

/// Returns the rows [first, end) of a summand, if they exist. A summand with one row is broadcast, and returned whole.
std::optional<ValueId> JoinedRows::rows_of(ValueId value, int64_t first, int64_t end) {
  if (rows(builder_.type(value)) == 1) return value;
  int64_t row = 0;
  for (const Part& part : parts(value)) {
    if (row == first && row + part.rows == end) return part.value;
    row += part.rows;
  }
  return builder_.find(op("Slice"), cut_of(0, first, end), std::vector{value});
}

/// Returns the parts of a value, in the order of its rows; none if they are not known.
const JoinedRows::Parts& JoinedRows::parts(ValueId value, int depth) {
  if (const auto known = parts_.find(value); known != parts_.end()) return known->second;
  Parts found = find_parts(value, depth + 1);
  return parts_[value] = std::move(found);
}

JoinedRows::Parts JoinedRows::find_parts(ValueId value, int depth) {
  const Node& node = builder_.peek().producer_node(value);
  if (depth > kMaxDepth) return {};
  Parts found;
  const auto add = [&](ValueId part) {
    const Parts& inner = parts(part, depth);
    found.insert(found.end(), inner.begin(), inner.end());
    const auto count = rows(builder_.type(part));
    if (inner.empty() && count) found.push_back({part, *count});
    return !inner.empty() || count.has_value();
  };
  if (const ValueId same = without_views(value, depth); same != value) {
    add(same);
  } else if (is_named(node, "Slice")) {
    found = parts_of_slice(node, depth);
  } else if (is_named(node, "Concat") && axis_of(node, rank(builder_.type(value))) == 0) {
    if (!std::ranges::all_of(builder_.peek().operands(node), add)) found.clear();
  }
  return found;
}

JoinedRows::Parts JoinedRows::parts_of_slice(const Node& slice, int depth) {
  if (slice.attrs.ints("starts").size() != 1) return {};
  const int64_t start = slice.attrs.ints("starts")[0], stop = slice.attrs.ints("ends")[0];
  if (start < 0 || slice.attrs != cut_of(0, start, stop)) return {};
  Parts found;
  int64_t row = 0;
  for (const Part& part : parts(builder_.peek().operands(slice)[0], depth)) {
    const int64_t first = row;
    row += part.rows;
    if (first >= start && row <= stop)
      found.push_back(part);
    else if (row > start && first < stop)
      return {};  // some rows of a part, of which no product is known
  }
  return found;
}

/// Returns a value that equals this one: the first without views that undo each other, such as those of a layer's
/// result and those by which its gradient takes that apart.
ValueId JoinedRows::without_views(ValueId value, int depth) const {
  const Graph& graph = builder_.peek();
  const Node& view = graph.producer_node(value);
  const bool squeezes = is_named(view, "Squeeze"), transposes = is_named(view, "Transpose");
  if (depth > kMaxDepth || !(squeezes || transposes || is_named(view, "Slice"))) return value;
  const ValueId seen = without_views(graph.operands(view)[0], depth + 1);
  const Node& before = graph.producer_node(seen);
  const bool undone = squeezes ? is_named(before, "Unsqueeze") && before.attrs == view.attrs
                               : transposes && is_named(before, "Transpose") &&
                                     are_inverse(before.attrs.ints("perm"), view.attrs.ints("perm"));
  if (undone) return without_views(graph.operands(before)[0], depth + 1);
  if (squeezes || transposes || !is_named(before, "Concat")) return value;
  const int64_t axis = axis_of(before, rank(builder_.type(seen)));
  int64_t first = 0;
  for (const ValueId operand : graph.operands(before)) {
    const TensorType& type = builder_.type(operand);
    if (!type.shape || !(*type.shape)[static_cast<size_t>(axis)].is_const()) return value;
    const int64_t end = first + (*type.shape)[static_cast<size_t>(axis)].value();
    if (view.attrs == cut_of(axis, first, end)) return without_views(operand, depth + 1);
    first = end;
  }
  return value;
}

}  // namespace isomer::onednn
