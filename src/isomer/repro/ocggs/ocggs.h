#pragma once
// OCGGS (Fang et al., PVLDB 2020): the algorithms that it compares, and the experiments.

#include <functional>
#include <optional>
#include <vector>

#include "isomer/repro/devices.h"
#include "isomer/repro/rule_files.h"
#include "isomer/repro/searched.h"

namespace isomer {

/// Table 3: the algorithms on seven networks.
Experiment ocggs_networks();
/// Figure 4: the algorithms by the number of blocks.
Experiment ocggs_blocks();
/// Figure 5: the algorithms by the maximum length of sequences.
Experiment ocggs_lengths();

struct OcggsAlgorithm {
  const char* name;  ///< as the paper calls it
  SearchOptions search;
  bool exact = false;
};

/// The six algorithms, with the paper's parameters, for sequences of at most `length` substitutions (the paper's K).
/// They begin with the exact ones. TASO's and MetaFlow's stop after 20,000 graphs (of each part), which stands for the
/// paper's hour.
std::vector<OcggsAlgorithm> ocggs_algorithms(int64_t length);

/// What an algorithm found.
struct OcggsRun {
  OcggsAlgorithm algorithm;
  Searched found;

  /// The predicted latency of its result in us. Nothing if an exact algorithm was cut off: its result means nothing.
  std::optional<double> cost() const;
};

/// Runs the `chosen` algorithms on a network, in their order.
Result<std::vector<OcggsRun>> run_ocggs(const StartNetwork& network, const EmbeddedRules& rules, int64_t length,
                                        const std::function<bool(const OcggsAlgorithm&)>& chosen,
                                        const ReproOptions& options);

/// A number or null.
nlohmann::json json_of(const std::optional<double>& number);
/// The cost as a multiple of Sampling's, or null.
nlohmann::json over_sampling(const std::optional<double>& cost, double sampling);

/// Adds a note that no search found a cheaper graph for these networks, if there are any: there, equal costs are no
/// agreement.
void note_unimproved(const std::vector<std::string>& networks, ExperimentResult& out);

/// The differences from the paper that all of these experiments have.
std::vector<Difference> ocggs_differences(const EmbeddedRules& rules);

}  // namespace isomer
