#pragma once
// Whether a graph is plain ONNX, which other programs can run, too.

#include <set>
#include <string>

#include "isomer/ir/graph.h"

namespace isomer {

/// Returns the operators of a graph that are not ONNX's.
std::set<std::string> foreign_operators(const Graph& graph);

/// A line of a report: "plain ONNX: all operators are ONNX's", or the operators that are not.
std::string plain_onnx_line(const std::set<std::string>& foreign);

}  // namespace isomer
