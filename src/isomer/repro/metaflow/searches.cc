// Table 3: does backtracking find the optimum, and how much faster is it?

#include <cmath>

#include "isomer/repro/metaflow/metaflow.h"

namespace isomer {
namespace {

struct PublishedTimes {
  const char* network;
  double exhaustive, backtracking;  ///< seconds
};
constexpr PublishedTimes kPublishedTimes[] = {
    {"alexnet", 5.0, 0.1}, {"vgg16", 138, 0.2}, {"inception-e-1", 768, 0.29}, {"resnet18", 11160, 0.99}};

/// What exhaustive search found.
std::string optimum(const Searched& all) {
  if (all.cut_off()) return "cut off";
  return all.improved() ? "optimum" : "optimum: the network itself";
}

/// What backtracking found, compared with exhaustive search. A search that was cut off does not know the optimum. If
/// there is no cheaper graph, backtracking cannot miss it.
std::string agreement(const Searched& all, const Searched& some) {
  if (all.cut_off() || some.cut_off()) return "cut off";
  if (std::abs(some.after.latency_us - all.after.latency_us) > 1e-9 * all.after.latency_us) return "other result";
  return all.improved() ? "same result" : "same result: the network itself";
}

Result<ExperimentResult> run_searches(const ReproOptions& options) {
  ISOMER_TRY(const EmbeddedRules rules, benchmark_rules());
  ExperimentResult out{.columns = {{"network"},
                                   {"search"},
                                   {"published", "s"},
                                   {"ours", "CPU s"},
                                   {"graphs"},
                                   {"before", "us", 1},
                                   {"after", "us", 1},
                                   {"ended"},
                                   {"published result"},
                                   {"result"}},
                       .differences = metaflow_differences(v100(), rules),
                       .hashes = rules.digests};
  for (const PublishedTimes& published : kPublishedTimes) {
    const char* const name = published.network;
    if (!options.includes(name)) continue;
    ISOMER_TRY(const StartNetwork network, start_network(name));
    out.hashes[name] = network.hash();
    const auto run = [&](const SearchOptions& search) {
      options.observer.progress(fmt::format("{}: {}", name, search.search));
      return search_by_roofline(network, rules.rules, v100().roofline, search, options);
    };
    ISOMER_TRY(const Searched all, run(unlimited("enumerate")));
    ISOMER_TRY(const Searched some, run(backtracking(1.05, 0)));
    const auto row = [&](const char* search, double seconds, const Searched& found, const std::string& expected,
                         const std::string& result) {
      out.row({name, search, seconds, found.cpu_seconds, found.report.candidates, found.before.latency_us,
               found.after.latency_us, found.ended(), expected, result});
    };
    row("exhaustive", published.exhaustive, all, "", optimum(all));
    row("backtracking", published.backtracking, some, "same result", agreement(all, some));
  }
  out.notes = {"Both searches of a network begin with the same graph, with batch normalizations folded.",
               "Exhaustive search stores every graph and ends at --search-memory. Then nobody knows the optimum.",
               "Where the optimum is the network itself, the searches agree trivially."};
  return out;
}

}  // namespace

Experiment metaflow_searches() { return {run_searches, networks_of(kPublishedTimes)}; }

}  // namespace isomer
