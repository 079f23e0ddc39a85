// Table 3: which algorithm finds the cheapest graph, and how long does it take?

#include <algorithm>
#include <optional>

#include "isomer/repro/ocggs/ocggs.h"
#include "isomer/search/matches.h"

namespace isomer {
namespace {

constexpr int64_t kLength = 10;

/// By algorithm, in the order of ocggs_algorithms. Nothing: the paper stopped it after an hour.
struct PublishedAlgorithms {
  const char* network;
  std::optional<double> ms[6];
  std::optional<double> seconds[6];
  std::optional<int> first = std::nullopt;  ///< substitutions that apply to the network itself
};
constexpr std::optional<double> kNone = std::nullopt;
const PublishedAlgorithms kPublished[] = {
    {"inception-v3", {kNone, kNone, kNone, 9.48, 8.80, 8.80}, {kNone, kNone, kNone, 11.39, kNone, 4.38}},
    {"resnet-blocks-8", {kNone, 1.73, 1.73, 1.73, 1.73, 1.73}, {kNone, 20.39, 7.89, 1.35, 2.82, 0.26}},
    {"resnext50", {kNone, kNone, kNone, 8.54, 7.80, 7.80}, {kNone, kNone, kNone, 5.25, 108.83, 1.14}},
    {"nasnet-a", {kNone, kNone, kNone, 20.97, 18.31, 18.31}, {kNone, kNone, kNone, kNone, kNone, 233.34}, 346},
    {"bert-8", {kNone, kNone, kNone, 1.21, 1.21, 1.21}, {kNone, kNone, kNone, 11.69, 790.28, 2.02}},
    {"sru-11", {kNone, 0.15, 0.15, 0.15, 0.15, 0.15}, {kNone, 21.96, 33.12, 0.03, 0.02, 0.28}},
    {"nasrnn", {kNone, kNone, kNone, 1.82, 1.80, 1.80}, {kNone, kNone, kNone, kNone, kNone, 20.59}, 371},
};

nlohmann::json seconds_or_hour(const PublishedAlgorithms& published, size_t algorithm) {
  if (published.seconds[algorithm]) return *published.seconds[algorithm];
  return "> 3600";
}

void add_rows(const PublishedAlgorithms& published, const std::vector<OcggsRun>& runs, ExperimentResult& out) {
  const double sampling = runs.back().found.after.latency_us;
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto& [algorithm, found] = runs[i];
    const std::optional<double> cost = runs[i].cost();
    out.row({published.network, algorithm.name, json_of(published.ms[i]),
             over_sampling(published.ms[i], *published.ms[5]), found.before.latency_us, json_of(cost),
             over_sampling(cost, sampling), seconds_or_hour(published, i), found.cpu_seconds, found.report.candidates,
             found.ended()});
  }
}

Result<ExperimentResult> run_networks(const ReproOptions& options) {
  ISOMER_TRY(const EmbeddedRules rules, single_step_rules());
  ExperimentResult out{.columns = {{"network"},
                                   {"algorithm"},
                                   {"published cost", "ms"},
                                   {"published cost / Sampling's", "", 3},
                                   {"before", "us", 1},
                                   {"cost", "us", 1},
                                   {"cost / Sampling's", "", 3},
                                   {"published", "s"},
                                   {"ours", "CPU s"},
                                   {"graphs"},
                                   {"ended"}},
                       .differences = ocggs_differences(rules),
                       .hashes = rules.digests};
  std::vector<std::string> unimproved;
  for (const PublishedAlgorithms& published : kPublished) {
    if (!options.includes(published.network)) continue;
    ISOMER_TRY(const StartNetwork network, start_network(published.network));
    out.hashes[published.network] = network.hash();
    if (published.first)
      out.notes.push_back(fmt::format("{} substitutions apply to {} itself; in the paper, {} do.",
                                      all_matches(network.model.graph, rules.rules).size(), published.network,
                                      *published.first));
    const auto all = [](const OcggsAlgorithm&) { return true; };
    ISOMER_TRY(const std::vector<OcggsRun> runs, run_ocggs(network, rules, kLength, all, options));
    add_rows(published, runs, out);
    const auto improved = [](const OcggsRun& run) { return run.found.improved(); };
    if (std::ranges::none_of(runs, improved)) unimproved.emplace_back(published.network);
  }
  note_unimproved(unimproved, out);
  out.notes.emplace_back(
      "Sequences have at most 10 substitutions (K). The paper does not print the costs before, so only "
      "ratios between algorithms compare.");
  out.notes.emplace_back("The memory of the algorithms (Table 3c) is not measured.");
  return out;
}

}  // namespace

Experiment ocggs_networks() { return {run_networks, networks_of(kPublished)}; }

}  // namespace isomer
