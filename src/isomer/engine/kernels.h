#pragma once
// How an engine groups a graph's nodes into kernels, and how long one of them takes.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isomer/engine/layout.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// How a node takes the layout of its operands.
enum class Intake : uint8_t {
  Own,      ///< it decides by itself: the same wherever the operands come from
  Blocked,  ///< it works on blocked operands, because they arrive so
  Plain,    ///< it works on plain operands, and would not by itself
};

/// A graph's nodes in kernels. Nodes that take no time of their own (inputs, constants, what depends on constants
/// alone) are in none; a node may be in several (a transposition that each of its readers performs while reading).
/// Within a kernel, nothing but results of its last node is read outside.
struct KernelPlan {
  /// A kernel that only changes the layout of a value.
  struct Reorder {
    ValueId value;
    Layout to;
  };

  std::vector<NodeId> nodes;     ///< one kernel after the other, ascending within each
  std::vector<uint32_t> begins;  ///< of each kernel in `nodes`; one more for the end
  std::vector<Layout> layouts;   ///< in which each value is made
  std::vector<Intake> intakes;   ///< by node
  std::vector<Reorder> reorders;
  int64_t block = 1;            ///< channels in a block; blocked values have whole blocks
  bool copies_outputs = false;  ///< outputs are made like other values, and copied to the caller in the end

  size_t size() const { return begins.size() - 1; }
  std::span<const NodeId> kernel(size_t i) const { return {nodes.data() + begins[i], nodes.data() + begins[i + 1]}; }
};

class KernelPlanner {
 public:
  virtual ~KernelPlanner() = default;
  /// Linear in the graph, and fast: a search asks for many graphs.
  virtual KernelPlan plan(const Graph& graph, const Boundary& boundary = {}) const = 0;
};

/// Bytes beyond which it does not matter how far away weights are.
inline constexpr double kFarthestWeights = 128 << 20;

/// How weights come to a kernel within a whole model: as far away as so many bytes, or farther than kFarthestWeights.
struct WeightReads {
  double distance = 0;  ///< bytes that the model touches since it read them last
  /// A run reads them so often, and then leaves them: its first reader finds them farther away than the others do. 1:
  /// they are always as far away.
  int in_a_row = 1;
  double other_distance = 0;  ///< where they are read in a row: to the first reader that of the others, to them its

  bool is_first() const { return in_a_row > 1 && distance > other_distance; }
};

/// A kernel by itself, to be timed.
struct KernelRun {
  /// Its nodes, with concrete types; or, for a reorder, a graph that returns its only input.
  Graph graph;
  /// By node of `graph`, as in the plan.
  std::vector<Intake> intakes = {};
  /// The layout of the operand that changes, for a reorder.
  std::optional<Layout> reorder_to = std::nullopt;
  WeightReads weights = {};
};

struct KernelTime {
  double us = 0;      ///< robust mean over the runs, what the engine spends around the kernel included
  double spread = 0;  ///< interquartile range, in microseconds
  int runs = 0;
};

}  // namespace isomer
