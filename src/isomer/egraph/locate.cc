#include "isomer/egraph/locate.h"

#include <algorithm>

namespace isomer {

LocatedGraph::LocatedGraph(const Graph& graph, const TermGraph& terms)
    : graph_(graph), classes_(graph.num_values(), kUnbound), nodes_(graph.num_values()) {
  for (const Node& node : graph.nodes()) {
    const auto label = terms.find_label(*node.op, node.attrs);
    if (!label) continue;
    std::vector<EClassId> children;
    for (const ValueId operand : graph.operands(node))
      children.push_back(operand == kNoValue ? terms.find(terms.absent()) : classes_[operand]);
    if (std::ranges::find(children, kUnbound) != children.end()) continue;
    for (uint32_t r = 0; r < node.num_results; ++r) {
      const ENode located = terms.egraph().canonical({*label + r, children});
      classes_[node.result(r)] = terms.egraph().lookup(located).value_or(kUnbound);
      nodes_[node.result(r)] = located;
    }
  }
}

}  // namespace isomer
