#pragma once
// The experiments of AutoGraph (Zhao et al., AAAI 2023).

#include "isomer/repro/experiment.h"

namespace isomer {

Experiment autograph_latencies();  ///< Table 2
Experiment autograph_ablations();  ///< Figure 10
Experiment autograph_ranks();      ///< how the costs of graphs rank them

}  // namespace isomer
