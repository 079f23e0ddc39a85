#include "isomer/repro/ocggs/ocggs.h"

#include "isomer/repro/items.h"

namespace isomer {
namespace {

/// Of MetaFlow and TASO, for each part. It stands for the paper's hour.
constexpr int64_t kGraphs = 20000;

SearchOptions sampling() {
  SearchOptions search = unlimited("sample");
  search.queue = 20;
  search.eta = 1;
  return search;
}

}  // namespace

std::vector<OcggsAlgorithm> ocggs_algorithms(int64_t length) {
  std::vector<OcggsAlgorithm> all = {{"Enumeration", unlimited("enumerate"), true},
                                     {"Pruning", unlimited("prune"), true},
                                     {"DPP", unlimited("dpp"), true},
                                     {"MetaFlow", backtracking(1.05, 30, kGraphs)},
                                     {"TASO", backtracking(1.05, 0, kGraphs)},
                                     {"Sampling", sampling()}};
  for (OcggsAlgorithm& one : all) one.search.max_length = length;
  return all;
}

std::optional<double> OcggsRun::cost() const {
  if (algorithm.exact && found.cut_off()) return std::nullopt;
  return found.after.latency_us;
}

Result<std::vector<OcggsRun>> run_ocggs(const StartNetwork& network, const EmbeddedRules& rules, int64_t length,
                                        const std::function<bool(const OcggsAlgorithm&)>& chosen,
                                        const ReproOptions& options) {
  std::vector<OcggsRun> runs;
  for (const OcggsAlgorithm& algorithm : ocggs_algorithms(length)) {
    if (!chosen(algorithm)) continue;
    options.observer.progress(fmt::format("{}, K = {}: {}", network.name, length, algorithm.name));
    ISOMER_TRY(Searched found, search_by_roofline(network, rules.rules, p100().roofline, algorithm.search, options));
    runs.push_back({algorithm, std::move(found)});
  }
  return runs;
}

nlohmann::json json_of(const std::optional<double>& number) {
  return number ? nlohmann::json(*number) : nlohmann::json();
}

nlohmann::json over_sampling(const std::optional<double>& cost, double sampling) {
  return cost ? nlohmann::json(*cost / sampling) : nlohmann::json();
}

void note_unimproved(const std::vector<std::string>& networks, ExperimentResult& out) {
  if (networks.empty()) return;
  out.notes.push_back(
      fmt::format("No search found a graph that is cheaper than {}: there, equal costs are no agreement.",
                  fmt::join(networks, ", ")));
}

std::vector<Difference> ocggs_differences(const EmbeddedRules& rules) {
  return {
      {"engine", fmt::format("predicted by {}; the paper measures operators on the GPU", p100().text())},
      {"rules", fmt::format("{} single-step rules of {}; the paper has 157 rules that TASO generated",
                            rules.rules.size(), rules.files())},
      {"algorithms",
       "Pruning and DPP with the repaired order of substitutions, because the published order misses graphs; MetaFlow "
       "and TASO stop after 20,000 graphs of each part, not after an hour; MetaFlow's K counts the substitutions of "
       "each part"}};
}

std::vector<ReproItem> ocggs_items() {
  return {
      {"ocggs-t3", "OCGGS, Table 3: cost and search time of the algorithms", ocggs_networks()},
      {"ocggs-f4", "OCGGS, Figure 4: the algorithms by the number of blocks", ocggs_blocks(), "", true},
      {"ocggs-f5", "OCGGS, Figure 5: the algorithms by the maximum length of sequences", ocggs_lengths(), "", true},
  };
}

}  // namespace isomer
