#pragma once
// MetaFlow (Jia et al., SysML 2019): the experiments.

#include "isomer/repro/devices.h"
#include "isomer/repro/rule_files.h"
#include "isomer/repro/searched.h"

namespace isomer {

/// Table 2: costs before and after, by dimension.
Experiment metaflow_costs();
/// Table 3: backtracking against exhaustive search.
Experiment metaflow_searches();
/// Figure 6: subgraphs of Inception-v3.
Experiment metaflow_blocks();
/// Figure 7: an Inception module on two devices.
Experiment metaflow_devices();
/// Figure 9: throughput of training.
Experiment metaflow_training();
/// Figure 10: cost and search time by alpha.
Experiment metaflow_alphas();

/// Graphs after which a part ends, where the paper lets a search end by itself.
constexpr int64_t kPartGraphs = 10000;
/// The difference that this makes.
Difference part_limit();

/// The differences from the paper that all of these experiments have: engine and rules.
std::vector<Difference> metaflow_differences(const DescribedDevice& device, const EmbeddedRules& rules);

}  // namespace isomer
