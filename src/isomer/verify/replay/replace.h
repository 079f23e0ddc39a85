#pragma once
// A graph with some of its values replaced by others that are known to be equal to them.

#include <functional>
#include <span>

#include "isomer/ir/builder.h"

namespace isomer::replay {

/// What stands for each value of the graph before in the one that is being built; kNoValue: nothing yet.
using Images = std::vector<ValueId>;

/// Values of the graph and how to make what replaces them, all at once.
struct Replacement {
  std::vector<ValueId> roots;
  std::vector<ValueId> needs;  ///< values whose images `make` reads
  /// As many values as there are roots, in their order.
  std::function<Result<std::vector<ValueId>>(GraphBuilder& builder, const Images& images)> make;
  /// The new values may be of a better known type (a computed constant); else they have exactly the roots' types.
  bool refines = false;
  std::string title;  ///< in errors
};

/// The graph rebuilt from its inputs, with the replacements in the places of their roots. What the replacements read is
/// itself rebuilt, so that any number of them may stand upon one another; an Error where they do so in a circle, where
/// a value would be replaced twice, or where a type changes. Nodes that no output needs any more are dropped.
Result<Graph> replace(const Graph& graph, std::span<const Replacement> replacements);

}  // namespace isomer::replay
