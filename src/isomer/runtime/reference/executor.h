#pragma once
// The reference executor: runs a graph node by node with the operators' reference kernels. The truth that everything
// else is compared with; clear, not fast.

#include <span>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

/// Runs one node on concrete operands (an absent operand is an empty() Tensor). Widens and narrows element types as
/// OpDef::compute says. Opaque nodes of the registry whose parameters are computed at run time are normalized with the
/// operands at hand and run too; any other opaque node is an Error that names its operator.
Result<std::vector<Tensor>> run_node(const Graph& graph, const Node& node, std::span<const Tensor> operands);

/// Runs the whole graph; `inputs` in the order of graph.inputs(). Tensors are dropped after their last use. When an
/// input has dtype Field, real constants are taken into the field too and the whole run is exact (ir/field.h).
Result<std::vector<Tensor>> run_reference(const Graph& graph, std::span<const Tensor> inputs);

/// Whether every node of the graph can be run (has a kernel, or is resolvable at run time): an Error names the first
/// one that cannot.
Status runnable(const Graph& graph);

}  // namespace isomer
