#include "isomer/cost/roofline.h"

#include <algorithm>

#include "isomer/base/number_range.h"

namespace isomer {

Status check(const RooflineOptions& options) {
  constexpr NumberRange kPositive{.min = 0, .open = true};
  if (const Status fits = kPositive.check(options.flops_per_second); !fits)
    return fail_in(fmt::format("peak of {} FLOP/s", options.flops_per_second), fits.error());
  if (const Status fits = kPositive.check(options.bytes_per_second); !fits)
    return fail_in(fmt::format("bandwidth of {} bytes/s", options.bytes_per_second), fits.error());
  if (const Status fits = NumberRange{.min = 0}.check(options.kernel_overhead_us); !fits)
    return fail_in(fmt::format("overhead of {} us per kernel", options.kernel_overhead_us), fits.error());
  return {};
}

Result<Metrics> RooflineCost::metrics(const Candidate& candidate, const Boundary& /*boundary*/) {
  const Graph& graph = candidate.graph;
  const ConcreteTypes types(graph, symbols_);
  Metrics total;
  for (const Node& node : graph.nodes()) {
    if (!graph.runs(node) || is_view(node)) continue;
    const Work& work = works_.of(graph, node, types);
    total.flops += work.flops;
    total.bytes += work.bytes;
    total.kernels += 1;
    total.latency_us += latency_us(work);
  }
  total.peak_bytes = peak_activation_bytes(graph, types.bytes());
  return total;
}

Result<std::vector<PlannedKernel>> RooflineCost::kernels(const Candidate& candidate) {
  const Graph& graph = candidate.graph;
  const ConcreteTypes types(graph, symbols_);
  std::vector<PlannedKernel> out;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (graph.runs(node) && !is_view(node))
      out.push_back({.nodes = {id}, .us = latency_us(works_.of(graph, node, types))});
  }
  return out;
}

double RooflineCost::latency_us(const Work& work) const {
  return options_.kernel_overhead_us +
         1e6 * std::max(work.flops / options_.flops_per_second, work.bytes / options_.bytes_per_second);
}

}  // namespace isomer
