#pragma once
// Replaces some values of a graph by others that are known to be equal.

#include <functional>
#include <span>

#include "isomer/ir/builder.h"

namespace isomer::replay {

/// For each value of the original graph, the corresponding value in the graph that is being built; kNoValue: none yet.
using Images = std::vector<ValueId>;

/// Values of the graph and how to make their replacements, all at once.
struct Replacement {
  std::vector<ValueId> roots;
  std::vector<ValueId> needs;  ///< values whose images `make` reads
  /// Returns as many values as there are roots, in their order.
  std::function<Result<std::vector<ValueId>>(GraphBuilder& builder, const Images& images)> make;
  /// Whether the new values may have more precise types (a computed constant). If false, they must have exactly the
  /// roots' types.
  bool refines = false;
  std::string title;  ///< for error messages
};

/// Rebuilds the graph from its inputs, with the roots replaced. The values that replacements read are rebuilt too, so
/// replacements may depend on each other. An Error if they do so in a cycle, if a value would be replaced twice, or if
/// a type changes. Nodes that no output needs any more are removed.
Result<Graph> replace(const Graph& graph, std::span<const Replacement> replacements);

}  // namespace isomer::replay
