#include "isomer/engine/onednn/placement.h"

#include <algorithm>

#include "isomer/engine/onednn/kernel_traits.h"

namespace isomer::onednn {
namespace {

class Placer {
 public:
  Placer(const Graph& graph, int block, ElementType type) : graph_(graph), block_(block), type_(type) {
    placement_.parts.resize(graph.num_values());
  }

  ConcatPlacement run() {
    // The outermost concatenation comes last and has precedence.
    for (auto id = static_cast<NodeId>(graph_.nodes().size()); id-- > 0;) {
      const Node& node = graph_.node(id);
      if (node.op->has(Trait::Concatenation) && fits(node)) place(node);
    }
    return std::move(placement_);
  }

 private:
  bool fits(const Node& concat) const {
    if (!is_plannable(graph_, concat.result()) || !lies_in_a_row(graph_, concat)) return false;
    return element_count(dims_of(graph_.type(concat.result()))) > 0 && graph_.operands(concat).size() > 1;
  }

  void place(const Node& concat) {
    const ValueId result = concat.result();
    auto& own = placement_.parts[result];
    if (!own) {
      const Dims dims = dims_of(graph_.type(result));
      own = Part{result, 0, layout(dims, blocks_fit(concat))};
    }
    const bool blocked = channel_block(own->desc) > 1;
    // Parts within a blocked one must fill their blocks too.
    if (blocked && !blocks_fit(concat)) return;
    size_t offset = own->offset;
    for (const ValueId operand : graph_.operands(concat)) {
      const Dims dims = dims_of(graph_.type(operand));
      auto& part = placement_.parts[operand];
      const NodeId maker = graph_.producer(operand);
      const bool computed = !graph_.node(maker).is_input() && !graph_.node(maker).is_constant();
      if (!part && computed && element_count(dims) > 0) part = Part{own->root, offset, layout(dims, blocked)};
      offset += static_cast<size_t>(element_count(dims)) * dnnl::memory::data_type_size(type_);
    }
  }

  Desc layout(const Dims& dims, bool blocked) const {
    return blocked ? channel_blocked_desc(dims, block_, type_) : plain_desc(dims, type_);
  }

  bool blocks_fit(const Node& concat) const {
    const size_t rank = dims_of(graph_.type(concat.result())).size();
    if (rank < 3 || rank > 5 || concat.attrs.integer("axis") != 1) return false;
    bool wanted = false;
    for (const ValueId operand : graph_.operands(concat)) {
      if (dims_of(graph_.type(operand))[1] % block_ != 0) return false;
      wanted = wanted || likes_blocks(operand, 8);
    }
    return wanted;
  }

  /// Returns whether the producer of a value prefers blocked channels; looks through element-wise operators.
  bool likes_blocks(ValueId value, int depth) const {
    const Node& node = graph_.producer_node(value);
    if (depth == 0) return false;
    const Blocks blocks = kernel_traits(node).blocks;
    if (blocks != Blocks::Passed) return blocks == Blocks::Preferred;
    return likes_blocks(graph_.operands(node)[0], depth - 1);
  }

  const Graph& graph_;
  const int block_;
  const ElementType type_;
  ConcatPlacement placement_;
};

}  // namespace

bool lies_in_a_row(const Graph& graph, const Node& concat) {
  const Dims dims = dims_of(graph.type(concat.result()));
  const int64_t axis = concat.attrs.integer("axis");
  const int64_t before = axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis;
  return std::all_of(dims.begin(), dims.begin() + before, [](int64_t extent) { return extent == 1; });
}

ConcatPlacement place_concats(const Graph& graph, int block, ElementType type) {
  return Placer(graph, block, type).run();
}

}  // namespace isomer::onednn
