#pragma once
// Folds nodes that depend only on constants.

#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "isomer/base/deadline.h"
#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

struct FoldOptions {
  /// Maximum number of bytes by which all constants together may grow. Results that replace larger constants are not
  /// counted.
  int64_t max_growth = int64_t{64} << 20;
  /// Nodes that would not be finished by then are not folded.
  Deadline end = Deadline::after(std::numeric_limits<double>::infinity());
  /// Returns the elements of a weight, by its value hash, if they are known already; else an empty tensor.
  std::function<Tensor(uint64_t value_hash)> computed = [](uint64_t) { return Tensor(); };
};

struct Folding {
  Graph graph;
  std::vector<std::pair<ValueId, Tensor>> constants;  ///< values of the original graph that are constants now
  std::vector<uint64_t> value_hashes;                 ///< of the value for each original value; 0 if there is none
};
/// Replaces every weight-only node by a constant, as far as the options allow. The reference kernels compute it node by
/// node in the precision of the graph. Nodes without a kernel stay, as do those from which an operand of an opaque node
/// is computed, and those without operands that make more than a megabyte (ConstantOfShape). Names (origins) are kept.
Result<Folding> fold(const Graph& graph, const FoldOptions& options = {});

}  // namespace isomer
