#pragma once
// Lists the nodes that would run after a rewrite, without building the graph. A search costs many graphs and builds few
// of them.

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "isomer/base/hash_index.h"
#include "isomer/ir/derivation.h"
#include "isomer/ir/run_nodes.h"
#include "isomer/rules/delta.h"

namespace isomer {

class MatchTarget;

/// Previews of all rewrites of one graph.
class RewritePreview {
 public:
  /// Keeps a reference. Takes time linear in the graph.
  explicit RewritePreview(const Graph& graph);

  /// Returns the nodes that run in apply_match(graph, match, refused), in the same order; nullptr if that fails.
  /// `delta` is delta_of(graph, match). The nodes are valid until the next call. Takes time linear in the graph. The
  /// values of `graph` that remain have their numbers.
  const RunNodes* after(const Match& match, const Delta& delta, const RefusedWeights* refused = nullptr);

 private:
  bool make(ValueId wanted);
  void copy_own(ValueId value);
  std::span<const uint64_t> result_hashes(const Node& node);
  bool make_targets();
  ValueId copy(const Graph& from, const Node& node, std::span<const uint64_t> hashes);
  ValueId find_or_add(const Graph& from, const Node& node, std::span<const uint64_t> hashes);
  void place(const Graph& from, const Node& node, ValueId first_result, std::span<const ValueId> operands);
  void count_readers();
  void remove_dead();

  const Graph& graph_;
  HashIndex by_hash_;                    // first results of nodes of the graph
  std::vector<ValueId> untouched_;       // by value: itself if no rewrite can change it, or else kNoValue
  std::vector<RunNodes::Value> values_;  // of the graph
  std::vector<bool> is_root_;            // by value; set during a call

  // Of the call in progress; members keep their capacity.
  const Match* match_ = nullptr;
  std::shared_ptr<const MatchTarget> target_ = nullptr;
  const Delta* delta_ = nullptr;
  const RefusedWeights* refused_ = nullptr;
  bool active_ = false;          // the leaves are being made
  std::vector<ValueId> made_;    // by value of the graph: what it becomes
  std::vector<ValueId> copies_;  // by value of the target
  std::vector<ValueId> operands_;
  std::vector<std::pair<ValueId, bool>> stack_;
  std::vector<uint64_t> hashes_;  // of the results of a node
  HashIndex added_;               // first results of nodes that are not in the graph
  RunNodes nodes_;
};

}  // namespace isomer
