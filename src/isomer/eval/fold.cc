#include "isomer/eval/fold.h"

#include <algorithm>
#include <set>

#include "isomer/eval/executor.h"
#include "isomer/ir/builder.h"
#include "isomer/ir/label.h"
#include "isomer/ops/kernel_deadline.h"

namespace isomer {
namespace {

int64_t size_of(const Tensor& tensor) {
  int64_t size = static_cast<int64_t>(tensor.bytes().size());
  if (tensor.dtype() == DType::String)
    for (const std::string& text : tensor.string_elements()) size += static_cast<int64_t>(text.size());
  return size;
}

/// Decides which nodes to fold, computes them, and rebuilds the graph. Sizes are known from types in advance, except
/// for data-dependent results and for kernels that fail. These become known while computing and are used by the next
/// plan; two or three rounds are enough.
class Folder {
 public:
  Folder(const Graph& graph, const FoldOptions& options)
      : graph_(graph), options_(options), failed_(graph.nodes().size(), false), sizes_(graph.num_values()) {
    for (ValueId value = 0; value < graph.num_values(); ++value) sizes_[value] = size_by_type(value);
    for (const Node& node : graph.nodes()) computed_.push_back(computed(node));
    spare_parameters();
  }

  Result<Folding> fold() {
    do {
      plan();
    } while (!compute());
    return rebuild();
  }

 private:
  /// Spares the nodes from which operands of opaque nodes are computed. A folded operand could be a parameter (a bound
  /// of Clip, a shape) that makes the node known when the model is read again. It would then be another graph than the
  /// one that was written.
  void spare_parameters() {
    spared_.assign(graph_.nodes().size(), false);
    for (auto id = static_cast<NodeId>(graph_.nodes().size()); id-- > 0;) {
      if (!graph_.node(id).is_opaque() && !spared_[id]) continue;
      for (const ValueId operand : graph_.operands(graph_.node(id)))
        if (operand != kNoValue && graph_.is_constant_derived(operand)) spared_[graph_.producer(operand)] = true;
    }
  }

  /// Returns the bytes of a value according to its type; 0 while its extents are unknown.
  int64_t size_by_type(ValueId value) const {
    if (const Tensor* data = graph_.constant(value)) return size_of(*data);
    return static_cast<int64_t>(Tensor::byte_size(graph_.type(value)).value_or(0));
  }

  /// Returns whether a node's attributes say briefly what its large result is, such as millions of zeros.
  bool is_compact(const Node& node) const {
    constexpr int64_t kLarge = 1 << 20;
    return graph_.operands(node).empty() && results_size(node) > kLarge;
  }

  int64_t results_size(const Node& node) const {
    int64_t size = 0;
    for (uint32_t i = 0; i < node.num_results; ++i) size += sizes_[node.result(i)];
    return size;
  }

  /// Returns whether the node can be computed now, given which of its operands' nodes can.
  bool can_compute(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.is_input() || node.is_opaque() || node.num_results == 0 || failed_[id]) return false;
    if (!graph_.is_constant_derived(node.result()) || node.op->kernel == nullptr) return false;
    int64_t operands = 0;
    for (const ValueId operand : graph_.operands(node)) {
      if (operand == kNoValue) continue;
      if (!graph_.producer_node(operand).is_constant() && !computable_[graph_.producer(operand)]) return false;
      operands += sizes_[operand];
    }
    // A result beyond the limit is not even tried: it would pay only if a later node shrank it again.
    return results_size(node) <= options_.max_growth + operands;
  }

  /// From the last node to the first: a node with needed results is folded if the limit allows it, and stays otherwise,
  /// so that its operands are needed. Nodes that are only needed by folded nodes disappear.
  void plan() {
    const size_t count = graph_.nodes().size();
    computable_.assign(count, false);
    for (NodeId id = 0; id < count; ++id) computable_[id] = !graph_.node(id).is_constant() && can_compute(id);
    folded_.assign(count, false);
    needed_.assign(graph_.num_values(), false);
    wanted_.assign(count, false);
    for (const ValueId output : graph_.outputs()) needed_[output] = true;
    int64_t allowance = options_.max_growth;
    for (auto id = static_cast<NodeId>(count); id-- > 0;) {
      const Node& node = graph_.node(id);
      bool needed = node.is_input();
      for (uint32_t i = 0; i < node.num_results; ++i) needed = needed || needed_[node.result(i)];
      if (needed && computable_[id] && !spared_[id]) {
        const int64_t growth = growth_of(id);
        folded_[id] = growth <= allowance && !is_compact(node);
        if (folded_[id]) allowance -= growth;
      }
      if (folded_[id]) wanted_[id] = true;
      for (const ValueId operand : graph_.operands(node)) {
        if (operand == kNoValue) continue;
        if (needed && !folded_[id]) needed_[operand] = true;
        if (wanted_[id] && computed_[id].empty()) wanted_[graph_.producer(operand)] = true;
      }
    }
  }

  /// Returns the elements of a node's result if they are known already; else an empty tensor.
  Tensor computed(const Node& node) const {
    const bool may_be = node.num_results == 1 && !node.is_constant() && graph_.is_constant_derived(node.result());
    return may_be ? options_.computed(graph_.value_hash(node.result())) : Tensor();
  }

  /// Returns the bytes by which folding `root` makes the constants grow: its needed results minus the constants that
  /// nothing else reads.
  int64_t growth_of(NodeId root) const {
    int64_t growth = 0;
    for (uint32_t i = 0; i < graph_.node(root).num_results; ++i)
      if (needed_[graph_.node(root).result(i)]) growth += sizes_[graph_.node(root).result(i)];
    std::set<NodeId> alone{root};  // nodes that only `root` needs, including itself
    std::set<NodeId, std::greater<>> open;
    const auto open_operands = [&](NodeId id) {
      for (const ValueId operand : graph_.operands(graph_.node(id)))
        if (operand != kNoValue) open.insert(graph_.producer(operand));
    };
    open_operands(root);
    while (!open.empty()) {
      const NodeId id = *open.begin();
      open.erase(open.begin());
      if (!only_read_by(id, alone)) continue;
      alone.insert(id);
      if (graph_.node(id).is_constant())
        growth -= sizes_[graph_.node(id).result()];
      else
        open_operands(id);
    }
    return std::max<int64_t>(growth, 0);
  }

  bool only_read_by(NodeId id, const std::set<NodeId>& readers) const {
    const Node& node = graph_.node(id);
    for (uint32_t i = 0; i < node.num_results; ++i) {
      if (needed_[node.result(i)]) return false;
      for (const NodeId user : graph_.consumers(node.result(i)))
        if (!readers.contains(user)) return false;
    }
    return true;
  }

  /// Computes the values that the plan folds. Returns false if a kernel failed or a size was not as planned.
  bool compute() {
    const KernelDeadline deadline(options_.end);
    data_.assign(graph_.num_values(), Tensor());
    bool as_planned = true;
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
      const Node& node = graph_.node(id);
      if (!wanted_[id]) continue;
      if (node.is_constant()) {
        data_[node.result()] = node.attrs.tensor("value");
        continue;
      }
      const Status status = compute_node(id);
      failed_[id] = !status;
      as_planned = as_planned && status;
      for (uint32_t i = 0; i < node.num_results && status; ++i) {
        int64_t& size = sizes_[node.result(i)];
        as_planned = as_planned && size == size_of(data_[node.result(i)]);
        size = size_of(data_[node.result(i)]);
      }
      drop_used(id);
    }
    return as_planned;
  }

  Status compute_node(NodeId id) {
    const Node& node = graph_.node(id);
    if (!computed_[id].empty()) {
      data_[node.result()] = computed_[id];
      return {};
    }
    if (options_.end.passed()) return fail("there is no time left to compute it");
    std::vector<Tensor> operands;
    for (const ValueId operand : graph_.operands(node)) {
      operands.push_back(operand == kNoValue ? Tensor() : data_[operand]);
      if (operand != kNoValue && data_[operand].empty()) return fail("its operand failed");
    }
    bool undefined = false;
    ISOMER_TRY(std::vector<Tensor> results, run_node(graph_, node, operands, &undefined));
    if (undefined) return fail("ONNX leaves its result undefined, so that engines differ");
    for (uint32_t i = 0; i < node.num_results; ++i) data_[node.result(i)] = std::move(results[i]);
    return {};
  }

  /// Frees operands that no later node of the plan reads.
  void drop_used(NodeId id) {
    for (const ValueId operand : graph_.operands(graph_.node(id))) {
      if (operand == kNoValue) continue;
      const auto users = graph_.consumers(operand);
      const bool again =
          std::any_of(users.begin(), users.end(), [&](NodeId user) { return user > id && wanted_[user]; });
      const bool kept = needed_[operand] && folded_[graph_.producer(operand)];
      if (!again && !kept) data_[operand] = Tensor();
    }
  }

  Result<Folding> rebuild() {
    Folding out;
    GraphBuilder builder(graph_.name_table());
    std::vector<ValueId> renamed(graph_.num_values(), kNoValue);
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
      const Node& node = graph_.node(id);
      if (node.is_input()) {
        renamed[node.result()] = builder.input_like(graph_, node.result());
      } else if (folded_[id]) {
        for (uint32_t i = 0; i < node.num_results; ++i) {
          if (!needed_[node.result(i)]) continue;
          renamed[node.result(i)] = builder.constant(data_[node.result(i)]);
          out.constants.emplace_back(node.result(i), data_[node.result(i)]);
        }
      } else if (is_kept(id)) {
        ISOMER_CHECK(copy_node(builder, id, renamed));
      }
      for (uint32_t i = 0; i < node.num_results; ++i)
        if (renamed[node.result(i)] != kNoValue)
          builder.set_origin(renamed[node.result(i)], graph_.origin(node.result(i)));
    }
    std::vector<ValueId> outputs;
    for (const ValueId output : graph_.outputs()) outputs.push_back(renamed[output]);
    for (const ValueId value : renamed)
      out.value_hashes.push_back(value == kNoValue ? 0 : builder.peek().value_hash(value));
    out.graph = builder.finish(outputs);
    return out;
  }

  bool is_kept(NodeId id) const {
    const Node& node = graph_.node(id);
    for (uint32_t i = 0; i < node.num_results; ++i)
      if (needed_[node.result(i)]) return true;
    return false;
  }

  Status copy_node(GraphBuilder& builder, NodeId id, std::vector<ValueId>& renamed) const {
    const Node& node = graph_.node(id);
    std::vector<ValueId> operands;
    for (const ValueId operand : graph_.operands(node))
      operands.push_back(operand == kNoValue ? kNoValue : renamed[operand]);
    const auto copied = builder.copy(graph_, node, operands);
    if (!copied) return fail_in(node_label(graph_, id), copied.error());
    for (uint32_t i = 0; i < node.num_results; ++i) renamed[node.result(i)] = builder.at(*copied).result(i);
    return {};
  }

  const Graph& graph_;
  const FoldOptions& options_;
  std::vector<Tensor> computed_;  // by node: elements that were known already
  std::vector<bool> failed_;      // by node: its kernel has failed
  std::vector<bool> spared_;      // by node: it stays, although it could be folded
  std::vector<int64_t> sizes_;    // by value: bytes, as far as known
  std::vector<bool> computable_;  // by node, except constants: depends only on computable nodes and constants
  std::vector<bool> folded_;      // by node: its needed results become constants
  std::vector<bool> wanted_;      // by node: folded, or needed to compute a folded one
  std::vector<bool> needed_;      // by value: an output, or read by a node that stays
  std::vector<Tensor> data_;      // by value: computed elements
};

}  // namespace

Result<Folding> fold(const Graph& graph, const FoldOptions& options) { return Folder(graph, options).fold(); }

}  // namespace isomer
