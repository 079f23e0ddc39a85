#pragma once
// The nodes of a graph that run, in flat arrays: enough to cost a graph without building it.

#include <limits>
#include <span>
#include <vector>

#include "isomer/ir/graph.h"

namespace isomer {

/// The nodes that run, in the order of the graph, and all values. The numbers of values need not be those of the graph.
struct RunNodes {
  static constexpr uint32_t kNoNode = std::numeric_limits<uint32_t>::max();

  struct Value {
    const TensorType* type = nullptr;
    uint64_t hash = 0;            ///< content hash, as in Graph::value_hash
    uint32_t producer = kNoNode;  ///< number of the node that runs and makes it; none for inputs and weights
    uint32_t readers = 0;         ///< number of nodes that run and read it
    bool weight = false;          ///< it depends only on constants
    bool output = false;
  };
  struct Run {
    const Node* node = nullptr;  ///< operator and attributes; its numbers are those of `graph`
    const Graph* graph = nullptr;
    uint32_t first_operand = 0;
    ValueId first_result = 0;
  };

  std::span<const ValueId> operands_of(const Run& run) const {
    return {operands.data() + run.first_operand, run.node->num_operands};
  }

  std::vector<Run> nodes = {};
  std::vector<ValueId> operands = {};
  std::vector<Value> values = {};
};

}  // namespace isomer
