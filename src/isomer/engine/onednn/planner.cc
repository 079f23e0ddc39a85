#include "isomer/engine/onednn/planner.h"

#include "isomer/engine/onednn/conv_forms.h"
#include "isomer/engine/onednn/planning.h"

namespace isomer {

OnednnPlanner::OnednnPlanner(int64_t block) : block_(block), convolutions_(std::make_unique<onednn::ConvForms>()) {}
OnednnPlanner::~OnednnPlanner() = default;

KernelPlan OnednnPlanner::plan(const Graph& graph, const Boundary& boundary, const Decisions& decisions) const {
  onednn::Planning planning(graph, onednn::Stage::Given, block_, *convolutions_, decisions, boundary.inputs);
  for (size_t i = 0; i < planning.groups().size(); ++i) {
    const Node& last = graph.node(planning.groups()[i].last());
    if (last.num_results > 0 && graph.is_weight(last.result())) continue;
    planning.place(i);
    for (uint32_t r = 0; r < last.num_results; ++r) planning.conversion(last.result(r));
  }
  return planning.finish(boundary.outputs);
}

}  // namespace isomer
