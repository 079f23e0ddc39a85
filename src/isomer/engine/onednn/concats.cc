#include "isomer/engine/onednn/concats.h"

#include <algorithm>
#include <unordered_map>

#include "isomer/base/hash.h"
#include "isomer/engine/onednn/kernel_traits.h"

namespace isomer {
namespace {

bool is_concat(const Node& node) { return node.op->has(Trait::Concatenation); }

}  // namespace

ForeseenConcats::ForeseenConcats(const Graph& graph, int64_t block) : graph_(graph), block_(block) {
  parts_.resize(graph.num_values());
  if (std::ranges::none_of(graph.nodes(), is_concat)) return;
  find_beginnings();
  // The outermost concatenation comes last and has precedence.
  for (auto id = static_cast<NodeId>(graph_.nodes().size()); id-- > 0;) {
    const Node& node = graph_.node(id);
    if (is_concat(node) && in_place(node)) place(node);
  }
}

void ForeseenConcats::find_beginnings() {
  beginnings_.resize(graph_.num_values());
  std::unordered_map<uint64_t, ValueId> known;  // by hash of the axis and all operands
  for (const Node& node : graph_.nodes()) {
    if (!is_concat(node)) continue;
    uint64_t hash = static_cast<uint64_t>(node.attrs.integer("axis"));
    const auto operands = graph_.operands(node);
    for (size_t i = 0; i < operands.size(); ++i) {
      hash = hash_mix(hash, operands[i]);
      if (i == 0 || i + 1 == operands.size()) continue;
      if (const auto found = known.find(hash); found != known.end())
        beginnings_[node.result()] = {found->second, i + 1};
    }
    known.emplace(hash, node.result());
  }
}

std::vector<ValueId> ForeseenConcats::operands(const Node& concat) const {
  const auto given = graph_.operands(concat);
  const Beginning beginning = beginnings_.empty() ? Beginning() : beginnings_[concat.result()];
  std::vector<ValueId> operands(given.begin() + static_cast<ptrdiff_t>(beginning.length), given.end());
  if (beginning.length > 0) operands.insert(operands.begin(), beginning.whole);
  return operands;
}

bool ForeseenConcats::in_place(const Node& concat) const {
  if (!onednn::may_be_plannable(graph_, concat.result()) || operands(concat).size() < 2) return false;
  const Shape& extents = *graph_.type(concat.result()).shape;
  const auto axis = concat.attrs.integer("axis");
  return std::all_of(extents.begin(), extents.begin() + axis, [](const Dim& extent) { return extent.is(1); });
}

bool ForeseenConcats::fits_blocks(std::span<const ValueId> operands, const Node& concat) const {
  const size_t rank = graph_.type(concat.result()).rank();
  if (rank < 3 || rank > 5 || concat.attrs.integer("axis") != 1) return false;
  const bool fill = std::ranges::all_of(operands, [&](ValueId operand) {
    const Dim& channels = (*graph_.type(operand).shape)[1];
    return channels.is_const() && channels.value() % block_ == 0;
  });
  return fill && std::ranges::any_of(operands, [&](ValueId operand) { return likes_blocks(operand, 8); });
}

bool ForeseenConcats::likes_blocks(ValueId value, int depth) const {
  const Node& node = graph_.producer_node(value);
  if (depth == 0) return false;
  const onednn::Blocks blocks = onednn::kernel_traits(node).blocks;
  const bool passed = blocks == onednn::Blocks::Passed || node.op->has(Trait::Identity);
  if (!passed) return blocks == onednn::Blocks::Preferred;
  return likes_blocks(graph_.operands(node)[0], depth - 1);
}

void ForeseenConcats::place(const Node& concat) {
  const auto parts = operands(concat);
  const bool fits = fits_blocks(parts, concat);
  auto& own = parts_[concat.result()];
  if (!own) own = ForeseenPart{concat.result(), fits ? block_ : onednn::kPlainForm};
  if (own->form != onednn::kPlainForm && !fits) return;
  for (const ValueId operand : parts)
    if (!parts_[operand] && !graph_.is_weight(operand) && !graph_.producer_node(operand).is_input())
      parts_[operand] = *own;
}

}  // namespace isomer
