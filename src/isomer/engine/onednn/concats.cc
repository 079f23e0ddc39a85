#include "isomer/engine/onednn/concats.h"

#include <algorithm>
#include <unordered_map>

#include "isomer/base/hash.h"
#include "isomer/engine/onednn/kernel_traits.h"
#include "isomer/engine/onednn/views.h"
#include "isomer/ops/again.h"

namespace isomer::onednn {
namespace {

bool is_concat(const Node& node) { return node.op->has(Trait::Concatenation) && !is_removed(node); }

/// Returns the value that stands for `value` in a plan. A second computation of a value remains.
ValueId origin(const Graph& graph, ValueId value) {
  for (;;) {
    const Node& node = graph.producer_node(value);
    if (!is_removed(node) || node.op == &again_op()) return value;
    value = graph.operands(node)[0];
  }
}

}  // namespace

ConcatPlaces::ConcatPlaces(const Graph& graph, int64_t block, Stage stage)
    : graph_(graph), block_(block), stage_(stage) {
  parts_.resize(graph.num_values());
  if (std::ranges::none_of(graph.nodes(), is_concat)) return;
  if (stage == Stage::Given) find_beginnings();
  // The outermost concatenation comes last and has precedence.
  for (auto id = static_cast<NodeId>(graph_.nodes().size()); id-- > 0;) {
    const Node& node = graph_.node(id);
    if (is_concat(node) && fits(node)) place(node);
  }
}

void ConcatPlaces::find_beginnings() {
  beginnings_.resize(graph_.num_values());
  std::unordered_map<uint64_t, ValueId> known;  // by hash of the axis and all operands
  for (const Node& node : graph_.nodes()) {
    if (!is_concat(node)) continue;
    uint64_t hash = static_cast<uint64_t>(node.attrs.integer("axis"));
    const auto operands = graph_.operands(node);
    for (size_t i = 0; i < operands.size(); ++i) {
      hash = hash_mix(hash, origin(graph_, operands[i]));
      if (i == 0 || i + 1 == operands.size()) continue;
      if (const auto found = known.find(hash); found != known.end())
        beginnings_[node.result()] = {found->second, i + 1};
    }
    known.emplace(hash, node.result());
  }
}

std::vector<ValueId> ConcatPlaces::operands(const Node& concat) const {
  const auto given = graph_.operands(concat);
  const Beginning beginning = beginnings_.empty() ? Beginning() : beginnings_[concat.result()];
  std::vector<ValueId> operands(given.begin() + static_cast<ptrdiff_t>(beginning.length), given.end());
  if (beginning.length > 0) operands.insert(operands.begin(), beginning.whole);
  for (ValueId& operand : operands) operand = origin(graph_, operand);
  return operands;
}

bool ConcatPlaces::joins_in_place(const Node& concat) const {
  const auto& whole = parts_[concat.result()];
  // It may be an operand of another one whose operands are consecutive.
  if (!whole || !lies_in_a_row(concat)) return false;
  return whole->form == kPlainForm || all_fill_blocks(operands(concat));
}

/// Returns whether the operands are consecutive in memory: axes before the concatenated one have extent 1.
bool ConcatPlaces::lies_in_a_row(const Node& concat) const {
  const Shape& extents = *graph_.type(concat.result()).shape;
  const int64_t axis = concat.attrs.integer("axis");
  const auto before = axis < 0 ? axis + static_cast<int64_t>(extents.size()) : axis;
  return std::all_of(extents.begin(), extents.begin() + before, [](const Dim& extent) { return extent.is(1); });
}

bool ConcatPlaces::fits(const Node& concat) const {
  return is_plannable(graph_, concat.result(), stage_) && !is_empty(graph_, concat.result()) && lies_in_a_row(concat);
}

bool ConcatPlaces::all_fill_blocks(std::span<const ValueId> operands) const {
  return std::ranges::all_of(operands, [&](ValueId operand) {
    const Dim& channels = (*graph_.type(operand).shape)[1];
    return channels.is_const() && channels.value() % block_ == 0;
  });
}

bool ConcatPlaces::wants_blocks(std::span<const ValueId> operands, const Node& concat) const {
  const size_t rank = graph_.type(concat.result()).rank();
  if (rank < 3 || rank > 5 || concat.attrs.integer("axis") != 1 || !all_fill_blocks(operands)) return false;
  return std::ranges::any_of(operands, [&](ValueId operand) { return likes_blocks(operand, 8); });
}

/// Returns whether the producer of a value prefers blocked channels; looks through element-wise operators.
bool ConcatPlaces::likes_blocks(ValueId value, int depth) const {
  const Node& node = graph_.producer_node(value);
  if (depth == 0) return false;
  const Blocks blocks = kernel_traits(node).blocks;
  const bool removed = stage_ == Stage::Given && is_removed(node);
  if (blocks != Blocks::Passed && !removed) return blocks == Blocks::Preferred;
  return likes_blocks(graph_.operands(node)[0], depth - 1);
}

void ConcatPlaces::place(const Node& concat) {
  const auto parts = operands(concat);
  const bool blocked = wants_blocks(parts, concat);
  auto& own = parts_[concat.result()];
  if (!own) own = Part{concat.result(), 0, blocked ? block_ : kPlainForm};
  // Parts within a blocked one must fill their blocks too.
  if (own->form != kPlainForm && !blocked) return;
  int64_t offset = own->offset;
  for (const ValueId operand : parts) {
    auto& part = parts_[operand];
    const bool computed = !graph_.producer_node(operand).is_input() && !is_known(graph_, operand, stage_);
    if (!part && computed && !is_empty(graph_, operand)) part = Part{own->root, offset, own->form};
    if (stage_ == Stage::Canonical) offset += element_count(*graph_.type(operand).shape).value();
  }
}

}  // namespace isomer::onednn
