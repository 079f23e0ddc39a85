#pragma once
// The reference executor: runs a graph node by node with the operators' reference kernels. Other engines are compared
// with it, so it is written to be clear, not fast.

#include <span>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// Runs one node on concrete operands (an absent operand is an empty() Tensor). Converts element types as
/// OpDef::compute requires. An opaque node of a known operator whose parameters are computed at run time is first
/// normalized with these operands; any other opaque node is an Error that names its operator. `undefined`, if given,
/// becomes true if ONNX leaves an element of the results undefined, and false if not.
Result<std::vector<Tensor>> run_node(const Graph& graph, const Node& node, std::span<const Tensor> operands,
                                     bool* undefined = nullptr);

/// Runs the whole graph; `inputs` are in the order of graph.inputs(). Tensors are freed after their last use. If an
/// input has dtype Field, floating-point constants are converted to the field too and the whole run is exact
/// (ir/field.h).
Result<std::vector<Tensor>> run_reference(const Graph& graph, std::span<const Tensor> inputs);

/// Checks that every node of the graph can be run (has a kernel, or can be resolved at run time). The Error names the
/// first that cannot.
Status runnable(const Graph& graph);

}  // namespace isomer
