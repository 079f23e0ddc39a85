// Figure 10: what does a larger alpha cost, and what does it find?

#include "isomer/repro/metaflow/metaflow.h"

namespace isomer {
namespace {

constexpr double kAlphas[] = {1, 1.02, 1.05, 1.1, 1.2};
constexpr const char* kAlphaNetworks[] = {"inception-v3", "squeezenet-bypass"};

Result<ExperimentResult> run_alphas(const ReproOptions& options) {
  ISOMER_TRY(const EmbeddedRules rules, benchmark_rules());
  ExperimentResult out{.columns = {{"network"},
                                   {"alpha"},
                                   {"before", "us", 1},
                                   {"after", "us", 1},
                                   {"search", "CPU s"},
                                   {"graphs"},
                                   {"ended"},
                                   {"published"}},
                       .differences = metaflow_differences(v100(), rules),
                       .hashes = rules.digests};
  out.differences.push_back(part_limit());
  Chart costs{.title = "Predicted latency of the best graph",
              .x = {"alpha"},
              .y = {"latency, as a share of the latency before", "%"}};
  Chart times{.title = "Search time", .x = {"alpha"}, .y = {"processor time", "s", true}};
  for (const char* name : kAlphaNetworks) {
    if (!options.includes(name)) continue;
    ISOMER_TRY(const StartNetwork network, start_network(name));
    out.hashes[name] = network.hash();
    ChartSeries cost{name, {}}, time{name, {}};
    for (const double alpha : kAlphas) {
      options.observer.progress(fmt::format("{}: alpha = {}", name, alpha));
      ISOMER_TRY(const Searched found, search_by_roofline(network, rules.rules, v100().roofline,
                                                          backtracking(alpha, 30, kPartGraphs), options));
      out.row({name, alpha, found.before.latency_us, found.after.latency_us, found.cpu_seconds, found.report.candidates,
               found.ended(), "curve, without numbers"});
      cost.points.push_back({alpha, 100 * found.after.latency_us / found.before.latency_us, found.cut_off()});
      time.points.push_back({alpha, found.cpu_seconds, found.cut_off()});
    }
    costs.series.push_back(std::move(cost));
    times.series.push_back(std::move(time));
  }
  out.pictures = {std::move(costs), std::move(times)};
  out.notes = {"Searched in parts of at most 30 operators, as in the paper.",
               "The published curve is of Inception-v3; its text says that alpha = 1.05 finds a highly optimized graph "
               "while the search stays cheap."};
  return out;
}

}  // namespace

Experiment metaflow_alphas() { return {run_alphas, {std::begin(kAlphaNetworks), std::end(kAlphaNetworks)}}; }

}  // namespace isomer
