#include "isomer/repro/experiment.h"

#include <algorithm>

namespace isomer {

bool ReproOptions::includes(const std::string& network) const {
  return networks.empty() || std::ranges::find(networks, network) != networks.end();
}

void ExperimentResult::row(std::vector<nlohmann::json> cells) {
  std::vector<std::string> differs;
  for (const Difference& one : differences) differs.push_back(one.name);
  rows.push_back({std::move(cells), std::move(differs)});
}

}  // namespace isomer
