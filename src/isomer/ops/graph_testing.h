#pragma once
// For tests: graphs from text, with all operators.

#include <stdexcept>

#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"

namespace isomer {

/// Parses a graph. Throws if the text is invalid, so that the test fails.
inline Graph parsed(std::string_view text, FindOp find = find_op) {
  auto graph = parse_graph(text, find);
  if (!graph) throw std::runtime_error(graph.error().message);
  return std::move(*graph);
}

/// Returns the value of this name. Throws if there is none, so that the test fails.
inline ValueId value_named(const Graph& graph, std::string_view name) {
  for (ValueId value = 0; value < graph.num_values(); ++value)
    if (graph.name(value) == name) return value;
  throw std::runtime_error("no value is called " + std::string(name));
}

}  // namespace isomer
