#pragma once
// TASO (Jia et al., SOSP 2019; chapter 2 of Jia's dissertation): the experiments.

#include "isomer/repro/devices.h"
#include "isomer/repro/rule_files.h"
#include "isomer/repro/searched.h"

namespace isomer {

/// Figure 2.9d: 32 convolutions in groups.
Experiment taso_groups();
/// Figure 2.10: which substitutions each network uses.
Experiment taso_uses();
/// Figure 2.11: speedup by the size of substitutions.
Experiment taso_sizes();
/// Figure 2.12: substitutions and layouts.
Experiment taso_layouts();

/// TASO's search: MetaFlow's algorithm 1 with alpha = 1.05 on the whole graph, which ends after 100,000 graphs.
SearchOptions taso_search();

/// The differences from the paper that searches have: engine, rules, search.
std::vector<Difference> taso_differences(const EmbeddedRules& rules);

}  // namespace isomer
