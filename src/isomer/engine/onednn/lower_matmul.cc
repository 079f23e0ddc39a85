// Matrix products.

#include "isomer/engine/onednn/matmul_problem.h"

namespace isomer::onednn {

Result<bool> lower_matmul(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto operands = graph.operands(node);
  if (!is_dense(graph, operands[0]) || !is_dense(graph, operands[1]) || !is_dense(graph, node.result())) return false;
  auto problem = node.op->name == "Gemm" ? read_gemm(graph, group) : read_matmul(graph, group);
  if (!problem) return false;
  for (const ElementType type : builder.types()) {
    problem->type = type;
    problem->dst_type = builder.result_type(graph.node(group.last()).result(), type);
    ISOMER_TRY(const bool done, problem->weights ? lower_weighted_product(builder, group, *problem)
                                                 : lower_computed_product(builder, group, *problem));
    if (done) return true;
  }
  return false;
}

}  // namespace isomer::onednn
