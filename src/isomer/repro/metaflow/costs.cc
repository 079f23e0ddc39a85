// Table 2: what substitutions change, by dimension of the cost.

#include <cmath>

#include "isomer/repro/metaflow/metaflow.h"

namespace isomer {
namespace {

/// Before (TensorRT) and after (MetaFlow).
struct PublishedChange {
  double before, after;
};
struct PublishedCosts {
  const char* network;
  PublishedChange ms, megabytes, kernels, giga_flops;
};
constexpr PublishedCosts kPublishedCosts[] = {
    {"inception-v3", {5.51, 5.00}, {95.4, 62.2}, {138, 115}, {5.68, 5.69}},
    {"squeezenet-bypass", {0.94, 0.75}, {62.1, 46.1}, {50, 40}, {0.64, 1.00}},
    {"resnet50", {1.97, 1.86}, {37.2, 35.8}, {70, 67}, {0.52, 0.54}},
    {"rnntc", {0.91, 0.60}, {1.33, 1.17}, {220, 83}, {0.22, 0.20}},
    {"nmt", {2.45, 1.56}, {5.32, 4.68}, {440, 135}, {0.84, 0.78}},
};

/// A dimension of the cost in the paper's unit. A multiply-add counts as one operation there.
struct CostDimension {
  const char* name;
  const char* unit;
  PublishedChange PublishedCosts::*published;
  double Metrics::*ours;
  double scale;  ///< the paper's unit, in ours
};
constexpr CostDimension kCostDimensions[] = {
    {"latency", "ms", &PublishedCosts::ms, &Metrics::latency_us, 1e3},
    {"memory accesses", "MB", &PublishedCosts::megabytes, &Metrics::bytes, 1e6},
    {"kernels", "", &PublishedCosts::kernels, &Metrics::kernels, 1},
    {"multiply-adds", "G", &PublishedCosts::giga_flops, &Metrics::flops, 2e9},
};

/// Whether the network has the multiply-adds of the paper's.
bool has_published_size(const PublishedCosts& published, const Metrics& ours) {
  return std::abs(ours.flops / (2e9 * published.giga_flops.before) - 1) < 0.05;
}

Result<ExperimentResult> run_costs(const ReproOptions& options) {
  ISOMER_TRY(const EmbeddedRules rules, single_step_rules());
  ExperimentResult out{.columns = {{"network"},
                                   {"dimension"},
                                   {"unit"},
                                   {"published before"},
                                   {"published after"},
                                   {"published ratio"},
                                   {"before"},
                                   {"after"},
                                   {"ratio"},
                                   {"ended"}},
                       .differences = metaflow_differences(v100(), rules),
                       .hashes = rules.digests};
  out.differences.push_back({"baseline", "the network before the search; the paper's is TensorRT"});
  out.differences.push_back(part_limit());
  const SearchOptions search = backtracking(1.05, 30, kPartGraphs);
  for (const PublishedCosts& published : kPublishedCosts) {
    if (!options.includes(published.network)) continue;
    ISOMER_TRY(const StartNetwork network, start_network(published.network));
    out.hashes[published.network] = network.hash();
    options.observer.progress(published.network);
    ISOMER_TRY(const Searched found, search_by_roofline(network, rules.rules, v100().roofline, search, options));
    for (const auto& [name, unit, change, ours, scale] : kCostDimensions) {
      const auto& [before, after] = published.*change;
      out.row({published.network, name, unit, before, after, before / after, found.before.*ours / scale,
               found.after.*ours / scale, found.before.*ours / (found.after.*ours), found.ended()});
      if (!has_published_size(published, found.before)) out.rows.back().differs.emplace_back("size");
    }
  }
  out.differences.push_back({"size", "the multiply-adds before the search are not those of the paper's network"});
  out.notes = {
      "Searched in parts of at most 30 operators, as in the paper.",
      "Memory accesses are the bytes that kernels read and write, with weights; the paper does not define its own.",
      "The paper's fifth dimension, device utilization, is the multiply-adds divided by the latency.",
      "The paper labels memory accesses as GB; its Figure 11 shows that they are MB.",
      "Ratios are before / after; above 1, the optimized graph is better."};
  return out;
}

}  // namespace

Experiment metaflow_costs() { return {run_costs, networks_of(kPublishedCosts)}; }

}  // namespace isomer
