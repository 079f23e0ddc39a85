#include "isomer/cost/roofline.h"

#include <algorithm>

#include "isomer/base/number_range.h"
#include "isomer/cost/fused_kernels.h"

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

template <class Visit>
void RooflineCost::for_each_kernel(const Graph& graph, const ConcreteTypes& types, const Visit& visit) {
  std::vector<double> flops(graph.nodes().size(), 0);
  for (NodeId id = 0; id < flops.size(); ++id) {
    const Node& node = graph.node(id);
    if (graph.runs(node) && !is_view(node)) flops[id] = flops_.of(graph, node, types);
  }
  const KernelPlan plan = fused_kernels(graph, flops);
  for (size_t i = 0; i < plan.size(); ++i) {
    Metrics one{.bytes = bytes_of_kernel(graph, plan.kernel(i), types), .kernels = 1};
    for (const NodeId id : plan.kernel(i)) one.flops += flops[id];
    one.latency_us = latency_us(one.flops, one.bytes);
    visit(plan.kernel(i), one);
  }
}

Result<Metrics> RooflineCost::metrics(const Candidate& candidate, const Boundary& /*boundary*/) {
  const Graph& graph = candidate.graph;
  const ConcreteTypes types(graph, symbols_);
  Metrics total;
  for_each_kernel(graph, types, [&](std::span<const NodeId>, const Metrics& one) {
    total.flops += one.flops;
    total.bytes += one.bytes;
    total.kernels += 1;
    total.latency_us += one.latency_us;
  });
  total.peak_bytes = peak_activation_bytes(graph, types.bytes());
  return total;
}

Result<std::vector<PlannedKernel>> RooflineCost::kernels(const Candidate& candidate) {
  const Graph& graph = candidate.graph;
  const ConcreteTypes types(graph, symbols_);
  std::vector<PlannedKernel> out;
  for_each_kernel(graph, types, [&](std::span<const NodeId> nodes, const Metrics& one) {
    out.push_back({.nodes = {nodes.begin(), nodes.end()}, .us = one.latency_us});
  });
  return out;
}

double RooflineCost::latency_us(double flops, double bytes) const {
  return options_.kernel_overhead_us +
         1e6 * std::max(flops / options_.flops_per_second, bytes / options_.bytes_per_second);
}

}  // namespace isomer
