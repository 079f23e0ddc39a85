#pragma once
// Reads from a traced run which team ran each kernel.

#include <string>
#include <vector>

#include "isomer/base/trace.h"
#include "isomer/plan/candidate.h"
#include "isomer/report/report.h"

namespace isomer {

/// Returns the kernels of a traced run (Engine::run_traced).
std::vector<KernelInRun> kernels_in(const Trace& trace);

/// Returns a candidate with the teams that ran its kernels. Teams that it has decided stay. `names` are those of its
/// values in the file that ran.
Candidate with_teams_of(Candidate candidate, const std::vector<std::string>& names,
                        const std::vector<KernelInRun>& run);

}  // namespace isomer
