#include "isomer/engine/onednn/planner.h"

#include "isomer/engine/onednn/conv_ways.h"
#include "isomer/engine/onednn/planning.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer {

OnednnPlanner::OnednnPlanner(int64_t block, std::shared_ptr<onednn::Tuner> tuner, int threads, DType dtype)
    : block_(block), threads_(threads), convolutions_(std::make_unique<onednn::ConvWays>(std::move(tuner), dtype)) {}
OnednnPlanner::~OnednnPlanner() = default;

Result<KernelPlan> OnednnPlanner::plan(const Graph& graph, const Boundary& boundary, const Decisions& decisions,
                                       const Deadline& deadline) const {
  const onednn::ThreadScope threads(threads_);
  onednn::Planning planning(graph, onednn::Stage::Given, block_, *convolutions_, decisions, boundary.inputs, deadline);
  for (size_t i = 0; i < planning.groups().size(); ++i) {
    const Node& last = graph.node(planning.groups()[i].last());
    if (last.num_results > 0 && graph.is_constant_derived(last.result())) continue;
    planning.place(i);
    if (planning.lacks_times())
      return fail("{}: no time is left to measure which kernel is fastest", graph.name(last.result()));
    for (uint32_t r = 0; r < last.num_results; ++r) planning.conversion(last.result(r));
  }
  return planning.finish(boundary.outputs);
}

}  // namespace isomer
