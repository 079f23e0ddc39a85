#pragma once
// How an engine groups a graph's nodes into kernels, and how long one kernel takes.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/base/result.h"
#include "isomer/ir/graph.h"
#include "isomer/plan/decisions.h"
#include "isomer/plan/layout.h"

namespace isomer {

/// How a node chooses the layout of its operands.
enum class Intake : uint8_t {
  Own,      ///< it chooses by itself, wherever the operands come from
  Blocked,  ///< it uses blocked operands because they are blocked already
  Plain,    ///< it uses plain operands, although it would choose otherwise by itself
};

/// Groups a graph's nodes into kernels. Nodes that take no time of their own (inputs, constants, nodes that depend only
/// on constants) are in none; a node may be in several (a transposition that each of its readers performs while
/// reading, or a node that is cheap to compute again). Of the values within a kernel, only results of its last node are
/// read outside.
struct KernelPlan {
  /// A kernel that only changes the layout of a value.
  struct Reorder {
    ValueId value;
    Layout to;
  };

  std::vector<NodeId> nodes;     ///< kernel after kernel, ascending within each
  std::vector<uint32_t> begins;  ///< start of each kernel in `nodes`, and the end of the last one
  std::vector<Layout> layouts;   ///< of each value where later kernels read it
  std::vector<Intake> intakes;   ///< by node
  std::vector<Reorder> reorders;
  Decisions decisions;          ///< those that changed how a kernel computes
  int64_t block = 1;            ///< channels per block; blocked values consist of whole blocks
  bool copies_outputs = false;  ///< at the end, except those that are row-major and alone in their memory

  size_t size() const { return begins.size() - 1; }
  std::span<const NodeId> kernel(size_t i) const { return {nodes.data() + begins[i], nodes.data() + begins[i + 1]}; }
};

class KernelPlanner {
 public:
  virtual ~KernelPlanner() = default;
  /// Takes time linear in the graph, and is fast: a search calls it for many graphs. But an engine that measures to
  /// choose between implementations does so when it plans the first kernel of its kind: an Error if that would begin
  /// after the deadline. Decisions that the engine cannot obey have no effect.
  virtual Result<KernelPlan> plan(const Graph& graph, const Boundary& boundary = {}, const Decisions& decisions = {},
                                  const Deadline& deadline = Deadline::never()) const = 0;
  /// Returns whether the engine obeys decisions about layouts.
  virtual bool obeys_layouts() const { return false; }
  /// Returns whether the engine computes values twice if that is decided. A plan is for a graph that says so itself
  /// (with_recomputation).
  virtual bool recomputes() const { return false; }
};

/// Distances of more bytes than this do not affect how long weights take to read.
inline constexpr double kFarthestWeights = 128 << 20;

/// How a kernel finds its weights within a whole model: evicted by this many bytes of other accesses, up to
/// kFarthestWeights.
struct WeightReads {
  double distance = 0;  ///< bytes that the model accessed since it last read them
  /// Number of reads in a short span of each run. If it is more than 1, the first reader finds them farther away than
  /// the other readers do; with 1, they are always equally far away.
  int in_a_row = 1;
  double other_distance = 0;  ///< if read several times: the distance of the other readers for the first one, and the
                              ///< first one's for the others

  bool is_first() const { return in_a_row > 1 && distance > other_distance; }
};

/// A kernel as a separate graph, to be timed.
struct KernelRun {
  /// Its nodes, with concrete types; or, for a reorder, a graph that returns its only input.
  Graph graph;
  /// By node of `graph`, as in KernelPlan.
  std::vector<Intake> intakes = {};
  /// The layout to which a reorder converts the input.
  std::optional<Layout> reorder_to = std::nullopt;
  Decisions decisions = {};  ///< about values of `graph`
  WeightReads weights = {};
};

struct KernelTime {
  double us = 0;      ///< robust mean over the runs, including what the engine spends around the kernel
  double spread = 0;  ///< interquartile range, in microseconds
  int runs = 0;
};

}  // namespace isomer
