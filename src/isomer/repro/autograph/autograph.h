#pragma once
// The experiments of AutoGraph (Zhao et al., AAAI 2023).

#include <string>

#include "isomer/repro/experiment.h"

namespace isomer {

/// The number of streams of the experiments.
inline constexpr int kStreams = 2;

/// Returns the difference "engine" of the experiments.
std::string built_in_runtime();

Experiment autograph_latencies();  ///< Table 2
Experiment autograph_ablations();  ///< Figure 10
Experiment autograph_batches();    ///< Figure 11
Experiment autograph_ranks();      ///< how the costs of graphs rank them

}  // namespace isomer
