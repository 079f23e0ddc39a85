// Figure 2.10: does each network need other substitutions?

#include <algorithm>
#include <map>

#include "isomer/repro/taso/rule_size.h"
#include "isomer/repro/taso/taso.h"

namespace isomer {
namespace {

constexpr const char* kUseNetworks[] = {"resnet50", "resnext50", "nasnet-a", "nasrnn", "bert-8"};

constexpr size_t kHashDigits = 16;

/// "0f3a12" of a discovered rule, whose name ends with a hash; "0f3a12-add" if its family has the hash.
std::string short_name(const std::string& rule) {
  const std::string hash = rule.substr(rule.find('-') + 1);
  return hash.substr(0, 6) + hash.substr(std::min(hash.size(), kHashDigits));
}

std::string described(const Rule& rule) { return fmt::format("{}: {}", short_name(rule.name), operators_of(rule)); }

std::string list_of(const std::map<std::string, int>& uses) {
  std::map<std::string, int> shortened;
  for (const auto& [rule, count] : uses) shortened[short_name(rule)] += count;
  return text_of(shortened);
}

/// The rules that some network uses, with their uses by network.
HeatMap heat_map(const std::vector<std::string>& networks, const std::vector<std::map<std::string, int>>& uses,
                 const std::vector<Rule>& rules) {
  HeatMap map{
      .title = "How often substitutions are used",
      .x = {"network"},
      .y = {"substitution"},
      .columns = networks,
  };
  for (const Rule& rule : rules) {
    std::vector<std::optional<double>> cells;
    bool used = false;
    for (const auto& one : uses) {
      const auto at = one.find(rule.name);
      used |= at != one.end();
      cells.push_back(at == one.end() ? std::nullopt : std::optional<double>(at->second));
    }
    if (!used) continue;
    map.rows.push_back(described(rule));
    map.cells.push_back(std::move(cells));
  }
  return map;
}

Result<ExperimentResult> run_uses(const ReproOptions& options) {
  ISOMER_TRY(const EmbeddedRules rules, discovered_rules());
  ExperimentResult out{.columns = {{"network"},
                                   {"published: different substitutions"},
                                   {"different substitutions"},
                                   {"applications"},
                                   {"before", "us", 1},
                                   {"after", "us", 1},
                                   {"speedup", "x", 3},
                                   {"search", "CPU s"},
                                   {"ended"},
                                   {"substitutions"}},
                       .differences = taso_differences(rules),
                       .hashes = rules.digests};
  std::vector<std::string> networks;
  std::vector<std::map<std::string, int>> uses;
  for (const char* name : kUseNetworks) {
    if (!options.includes(name)) continue;
    options.observer.progress(name);
    ISOMER_TRY(const StartNetwork network, start_network(name));
    out.hashes[name] = network.hash();
    ISOMER_TRY(const Searched found, search_by_roofline(network, rules.rules, v100().roofline, taso_search(), options));
    networks.emplace_back(name);
    uses.push_back(found.uses());
    out.row({name, "4-10", uses.back().size(), found.report.steps.size(), found.before.latency_us,
             found.after.latency_us, found.speedup(), found.cpu_seconds, found.ended(), list_of(uses.back())});
  }
  HeatMap map = heat_map(networks, uses, rules.rules);
  for (const std::string& row : map.rows) out.notes.push_back(row);
  out.pictures = {std::move(map)};
  out.notes.emplace_back("The published heat map is not printed as numbers.");
  return out;
}

}  // namespace

Experiment taso_uses() { return {run_uses, {std::begin(kUseNetworks), std::end(kUseNetworks)}}; }

}  // namespace isomer
