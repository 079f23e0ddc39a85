#include "isomer/cost/roofline.h"

#include <algorithm>
#include <utility>

#include "isomer/base/number_range.h"
#include "isomer/cost/critical_path.h"
#include "isomer/cost/fused_kernels.h"

namespace isomer {

/// Sums up the same kernels in the same order as RooflineCost::metrics. The bytes of a kernel are added in another
/// order, which changes nothing: they are multiples of half a byte, so their sums are exact.
class RooflineRewrites : public RewriteCosts {
 public:
  RooflineRewrites(RooflineCost& costs, const Graph& graph)
      : costs_(costs), graph_(graph), types_(graph, costs.symbols_), known_flops_(graph.nodes().size(), 0) {
    for (NodeId id = 0; id < known_flops_.size(); ++id) known_flops_[id] = flops_of(graph, graph.node(id), types_);
  }

  std::optional<Metrics> metrics(const RunNodes& nodes) override {
    if (!find_bytes(nodes)) return std::nullopt;
    find_flops(nodes);
    fusion_.run(nodes, flops_);
    Metrics total;
    for (size_t i = 0; i < fusion_.size(); ++i) {
      double flops = 0;
      for (const uint32_t number : fusion_.kernel(i)) flops += flops_[number];
      const double bytes = bytes_of(nodes, fusion_.kernel(i));
      total.flops += flops;
      total.bytes += bytes;
      total.kernels += 1;
      total.latency_us += costs_.latency_us(flops, bytes);
    }
    return total;
  }

 private:
  double flops_of(const Graph& graph, const Node& node, const ConcreteTypes& types) const {
    return graph.runs(node) && !is_view(node) ? costs_.flops_.of(graph, node, types) : 0;
  }

  /// Returns false if an extent is symbolic.
  bool find_bytes(const RunNodes& nodes) {
    bytes_.assign(types_.bytes().begin(), types_.bytes().end());
    for (size_t value = bytes_.size(); value < nodes.values.size(); ++value) {
      const auto bytes = concrete_bytes(*nodes.values[value].type);
      if (!bytes) return false;
      bytes_.push_back(*bytes);
    }
    return true;
  }

  void find_flops(const RunNodes& nodes) {
    flops_.clear();
    const Graph* from = &graph_;
    const std::vector<double>* known = &known_flops_;
    for (const RunNodes::Run& run : nodes.nodes) {
      if (std::exchange(from, run.graph) != run.graph)
        known = from == &graph_ ? &known_flops_ : &costs_.target_flops(*from);
      flops_.push_back((*known)[static_cast<size_t>(run.node - from->nodes().data())]);
    }
  }

  double bytes_of(const RunNodes& nodes, std::span<const uint32_t> kernel) {
    read_.clear();
    for (const uint32_t number : kernel)
      for (const ValueId operand : nodes.operands_of(nodes.nodes[number]))
        if (operand != kNoValue && !std::ranges::binary_search(kernel, nodes.values[operand].producer))
          read_.push_back(operand);
    std::ranges::sort(read_);
    double total = 0;
    for (size_t i = 0; i < read_.size(); ++i)
      if (i == 0 || read_[i] != read_[i - 1]) total += bytes_[read_[i]];
    const RunNodes::Run& last = nodes.nodes[kernel.back()];
    for (uint32_t i = 0; i < last.node->num_results; ++i) total += bytes_[last.first_result + i];
    return total;
  }

  RooflineCost& costs_;
  const Graph& graph_;
  const ConcreteTypes types_;
  std::vector<double> known_flops_;  // by node of the graph

  // Of the last call; members keep their capacity.
  RunNodeFusion fusion_;
  std::vector<double> flops_;  // by node that runs
  std::vector<double> bytes_;  // by value
  std::vector<ValueId> read_;
};

const std::vector<double>& RooflineCost::target_flops(const Graph& target) {
  uint64_t key = 0;  // the hash of the graph does not depend on the order of its nodes
  for (const Node& node : target.nodes()) key = hash_mix(key, node.hash);
  if (const auto known = target_flops_.find(key); known != target_flops_.end()) return known->second;
  const ConcreteTypes types(target, symbols_);
  std::vector<double> flops;
  for (const Node& node : target.nodes())
    flops.push_back(node.is_input() || is_view(node) ? 0 : flops_.of(target, node, types));
  return target_flops_.emplace(key, std::move(flops)).first->second;
}

std::unique_ptr<RewriteCosts> RooflineCost::rewrites_of(const Graph& graph) {
  for (ValueId value = 0; value < graph.num_values(); ++value)
    if (!is_concrete(graph.type(value))) return nullptr;
  return std::make_unique<RooflineRewrites>(*this, graph);
}

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
KernelPlan RooflineCost::for_each_kernel(const Graph& graph, const ConcreteTypes& types, const Visit& visit) {
  std::vector<double> flops(graph.nodes().size(), 0);
  for (NodeId id = 0; id < flops.size(); ++id) {
    const Node& node = graph.node(id);
    if (graph.runs(node) && !is_view(node)) flops[id] = flops_.of(graph, node, types);
  }
  KernelPlan plan = fused_kernels(graph, flops);
  for (size_t i = 0; i < plan.size(); ++i) {
    Metrics one{.bytes = bytes_of_kernel(graph, plan.kernel(i), types), .kernels = 1};
    for (const NodeId id : plan.kernel(i)) one.flops += flops[id];
    one.latency_us = latency_us(one.flops, one.bytes);
    visit(plan.kernel(i), one);
  }
  return plan;
}

Result<Metrics> RooflineCost::metrics(const Candidate& candidate, const Boundary& /*boundary*/) {
  const Graph& graph = candidate.graph;
  const ConcreteTypes types(graph, symbols_);
  Metrics total;
  std::vector<double> us;
  const KernelPlan plan = for_each_kernel(graph, types, [&](std::span<const NodeId>, const Metrics& one) {
    us.push_back(one.latency_us);
    total.flops += one.flops;
    total.bytes += one.bytes;
    total.kernels += 1;
    total.latency_us += one.latency_us;
  });
  total.critical_path_us = critical_path_us(graph, plan, us);
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
