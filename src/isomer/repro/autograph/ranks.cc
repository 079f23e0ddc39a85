// How well do costs rank graphs? AutoGraph's claim is that its mixed cost does better than the sum.

#include <algorithm>
#include <cmath>

#include "isomer/repro/autograph/autograph.h"
#include "isomer/repro/contenders.h"

namespace isomer {
namespace {

constexpr const char* kRanked[] = {"inception-v3", "nasnet-a", "nasnet-mobile", "googlenet",
                                   "nasrnn",       "rnntc",    "nmt",           "bert-8"};
/// The correlation of fewer graphs says nothing.
constexpr size_t kMinGraphs = 5;

using PredictGraph = double (*)(const MeasuredGraph& graph);

struct RankedCost {
  const char* name;
  PredictGraph of;
};

constexpr RankedCost kCosts[] = {
    {"sum", [](const MeasuredGraph& graph) { return graph.latency_us; }},
    {"mixed", [](const MeasuredGraph& graph) { return graph.cost; }},
    {"bound", [](const MeasuredGraph& graph) { return std::max(graph.critical_path_us, graph.latency_us / kStreams); }},
    {"makespan", [](const MeasuredGraph& graph) { return graph.makespan_us; }}};

Status rank(const std::string& name, const ReproOptions& options, ExperimentResult& out) {
  ISOMER_TRY(const WrittenNetwork network, written_network(name, 1, out));
  const GraphSearch how{.search = {.search = "autograph"}, .streams = kStreams};
  ISOMER_TRY(const WrittenGraph found, write_optimized(network.file, how, network.folder.path() / "out.onnx", options));
  std::vector<double> times;
  for (const MeasuredGraph& graph : found.measured) times.push_back(1 / graph.speedup.value);
  std::vector<nlohmann::json> row{name, found.measured.size(), nullptr};
  if (!times.empty()) row.back() = std::ranges::max(times) / std::ranges::min(times);
  for (const RankedCost& cost : kCosts) {
    std::vector<double> predicted;
    for (const MeasuredGraph& graph : found.measured) predicted.push_back(cost.of(graph));
    const double correlation = rank_correlation(predicted, times);
    const bool says = times.size() >= kMinGraphs && std::isfinite(correlation);
    row.push_back(says ? nlohmann::json(correlation) : nlohmann::json());
  }
  row.emplace_back(found.outcome);
  out.row(std::move(row));
  return {};
}

Result<ExperimentResult> run_ranks(const ReproOptions& options) {
  ExperimentResult out{.columns = {{"network"}, {"graphs"}, {"slowest over fastest", "x"}},
                       .differences = {{"engine", built_in_runtime()},
                                       {"networks", "the paper reports no correlations"},
                                       {"search", "ends after 45 s at the latest"}}};
  for (const RankedCost& cost : kCosts) out.columns.push_back({cost.name});
  out.columns.push_back({"search"});
  for (const char* const name : kRanked)
    if (options.includes(name)) ISOMER_CHECK(rank(name, options, out));
  out.notes = {
      "Spearman's rank correlation of predicted and measured latencies on two streams, of the graphs that "
      "`--search autograph` measured: 1 is the same order, 0 none. It chose them by the mixed cost, so they differ "
      "less "
      "than graphs do in general, and where the slowest is hardly slower than the fastest, noise decides.",
      "sum: of the kernels' latencies. mixed: and a quarter of the critical path. bound: the critical path, or half of "
      "the sum if that is more. makespan: of the simulated schedule of kernels on two cores.",
      fmt::format("No correlation is given for fewer than {} graphs, or where a cost is the same for all.",
                  kMinGraphs)};
  return out;
}

}  // namespace

Experiment autograph_ranks() { return {run_ranks, {std::begin(kRanked), std::end(kRanked)}}; }

}  // namespace isomer
